#include "call/call_report.hpp"

#include <unistd.h>

#include "andon/core/visible_text.hpp"
#include "call/tool_content.hpp"
#include "exit_status.hpp"
#include "gateway/plain_json.hpp"

namespace andon::app {
namespace {

constexpr std::size_t longest = 4'096;

std::int64_t microseconds(duration d) { return std::chrono::duration_cast<std::chrono::microseconds>(d).count(); }

struct kind_of_end {
    std::string_view name;
    int status;
};

kind_of_end kind_of(const call_outcome& outcome) {
    switch (outcome.status) {
        case call_status::completed:
            if (is_tool_error(outcome.result)) return {"tool_failed", exit_status::failed};
            return {"completed", exit_status::ok};
        case call_status::failed: return {"failed", exit_status::failed};
        case call_status::cancelled: return {"cancelled", exit_status::cancelled};
        case call_status::timed_out: return {"timed_out", exit_status::timed_out};
        case call_status::disconnected: return {"disconnected", exit_status::unreachable};
    }
    return {"failed", exit_status::failed};
}

json::object error_of(const call_outcome& outcome) {
    json::object error;
    if (outcome.status == call_status::failed) error["code"] = outcome.code;
    error["message"] = outcome.message;
    if (!outcome.data.is_null()) error["data"] = outcome.data;
    return error;
}

std::string sentence_of(const call_outcome& outcome) {
    std::string said = visible_text(outcome.message, longest);
    switch (outcome.status) {
        case call_status::failed:
            if (outcome.code == error_code::request_cancelled) return "it was cancelled by somebody else: " + said;
            return "the server answered with an error: " + said + " (" + std::to_string(outcome.code) + ')';
        case call_status::timed_out: return "timed out: " + said + "; the server was told to stop";
        case call_status::disconnected: return "the server is gone: " + said;
        case call_status::cancelled: return "cancelled";
        case call_status::completed: return "the tool says that it failed";
    }
    return said;
}

}  // namespace

json::object call_report::as_json(std::string_view status) const {
    json::object all(subject);
    all["status"] = status;
    json::object durations;
    if (connecting) durations["connect_us"] = microseconds(*connecting);
    if (calling) durations["call_us"] = microseconds(*calling);
    all["durations"] = std::move(durations);
    if (!cancel.empty()) all["cancel"] = cancel;
    return all;
}

int call_report::show(const call_outcome& outcome, call_display& display) const {
    const kind_of_end kind = kind_of(outcome);
    if (json) {
        json::object all = as_json(kind.name);
        if (outcome.completed()) {
            all["result"] = outcome.result;
        } else {
            all["error"] = error_of(outcome);
        }
        print(gateway::plain_json(all) + '\n');
        return kind.status;
    }
    display.finish();
    if (outcome.completed()) print(content_text(outcome.result, ::isatty(STDOUT_FILENO) == 1));
    if (kind.status == exit_status::ok) return kind.status;
    std::string sentence = sentence_of(outcome);
    if (outcome.status == call_status::cancelled) {
        if (calling) sentence += " after " + clock_text(*calling);
        if (!cancel.empty()) sentence += "; " + cancel;
        display.say(sentence);
    } else {
        display.say("andon: " + sentence, true);
    }
    return kind.status;
}

int call_report::show_fault(std::string_view kind, const std::string& message, int status,
                            call_display& display) const {
    if (json) {
        json::object all = as_json(kind);
        all["error"] = json::object{{"message", message}};
        print(gateway::plain_json(all) + '\n');
        return status;
    }
    display.finish();
    display.say("andon: " + message, true);
    return status;
}

}  // namespace andon::app
