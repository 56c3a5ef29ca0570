#include "gateway/journal/moment_text.hpp"

#include <array>
#include <cstdio>
#include <ctime>

namespace andon::gateway {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

std::string text_of(const std::tm& parts, system_clock::time_point at, char between, const char* end) {
    const auto ms = std::chrono::floor<milliseconds>(at.time_since_epoch()).count();
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02d-%02d%c%02d:%02d:%02d.%03d%s", parts.tm_year + 1'900,
                  parts.tm_mon + 1, parts.tm_mday, between, parts.tm_hour, parts.tm_min, parts.tm_sec,
                  static_cast<int>((ms % 1'000 + 1'000) % 1'000), end);
    return text.data();
}

std::time_t seconds_of(system_clock::time_point at) {
    return std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
}

std::string time_text(duration d) {
    const double ms = std::chrono::duration<double, std::milli>(d).count();
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(),
                  ms < 10      ? "%.1f ms"
                  : ms < 1'000 ? "%.0f ms"
                               : "%.2f s",
                  ms < 1'000 ? ms : ms / 1'000);
    return text.data();
}

std::string counted(std::uint32_t count, const char* one, const char* many) {
    return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

}  // namespace

std::string utc_text(system_clock::time_point at) {
    const std::time_t seconds = seconds_of(at);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    return text_of(parts, at, 'T', "Z");
}

std::string local_text(system_clock::time_point at) {
    const std::time_t seconds = seconds_of(at);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    return text_of(parts, at, ' ', "");
}

std::string stop_text(const journal_entry& entry) {
    if (!entry.call.cause) return {};
    if (entry.evidence == stop_evidence::none && entry.call.pid == 0 && entry.time_to_stop) return "it had not begun";
    std::string text = entry.ignored ? "ignored its cancel" : "";
    if (entry.time_to_stop) {
        text += entry.ignored ? ", and stopped after " : "stopped in ";
        text += time_text(*entry.time_to_stop);
    } else if (text.empty()) {
        text = entry.evidence == stop_evidence::unseen ? "was not heard of again" : "was asked to stop";
    }
    if (entry.evidence != stop_evidence::none) (((text += " (") += to_string(entry.evidence)) += ')');
    if (entry.late_messages > 0)
        text += ", " + counted(entry.late_messages, "late message", "late messages") + " dropped";
    if (entry.killed > 0) text += ", " + counted(entry.killed, "process", "processes") + " killed";
    return text;
}

}  // namespace andon::gateway
