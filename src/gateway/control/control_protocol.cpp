#include "gateway/control/control_protocol.hpp"

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "andon/core/visible_text.hpp"

namespace andon::gateway {
namespace {

using std::chrono::duration_cast;
using fractional_milliseconds = std::chrono::duration<double, std::milli>;

std::optional<double> number_in(const json::object& said, std::string_view name) {
    const json::value* const found = said.if_contains(name);
    if (found == nullptr || !found->is_number()) return std::nullopt;
    return found->to_number<double>();
}

std::optional<duration> duration_in(const json::object& said, std::string_view name) {
    constexpr double longest = 1e15;  // milliseconds; what is beyond fits no clock
    const auto given = number_in(said, name);
    if (!given || !(std::abs(*given) < longest)) return std::nullopt;
    return duration_cast<duration>(std::chrono::microseconds(std::llround(*given * 1e3)));
}

double in_milliseconds(duration d) { return std::round(fractional_milliseconds(d).count() * 1e3) / 1e3; }

/// The one of `all` that is called so.
template <class Enum, std::size_t N>
std::optional<Enum> named(const std::array<Enum, N>& all, std::string_view name) {
    for (const Enum each : all) {
        if (to_string(each) == name) return each;
    }
    return std::nullopt;
}

constexpr std::array stages{call_stage::running, call_stage::asked_to_stop, call_stage::ignoring, call_stage::stopped,
                            call_stage::over};
constexpr std::array evidences{stop_evidence::none,   stop_evidence::quiet,  stop_evidence::answered_late,
                               stop_evidence::killed, stop_evidence::exited, stop_evidence::unseen};

pid_t pid_in(const json::object& said, std::string_view name) {
    const auto given = count_in(said, name);
    return given && *given <= INT32_MAX ? static_cast<pid_t>(*given) : 0;
}

call_selection selection_of(const json::object& said) {
    call_selection which;
    int given = 0;
    for (const auto& [key, value] : said) {
        ++given;
        if (key == "number" && (which.number = count_in(said, "number"))) continue;
        if (key == "tool" && value.is_string()) {
            which.tool = std::string(value.get_string());
        } else if (key == "session" && value.is_string()) {
            which.session = std::string(value.get_string());
        } else if (key == "all" && value.is_bool() && value.get_bool()) {
            which.all = true;
        } else {
            throw std::invalid_argument("\"select\" takes \"number\", \"tool\", \"session\" or \"all\": true");
        }
    }
    if (given != 1) throw std::invalid_argument("\"select\" takes exactly one of number, tool, session and all");
    return which;
}

json::object to_json(const call_selection& which) {
    if (which.number) return {{"number", *which.number}};
    if (which.tool) return {{"tool", *which.tool}};
    if (which.session) return {{"session", *which.session}};
    return {{"all", true}};
}

std::string optional_text(const json::object& said, std::string_view name, std::size_t longest) {
    const json::value* const found = said.if_contains(name);
    if (found != nullptr && !found->is_string()) {
        throw std::invalid_argument('"' + std::string(name) + "\" is no string");
    }
    return text_in(said, name, longest);
}

control_request stop_of(const json::object& said) {
    control_request request{.op = control_operation::stop};
    const json::value* const select = said.if_contains("select");
    if (select == nullptr || !select->is_object()) throw std::invalid_argument("a stop needs \"select\": {...}");
    request.which = selection_of(select->get_object());
    request.reason = optional_text(said, "reason", longest_control_reason);
    request.asked_by = optional_text(said, "asked_by", longest_control_name);
    if (const json::value* const wait = said.if_contains("wait")) {
        if (!wait->is_bool()) throw std::invalid_argument("\"wait\" is neither true nor false");
        request.wait = wait->get_bool();
    }
    return request;
}

}  // namespace

std::string text_in(const json::object& said, std::string_view name, std::size_t longest) {
    const json::value* const found = said.if_contains(name);
    return found != nullptr && found->is_string() ? visible_text(std::string_view(found->get_string()), longest) : "";
}

std::optional<std::uint64_t> count_in(const json::object& said, std::string_view name) {
    const json::value* const found = said.if_contains(name);
    if (found == nullptr) return std::nullopt;
    if (found->is_uint64()) return found->get_uint64();
    if (found->is_int64() && found->get_int64() >= 0) return static_cast<std::uint64_t>(found->get_int64());
    return std::nullopt;
}

control_request control_request_of(std::string_view line) {
    json::error_code failed;
    const json::value said = json::parse(line, failed);
    if (failed || !said.is_object()) throw std::invalid_argument("a request is one JSON object a line");
    const std::string op = text_in(said.get_object(), "op");
    if (op == "hello") return {.op = control_operation::hello};
    if (op == "list") return {.op = control_operation::list};
    if (op == "stop") return stop_of(said.get_object());
    throw std::invalid_argument("\"op\" is \"hello\", \"list\" or \"stop\"");
}

std::string to_line(const control_request& request) {
    json::object said;
    switch (request.op) {
        case control_operation::hello: said["op"] = "hello"; break;
        case control_operation::list: said["op"] = "list"; break;
        case control_operation::stop:
            said = {{"op", "stop"}, {"select", to_json(request.which)}, {"asked_by", request.asked_by}};
            if (!request.reason.empty()) said["reason"] = request.reason;
            if (request.wait) said["wait"] = true;
            break;
    }
    return json::serialize(said) + '\n';
}

json::object to_json(const relayed_call_view& call) {
    json::object said{
        {"number", call.number},
        {"server", call.server},
        {"session", call.session},
        {"method", call.method},
        {"tool", call.tool},
        {"request_id", call.request_id},
        {"pid", call.pid},
        {"started_ms", duration_cast<std::chrono::milliseconds>(call.started.time_since_epoch()).count()},
        {"state", to_string(call.stage)},
    };
    if (!call.traceparent.empty()) said["traceparent"] = call.traceparent;
    if (call.progress) {
        json::object progress{{"done", call.progress->done}};
        if (call.progress->total) progress["total"] = *call.progress->total;
        if (!call.progress->message.empty()) progress["message"] = call.progress->message;
        said["progress"] = std::move(progress);
    }
    if (call.cause) said["cause"] = to_string(*call.cause);
    if (!call.reason.empty()) said["reason"] = call.reason;
    if (!call.asked_by.empty()) said["asked_by"] = call.asked_by;
    if (call.since_asked) said["since_asked_ms"] = in_milliseconds(*call.since_asked);
    return said;
}

relayed_call_view call_of(const json::object& said) {
    relayed_call_view call;
    call.number = count_in(said, "number").value_or(0);
    call.server = text_in(said, "server");
    call.session = text_in(said, "session");
    call.method = text_in(said, "method");
    call.tool = text_in(said, "tool");
    call.request_id = text_in(said, "request_id");
    call.traceparent = text_in(said, "traceparent");
    call.pid = pid_in(said, "pid");
    call.started +=
        duration_cast<std::chrono::system_clock::duration>(duration_in(said, "started_ms").value_or(duration::zero()));
    call.stage = named(stages, text_in(said, "state")).value_or(call_stage::running);
    if (const json::value* const found = said.if_contains("progress"); found != nullptr && found->is_object()) {
        const json::object& progress = found->get_object();
        call.progress = call_progress{number_in(progress, "done").value_or(0), number_in(progress, "total"),
                                      text_in(progress, "message")};
    }
    call.cause = named(all_causes, text_in(said, "cause"));
    call.reason = text_in(said, "reason", longest_control_reason);
    call.asked_by = text_in(said, "asked_by");
    call.since_asked = duration_in(said, "since_asked_ms");
    return call;
}

json::object to_json(const upstream_view& server) {
    return {{"server", server.server},
            {"state", server.state},
            {"pid", server.pid},
            {"restarts", server.restarts},
            {"in_flight", server.in_flight}};
}

upstream_view server_of(const json::object& said) {
    upstream_view server;
    server.server = text_in(said, "server");
    server.state = text_in(said, "state");
    server.pid = pid_in(said, "pid");
    server.restarts =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(count_in(said, "restarts").value_or(0), UINT32_MAX));
    server.in_flight = count_in(said, "in_flight").value_or(0);
    return server;
}

json::object to_json(const stopped_call& call) {
    return {{"number", call.number}, {"evidence", to_string(call.evidence)}, {"took_ms", in_milliseconds(call.took)}};
}

stopped_call stopped_call_of(const json::object& said) {
    return {.number = count_in(said, "number").value_or(0),
            .evidence = named(evidences, text_in(said, "evidence")).value_or(stop_evidence::none),
            .took = duration_in(said, "took_ms").value_or(duration::zero())};
}

}  // namespace andon::gateway
