// What a translator said, as one line to compare.
#pragma once

#include <string>

#include "gateway/translation/legacy_to_modern.hpp"
#include "gateway/translation/modern_to_legacy.hpp"

namespace andon::gateway {

inline std::string said(const forward& what) { return "forward " + what.method + ' ' + what.raw_params; }
inline std::string said(const answer& what) { return "answer " + what.raw_result; }
inline std::string said(const refusal& what) {
    std::string text = "refuse " + std::to_string(what.code) + ' ' + what.message;
    if (what.afterwards) text += " | " + said(*what.afterwards);
    return text;
}
inline std::string said(const notification& what) {
    return "tell " + what.method + (what.raw_params.empty() ? "" : ' ' + what.raw_params);
}
inline std::string said(const std::optional<notification>& what) { return what ? said(*what) : "nothing"; }
inline std::string said(const told& what) { return std::to_string(what.subscription) + ' ' + said(what.what); }

inline std::string said(const listen_step& what);
inline std::string said(const modern_to_legacy::forwarded& what) {
    return (what.first ? said(*what.first) + " | " : "") + said(what.what);
}
inline std::string said(modern_to_legacy::listen) { return "listen"; }
inline std::string said(modern_to_legacy::discover) { return "discover"; }
inline std::string said(std::monostate) { return "nothing"; }
inline std::string said(const modern_to_legacy::log_message& what) {
    return "log " + std::to_string(static_cast<int>(what.level)) + ' ' + said(what.what);
}
inline std::string said(const std::vector<told>& all) {
    std::string text;
    for (const told& each : all) text += (text.empty() ? "" : " | ") + said(each);
    return text.empty() ? "nothing" : text;
}
template <class... Kinds>
std::string said(const std::variant<Kinds...>& what) {
    return std::visit([](const auto& each) { return said(each); }, what);
}

inline std::string said(const listen_step& what) {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " | ") + part; };
    if (what.reply) add(said(*what.reply));
    if (what.begin) {
        const std::size_t filter = what.begin->raw_params.find(R"("notifications":)");
        add("listen " + std::to_string(what.begin->number) + ' ' + what.begin->raw_params.substr(filter + 16) +
            (what.begin->after_pause ? " after a pause" : ""));
    }
    for (const std::uint64_t number : what.end) add("end " + std::to_string(number));
    for (const notification& each : what.tell) add(said(each));
    return text.empty() ? "nothing" : text;
}

inline std::string said(const subscription_step& what) {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " | ") + part; };
    for (const auto& each : what.requests) add(said(each.what));
    for (const told& each : what.tell) add(said(each));
    if (what.refused) add(said(*what.refused));
    return text.empty() ? "nothing" : text;
}

}  // namespace andon::gateway
