#include "check/client_watch.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "andon/core/visible_text.hpp"
#include "andon/wire/error.hpp"
#include "wire/unguessable.hpp"

namespace andon::check {
namespace {

constexpr milliseconds slow_time{60'000};
constexpr milliseconds tick_time{150};
constexpr milliseconds late_by{250};
/// What may pass between an answer on its way and the cancel that crosses it.
constexpr milliseconds crossing{1000};
constexpr std::size_t most_calls = 10'000;
constexpr std::string_view tasks_extension = "io.modelcontextprotocol/tasks";

json::object tool(std::string_view name, std::string_view description, bool timeout = false, bool task = false) {
    json::object properties;
    if (timeout) {
        properties["timeout_ms"] =
            json::object{{"type", "integer"}, {"description", "the timeout that you gave this call, in milliseconds"}};
    }
    json::object made{{"name", name},
                      {"description", description},
                      {"inputSchema", {{"type", "object"}, {"properties", std::move(properties)}}}};
    if (task) made["execution"] = json::object{{"taskSupport", "optional"}};
    return made;
}

json::array tools() {
    return {
        tool("hello", "Answers at once"),
        tool("slow", "Works for a minute, with progress: cancel it"),
        tool("answers_late", "Answers a moment after it was cancelled, as it should not: cancel it, then call hello"),
        tool("never_answers", "Never answers: give the call a timeout, and say which in timeout_ms", true),
        tool("endless_progress",
             "Sends progress for ever: give the call a maximum that progress does not extend, and say which in "
             "timeout_ms",
             true),
        tool("make_task", "Works for a minute as a task: cancel it", false, true)};
}

json::object params_of(const json::object& message) {
    const json::value* const params = message.if_contains("params");
    return params != nullptr && params->is_object() ? params->get_object() : json::object();
}

std::string shown(const json::value& id) { return visible_text(json::serialize(id), 60); }

bool is_id(const json::value& id) { return id.is_string() || id.is_int64() || id.is_uint64(); }

std::string first_of(const std::vector<std::string>& all) {
    return all.front() + (all.size() > 1 ? ", and " + std::to_string(all.size() - 1) + " more" : "");
}

}  // namespace

std::string_view what_to_do() noexcept {
    return "Have the client do these, in any order, and then leave:\n"
           "  1. call `slow` and cancel it\n"
           "  2. call `answers_late` and cancel it; a second later call `hello`\n"
           "  3. call `never_answers` with a short timeout, and that timeout as its argument timeout_ms\n"
           "  4. call `endless_progress` with a progress handler and a maximum time, and that as timeout_ms\n"
           "  5. where it knows tasks: call `make_task` as a task, and cancel the task\n";
}

client_watch::seen_call* client_watch::find_call(const json::value& id) {
    const auto found = std::find_if(calls_.rbegin(), calls_.rend(), [&](const seen_call& c) { return c.id == id; });
    return found == calls_.rend() ? nullptr : &*found;
}

std::vector<client_watch::output> client_watch::outputs() { return std::exchange(outputs_, {}); }

void client_watch::take(const json::object& message, std::size_t stream, time_point now) {
    const json::value* const method = message.if_contains("method");
    if (method == nullptr || !method->is_string()) return;  // we ask nothing, so that an answer is none
    if (message.contains("id")) {
        request(message, stream, now);
    } else if (method->get_string() == "notifications/cancelled") {
        cancel(message, now);
    }
}

void client_watch::refuse(const json::value& id, std::size_t stream, int code, std::string_view why) {
    outputs_.push_back({stream, {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", why}}}}, true});
}

void client_watch::request(const json::object& message, std::size_t stream, time_point now) {
    const json::value& id = message.at("id");
    const std::string method = text_at(message, {"method"});
    const json::object params = params_of(message);
    const bool modern = find(params, {"_meta", "io.modelcontextprotocol/protocolVersion"}) != nullptr;
    modern_ = modern_ || modern;
    requests_.push_back(now);
    const auto reply = [&](json::object result) {
        if (modern) result["resultType"] = "complete";
        outputs_.push_back({stream, {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}, true});
    };
    const json::object about_us{{"name", "andon-check"}, {"version", "1"}};
    if (method == "initialize") {
        handshakes_.push_back(id);
        client_ = text_at(params, {"clientInfo", "name"}) + ' ' + text_at(params, {"clientInfo", "version"});
        const auto asked = revision_from(text_at(params, {"protocolVersion"}));
        const revision speaks = asked && era_of(*asked) == era::legacy ? *asked : newest_legacy;
        json::object capabilities{{"tools", json::object()}};
        if (policy_of(speaks).task_requests) {
            capabilities["tasks"] =
                json::object{{"cancel", json::object()}, {"requests", {{"tools", {{"call", json::object()}}}}}};
        }
        reply({{"protocolVersion", to_string(speaks)},
               {"capabilities", std::move(capabilities)},
               {"serverInfo", about_us},
               {"instructions", what_to_do()}});
    } else if (method == "server/discover") {
        handshakes_.push_back(id);
        json::array versions;
        for (auto each = all_revisions.rbegin(); each != all_revisions.rend(); ++each)
            versions.emplace_back(to_string(*each));
        reply({{"supportedVersions", std::move(versions)},
               {"capabilities", {{"tools", json::object()}, {"extensions", {{tasks_extension, json::object()}}}}},
               {"instructions", what_to_do()},
               {"ttlMs", 0},
               {"cacheScope", "private"},
               {"_meta", {{"io.modelcontextprotocol/serverInfo", about_us}}}});
    } else if (method == "tools/list") {
        json::object result{{"tools", tools()}};
        if (modern) {
            result["ttlMs"] = 0;
            result["cacheScope"] = "private";
        }
        reply(std::move(result));
    } else if (method == "ping") {
        reply({});
    } else if (method == "tools/call") {
        call(message, stream, modern, now);
    } else if (method == "tasks/cancel" || method == "tasks/get") {
        const std::string task = text_at(params, {"taskId"});
        const auto found = std::find_if(calls_.begin(), calls_.end(),
                                        [&](const seen_call& c) { return !task.empty() && c.task == task; });
        if (found == calls_.end()) return refuse(id, stream, error_code::invalid_params, "no such task");
        if (method == "tasks/cancel") {
            ++task_cancels_;
            found->ends.reset();
        }
        if (method == "tasks/cancel" && modern) return reply({});
        reply({{"taskId", task},
               {"status", found->ends ? "working" : "cancelled"},
               {"createdAt", "1970-01-01T00:00:00Z"},
               {"lastUpdatedAt", "1970-01-01T00:00:00Z"},
               {modern ? "ttlMs" : "ttl", 60'000},
               {modern ? "pollIntervalMs" : "pollInterval", 200}});
    } else if (method == "tasks/result") {
        refuse(id, stream, error_code::internal_error, "the task has no result");
    } else {
        refuse(id, stream, error_code::method_not_found, "Method not found");
    }
}

void client_watch::call(const json::object& message, std::size_t stream, bool modern, time_point now) {
    const json::object params = params_of(message);
    const json::value& id = message.at("id");
    if (calls_.size() >= most_calls)
        return refuse(id, stream, error_code::internal_error, "too many calls for a check");
    seen_call made{.id = id, .stream = stream, .modern = modern, .tool = text_at(params, {"name"}), .began = now};
    if (const json::value* const token = find(params, {"_meta", "progressToken"})) made.token = *token;
    const json::value* const timeout = find(params, {"arguments", "timeout_ms"});
    if (timeout != nullptr && timeout->is_int64()) {
        made.timeout = milliseconds(std::clamp<std::int64_t>(timeout->get_int64(), 0, 3'600'000));
    }
    const bool declared =
        find(params, {"_meta", "io.modelcontextprotocol/clientCapabilities", "extensions", tasks_extension}) != nullptr;
    if (made.tool == "hello") {
        calls_.push_back(std::move(made));
        return answer(calls_.back(), {{"content", {{{"type", "text"}, {"text", "hello"}}}}}, now);
    }
    if (made.tool == "make_task" && (modern ? declared : params.contains("task"))) {
        made.task = detail::unguessable_name(16);
        made.ends = now + slow_time;
        ++tasks_made_;
        json::object task{{"taskId", made.task},
                          {"status", "working"},
                          {"createdAt", "1970-01-01T00:00:00Z"},
                          {"lastUpdatedAt", "1970-01-01T00:00:00Z"},
                          {modern ? "ttlMs" : "ttl", 60'000},
                          {modern ? "pollIntervalMs" : "pollInterval", 200}};
        calls_.push_back(std::move(made));
        if (modern) {
            task["resultType"] = "task";
            return answer(calls_.back(), std::move(task), now);
        }
        return answer(calls_.back(), {{"task", std::move(task)}}, now);
    }
    const bool known = made.tool == "slow" || made.tool == "answers_late" || made.tool == "never_answers" ||
                       made.tool == "endless_progress" || made.tool == "make_task";
    if (!known) return refuse(id, stream, error_code::invalid_params, "no such tool");
    if (made.tool == "slow" || made.tool == "make_task") made.ends = now + slow_time;
    const bool speaks = made.tool == "slow" || made.tool == "endless_progress" || made.tool == "answers_late";
    if (speaks && !made.token.is_null()) made.next_progress = now + tick_time;
    calls_.push_back(std::move(made));
}

void client_watch::answer(seen_call& call, json::object result, time_point now) {
    if (call.modern && !result.contains("resultType")) result["resultType"] = "complete";
    outputs_.push_back({call.stream, {{"jsonrpc", "2.0"}, {"id", call.id}, {"result", std::move(result)}}, true});
    call.answered = now;
    call.next_progress.reset();
    if (call.task.empty()) call.ends.reset();
}

void client_watch::cancel(const json::object& message, time_point now) {
    ++cancels_;
    const json::object params = params_of(message);
    const json::value* const id = params.if_contains("requestId");
    const json::value* const reason = params.if_contains("reason");
    if (id == nullptr || !is_id(*id)) {
        malformed_.push_back("requestId " + (id == nullptr ? "is missing" : shown(*id)));
        return;
    }
    if (reason != nullptr && !reason->is_string()) malformed_.push_back("the reason is " + shown(*reason));
    if (std::find(handshakes_.begin(), handshakes_.end(), *id) != handshakes_.end()) {
        of_handshake_.push_back(shown(*id));
        return;
    }
    seen_call* const call = find_call(*id);
    if (call == nullptr) {
        unfounded_.push_back(shown(*id) + " was never sent");
        return;
    }
    if (over_http_ && call->modern) posted_.push_back(shown(*id));
    if (!call->task.empty()) {
        at_tasks_.push_back(shown(*id));
        return;
    }
    if (call->answered && now - *call->answered > crossing && !call->late) {
        unfounded_.push_back(shown(*id) + " had been answered");
        return;
    }
    if (call->cancelled || call->answered) return;
    call->cancelled = now;
    if (call->left) return;  // some close the stream first
    call->next_progress.reset();
    call->ends.reset();
    if (call->tool == "answers_late") {
        call->ends = now + late_by;
    } else if (over_http_) {
        outputs_.push_back({call->stream, {}, true});
    }
}

void client_watch::left(std::size_t stream, time_point now) {
    for (seen_call& each : calls_) {
        if (each.stream != stream || each.answered || each.left) continue;
        each.left = now;
        each.next_progress.reset();
        each.ends.reset();
    }
}

void client_watch::tick(time_point now) {
    for (seen_call& each : calls_) {
        if (each.next_progress && *each.next_progress <= now) {
            each.next_progress = now + tick_time;
            outputs_.push_back({each.stream,
                                {{"jsonrpc", "2.0"},
                                 {"method", "notifications/progress"},
                                 {"params", {{"progressToken", each.token}, {"progress", ++each.progress}}}}});
        }
        if (!each.ends || *each.ends > now || !each.task.empty()) continue;
        if (each.cancelled) each.late = now;
        answer(each, {{"content", {{{"type", "text"}, {"text", "done"}}}}}, now);
    }
}

std::optional<time_point> client_watch::next_tick() const {
    std::optional<time_point> next;
    for (const seen_call& each : calls_) {
        for (const auto& due : {each.next_progress, each.task.empty() ? each.ends : std::nullopt}) {
            if (due && (!next || *due < *next)) next = due;
        }
    }
    return next;
}

finding client_watch::form() const {
    if (cancels_ == 0) return not_observable("the client sent no cancel notification");
    if (!malformed_.empty()) return fail(first_of(malformed_));
    return pass(std::to_string(cancels_) + " cancels, each with an id and a reason that is a string or absent");
}

finding client_watch::only_in_progress() const {
    if (cancels_ == 0) return not_observable("the client sent no cancel notification");
    if (!unfounded_.empty()) return fail("a cancel of a request that is not in progress: " + first_of(unfounded_));
    return pass(std::to_string(cancels_) + " cancels, each of a request that was in progress");
}

finding client_watch::not_initialize() const {
    if (!of_handshake_.empty()) return fail("the client cancelled the handshake, request " + of_handshake_.front());
    if (cancels_ == 0) return not_observable("the client sent no cancel notification");
    return pass("none of " + std::to_string(cancels_) + " cancels names the handshake");
}

finding client_watch::tasks_by_their_own() const {
    if (tasks_made_ == 0) return not_observable("no task was made: call make_task as a task and cancel it");
    if (!at_tasks_.empty()) return fail("a notification names the request of a task: " + first_of(at_tasks_));
    if (task_cancels_ == 0) return not_observable("the task was not cancelled");
    return pass("the task was cancelled by tasks/cancel");
}

finding client_watch::late_answer_is_dropped() const {
    for (const seen_call& each : calls_) {
        if (!each.late) continue;
        const auto later =
            std::find_if(requests_.begin(), requests_.end(), [&](time_point t) { return t > *each.late; });
        if (later != requests_.end()) return pass("after an answer to a cancelled call the client went on");
        return not_observable("a cancelled call was answered late; call another tool after that");
    }
    const bool closed = std::any_of(calls_.begin(), calls_.end(),
                                    [](const seen_call& c) { return c.tool == "answers_late" && c.left; });
    return not_observable(closed ? "the client closes the stream when it cancels: no late answer can reach it"
                                 : "call answers_late and cancel it");
}

finding client_watch::by_notification() const {
    int told = 0;
    for (const seen_call& each : calls_) {
        if (each.modern && over_http_) continue;
        if (each.cancelled) ++told;
        if (!over_http_ || !each.left || each.cancelled) continue;
        return fail("the client left the stream of call " + shown(each.id) +
                    " and posted no cancel: the server works on");
    }
    if (told == 0) return not_observable("no call was cancelled: call slow and cancel it");
    return pass(std::to_string(told) + " calls cancelled by the notification, with the right id");
}

finding client_watch::by_closing() const {
    if (!posted_.empty()) return fail("the client posted a cancel notification: " + first_of(posted_));
    const auto closed =
        std::count_if(calls_.begin(), calls_.end(), [](const seen_call& c) { return c.modern && c.left; });
    if (closed == 0) return not_observable("no call was cancelled: call slow and cancel it");
    return pass(std::to_string(closed) + " calls cancelled by closing their streams, and no notification posted");
}

finding client_watch::timeout_is_told(std::string_view tool, time_point now) const {
    std::string waiting = "call " + std::string(tool) + " with a timeout, and the same as timeout_ms";
    for (const seen_call& each : calls_) {
        if (each.tool != tool) continue;
        const auto end = each.cancelled ? each.cancelled : each.left;
        const auto lasted = std::chrono::duration_cast<milliseconds>((end ? *end : now) - each.began);
        if (end) return pass("cancelled after " + std::to_string(lasted.count()) + " ms");
        if (each.timeout.count() > 0 && lasted > each.timeout + milliseconds(2000)) {
            return fail("its timeout of " + std::to_string(each.timeout.count()) +
                        " ms was over, and no cancel came within " + std::to_string(lasted.count()) + " ms");
        }
        waiting = std::string(tool) + " was called, and neither cancelled nor overdue when the client left";
    }
    return not_observable(waiting);
}

std::vector<checked_rule> client_watch::findings(time_point now) const {
    const era which = modern_ ? era::modern : era::legacy;
    std::vector<checked_rule> all;
    const auto add = [&](std::string id, std::string level, std::string rule, finding found) {
        found.evidence = visible_text(found.evidence, 400);
        all.push_back({std::move(id), std::move(level), which, std::move(rule), std::move(found), {}});
    };
    add("MSG-1", "MUST", "the form of the notification", form());
    add("DIR-3", "MUST", "only what is in progress is cancelled", only_in_progress());
    add("DIR-4", "MUST NOT", "initialize is not cancelled", not_initialize());
    add("DIR-5", "MUST", "a task is cancelled by tasks/cancel (and SND-6)", tasks_by_their_own());
    add("SND-1", "SHOULD", "a response after the cancel is dropped quietly", late_answer_is_dropped());
    if (!over_http_) add("SND-3", "MUST", "cancelling sends the notification", by_notification());
    if (over_http_ && modern_) add("SND-4", "MUST", "cancelling closes the stream, and posts nothing", by_closing());
    if (over_http_ && !modern_) add("SND-5", "SHOULD", "cancelling posts the notification", by_notification());
    add("TIME-2", "SHOULD", "at the timeout the request is cancelled on the wire",
        timeout_is_told("never_answers", now));
    add("TIME-4", "SHOULD", "a maximum holds whatever progress arrives", timeout_is_told("endless_progress", now));
    return all;
}

}  // namespace andon::check
