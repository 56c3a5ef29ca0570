#include "gateway/event_log.hpp"

#include <array>
#include <boost/json.hpp>
#include <chrono>
#include <cstdlib>
#include <poll.h>
#include <vector>

#include "andon/core/visible_text.hpp"
#include "gateway/journal/moment_text.hpp"
#include "gateway/plain_json.hpp"
#include "transport/log_write.hpp"

namespace andon::gateway {
namespace {

constexpr std::size_t longest_in_log = 1'024;

bool colours_wanted(int descriptor) {
    // NOLINTBEGIN(concurrency-mt-unsafe): nobody sets them
    const char* const no = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    // NOLINTEND(concurrency-mt-unsafe)
    const bool refused = no != nullptr && *no != '\0';
    return !refused && ::isatty(descriptor) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::string json_line(log_level level, std::string_view event, std::string_view text,
                      std::span<const event_log::field> fields, std::size_t longest) {
    json::object line;
    line["time"] = utc_text(std::chrono::system_clock::now());
    line["level"] = detail::to_string(level);
    if (!event.empty()) line["event"] = event;
    line["message"] = visible_text(text, longest);
    struct shown {
        std::size_t longest;
        json::value operator()(std::string_view value) const { return json::string(visible_text(value, longest)); }
        json::value operator()(std::int64_t value) const { return value; }
        json::value operator()(double value) const { return value; }
        json::value operator()(bool value) const { return value; }
    };
    for (const auto& each : fields) {
        const auto* const word = std::get_if<std::string_view>(&each.value);
        if (word == nullptr || !word->empty()) line[each.name] = std::visit(shown{longest}, each.value);
    }
    return plain_json(line) + '\n';
}

std::string coloured(std::string_view code, std::string_view text) {
    return code.empty() ? std::string(text) : std::string(code) + std::string(text) + "\x1b[0m";
}

/// `who`: as "andon info", or the name of a server.
std::string human_line(std::string_view who, std::string_view text, bool colours, std::size_t longest) {
    std::string line = coloured(colours ? "\x1b[2m" : "", local_text(std::chrono::system_clock::now()));
    return ((((line += ' ') += who) += ": ") += visible_text(text, longest)) += '\n';
}

std::string human_line(log_level level, std::string_view text, bool colours, std::size_t longest) {
    constexpr std::array<std::string_view, 5> codes{"\x1b[2m", "", "\x1b[33m", "\x1b[31m", ""};
    const std::string_view code = colours ? codes[static_cast<std::size_t>(level)] : "";
    return human_line("andon " + coloured(code, detail::to_string(level)), text, colours, longest);
}

/// As "files: call 12 (tools/call search, id 7)".
std::string name_of(const relayed_call_view& call) {
    std::string text = call.server + ": call " + std::to_string(call.number) + " (" + call.method;
    if (!call.tool.empty()) text += ' ' + call.tool;
    return text + ", id " + call.request_id + ')';
}

/// What every event about a call says of it.
std::vector<event_log::field> fields_of(const relayed_call_view& call) {
    return {{"cause", call.cause ? to_string(*call.cause) : std::string_view()},
            {"reason", call.reason},
            {"asked_by", call.asked_by},
            {"server", call.server},
            {"method", call.method},
            {"tool", call.tool},
            {"id", call.request_id},
            {"call", static_cast<std::int64_t>(call.number)},
            {"session", call.session},
            {"traceparent", call.traceparent}};
}

}  // namespace

event_log::event_log(const log_config& config, int descriptor)
    : from_(config.level),
      json_(config.format == log_format::json || (config.format == log_format::automatic && ::isatty(descriptor) == 0)),
      colours_(!json_ && colours_wanted(descriptor)),
      descriptor_(descriptor) {}

void event_log::event(log_level level, std::string_view event, std::string_view text,
                      std::span<const field> fields) const noexcept try {
    if (!shows(level)) return;
    std::string line;
    // In one piece, or the server's own lines could stand between.
    for (std::size_t longest = longest_in_log; longest >= 16; longest /= 2) {
        line = json_ ? json_line(level, event, text, fields, longest) : human_line(level, text, colours_, longest);
        if (line.size() <= detail::longest_log_write) break;
    }
    detail::write_log(descriptor_, line);
} catch (...) {  // NOLINT(bugprone-empty-catch): a line that there is no memory for is lost
}

void event_log::server_said(std::string_view server, std::string_view text) const noexcept try {
    const std::array<field, 1> fields{{{"server", server}}};
    std::string line;
    for (std::size_t longest = 4 * longest_in_log; longest >= 16; longest /= 2) {
        line = json_ ? json_line(log_level::info, "stderr", text, fields, longest)
                     : human_line(visible_text(server, 128), text, colours_, longest);
        if (line.size() <= detail::longest_log_write) break;
    }
    detail::write_log(descriptor_, line);
} catch (...) {  // NOLINT(bugprone-empty-catch)
}

bool event_log::has_room() const noexcept {
    pollfd ready{descriptor_, POLLOUT, 0};
    return ::poll(&ready, 1, 0) == 1;
}

void event_log::cancel_asked(const relayed_call_view& call) const noexcept try {
    std::string text = call.server + ": request " + call.request_id + " (" + call.method;
    if (!call.tool.empty()) text += ' ' + call.tool;
    text += ") of session " + call.session + " cancelled: " + std::string(call.cause ? to_string(*call.cause) : "");
    if (!call.reason.empty()) text += ", " + call.reason;
    event(log_level::info, "cancel", text, fields_of(call));
} catch (...) {  // NOLINT(bugprone-empty-catch)
}

void event_log::cancel_ignored(const relayed_call_view& call, std::string_view doing) const noexcept try {
    std::string text = name_of(call) + " goes on although it was asked to stop";
    if (!doing.empty()) (text += ": ") += doing;
    std::vector<field> fields = fields_of(call);
    fields.push_back({"doing", doing});
    event(log_level::warning, "cancel_ignored", text, fields);
} catch (...) {  // NOLINT(bugprone-empty-catch)
}

void event_log::cancel_over(const journal_entry& entry) const noexcept try {
    std::vector<field> fields = fields_of(entry.call);
    fields.push_back({"end", to_string(entry.end)});
    if (entry.time_to_stop) {
        fields.push_back({"time_to_stop_ms", std::chrono::duration<double, std::milli>(*entry.time_to_stop).count()});
    }
    fields.push_back({"evidence", to_string(entry.evidence)});
    fields.push_back({"ignored", entry.ignored});
    fields.push_back({"late_messages", static_cast<std::int64_t>(entry.late_messages)});
    fields.push_back({"killed", static_cast<std::int64_t>(entry.killed)});
    event(entry.ignored ? log_level::warning : log_level::info, "cancel_over",
          name_of(entry.call) + ' ' + stop_text(entry), fields);
} catch (...) {  // NOLINT(bugprone-empty-catch)
}

log_sink_function event_log::sink() const {
    return [log = *this](log_level level, std::string_view text) { log.line(level, text); };
}

}  // namespace andon::gateway
