// A server behind the relay: what it says, and what it may be asked.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "andon/wire/envelope.hpp"
#include "relay_line.hpp"
#include "require.hpp"

namespace andon::fuzz {

inline constexpr std::array server_marks{"server amber", "server coral", "server ivory"};

inline constexpr std::array server_methods{"notifications/progress",
                                           "notifications/progress",
                                           "notifications/message",
                                           "notifications/cancelled",
                                           "sampling/createMessage",
                                           "roots/list",
                                           "notifications/tools/list_changed",
                                           "notifications/resources/updated",
                                           "notifications/subscriptions/acknowledged",
                                           "x"};
inline constexpr std::array results{
    R"("protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"})",
    R"("resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}})",
    R"("content":[],"resultType":"complete")",
    R"("resultType":"input_required","inputRequests":{"k":{"method":"sampling/createMessage","params":{}}})",
    R"("tools":[],"nextCursor":"c")",
    R"("protocolVersion":5)"};
inline constexpr std::array errors{R"({"code":-32601,"message":"m"})", R"({"code":-32022,"message":"m"})",
                                   R"({"code":"x"})", R"([])",
                                   R"({"code":-32800,"message":"m","data":{"supported":["2026-07-28"]}})"};

inline std::string server_line(input& in, const std::string& mark, const std::vector<std::int64_t>& asked,
                               bool says_whose) {
    const unsigned shape = in.next();
    const std::int64_t id = asked.empty() || shape % 8 == 7
                                ? static_cast<std::int64_t>(in.next() % 64)
                                : asked[asked.size() - 1 - in.next() % std::min<std::size_t>(asked.size(), 8)];
    const std::string number = std::to_string(id);
    const std::string whose = says_whose ? R"("for":")" + number + R"(",)" : "";
    std::string text = R"({"jsonrpc":"2.0")";
    if ((shape & 8U) != 0) {
        text += R"(,"id":)" + number;
        if (shape & 16U) return text + R"(,"error":)" + in.pick(errors) + '}';
        return text + R"(,"result":{"of":")" + mark + R"(",)" + whose + in.pick(results) + "}}";
    }
    const std::string method = in.pick(server_methods);
    if (method.compare(0, 14, "notifications/") != 0) text += std::string(R"(,"id":)") + in.pick(ids);
    text += R"(,"method":")" + method + R"(","params":{)" + (method == "notifications/progress" ? whose : "") +
            R"("of":")" + mark + R"(","level":"error","progress":1,"uri":"u:")";
    if (method == "notifications/progress") text += R"(,"progressToken":)" + number;
    if (method == "notifications/cancelled") {
        text += R"(,"requestId":)" + ((shape & 32U) != 0 ? number : std::string(in.pick(ids)));
    }
    if (shape & 64U) text += R"(,"_meta":{"io.modelcontextprotocol/subscriptionId":)" + number + '}';
    return text + "}}";
}

inline json::object message_in(const std::string& line) {
    require(line.find('\n') == std::string::npos, "what is sent is one line");
    auto value = value_from_json(line);
    require(value && value->is_object(), "and a message");
    return std::move(value->get_object());
}

/// What a server was asked, and what it may hear of it.
class asked_of_server {
public:
    /// Lines from the relay. Gives the ids of requests among them.
    void heard(const std::vector<std::string>& lines) {
        for (const std::string& line : lines) {
            const json::object message = message_in(line);
            const json::value* const method = message.if_contains("method");
            const json::value* const id = message.if_contains("id");
            if (method != nullptr && id != nullptr) {
                require(id->is_int64(), "ids are ours");
                require(!known_.contains(id->get_int64()) || open_.count(id->get_int64()) == 0, "and new ones");
                known_.insert(id->get_int64());
                open_.insert(id->get_int64());
                ids_.push_back(id->get_int64());
            } else if (method != nullptr && *method == "notifications/cancelled") {
                const std::int64_t which = message.at("params").at("requestId").as_int64();
                require(open_.erase(which) == 1, "a cancel names what the server was asked and has not answered, once");
            }
        }
    }
    void answered(std::int64_t id) { open_.erase(id); }
    [[nodiscard]] const std::vector<std::int64_t>& ids() const noexcept { return ids_; }

private:
    std::set<std::int64_t> known_;
    std::set<std::int64_t> open_;
    std::vector<std::int64_t> ids_;
};

}  // namespace andon::fuzz
