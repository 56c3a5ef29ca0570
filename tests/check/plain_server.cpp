#include "check/plain_server.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "check/plain_messages.hpp"

namespace broken {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

json::object tool(const char* name, const char* description, const char* time, bool task = false) {
    json::object properties;
    if (*time != '\0') properties[time] = json::object{{"type", "integer"}};
    json::object made{{"name", name},
                      {"description", description},
                      {"inputSchema", {{"type", "object"}, {"properties", std::move(properties)}}}};
    if (task) made["execution"] = json::object{{"taskSupport", "optional"}};
    return made;
}

}  // namespace

bool plain_server::same_id(const json::value& a, const json::value& b) const {
    if (has("MSG_3_number_is_string")) {
        const auto text = [](const json::value& v) {
            return v.is_string() ? std::string(v.get_string()) : json::serialize(v);
        };
        return text(a) == text(b);
    }
    if (has("MSG_3_ids_are_rounded") && a.is_number() && b.is_number()) {
        return a.to_number<double>() == b.to_number<double>();
    }
    return a == b;
}

void plain_server::take(const json::object& message, const std::shared_ptr<channel>& from) {
    const bool is_request = message.contains("id") && message.contains("method");
    if (is_request) {
        request(message, from);
    } else if (message.contains("method")) {
        if (message.at("method") == "notifications/cancelled") cancelled(message, from);
    } else if (message.contains("id")) {
        const std::lock_guard lock(mutex_);
        for (const auto& each : active_) {
            if (each->question_open && each->question == message.at("id")) each->answered = true;
        }
    }
}

void plain_server::request(const json::object& message, const std::shared_ptr<channel>& from) {
    const json::value& id = message.at("id");
    const std::string method(message.at("method").is_string() ? message.at("method").get_string() : "");
    const auto reply = [&](const json::object& what) {
        from->send(what);
        from->end();
    };
    if (method == "initialize") {
        if (has("DIR_4_initialize_can_be_cancelled")) {
            const auto call = std::make_shared<active_call>();
            call->id = id;
            call->to = from;
            {
                const std::lock_guard lock(mutex_);
                active_.push_back(call);
            }
            std::thread([call] {
                std::this_thread::sleep_for(150ms);
                if (!call->cancelled) {
                    call->to->send(answer(call->id,
                                          {{"protocolVersion", "2025-11-25"},
                                           {"capabilities", {{"tools", json::object()}}},
                                           {"serverInfo", {{"name", "broken"}, {"version", "1"}}}},
                                          false));
                }
                call->to->end();
            }).detach();
            return;
        }
        json::object capabilities{
            {"tools", json::object()},
            {"tasks", {{"cancel", json::object()}, {"requests", {{"tools", {{"call", json::object()}}}}}}}};
        reply(answer(id,
                     {{"protocolVersion", "2025-11-25"},
                      {"capabilities", std::move(capabilities)},
                      {"serverInfo", {{"name", "broken"}, {"version", "1"}}}},
                     false));
    } else if (method == "server/discover") {
        reply(
            answer(id,
                   {{"supportedVersions", {"2026-07-28", "2025-11-25"}},
                    {"capabilities",
                     {{"tools", json::object()}, {"extensions", {{"io.modelcontextprotocol/tasks", json::object()}}}}},
                    {"_meta", {{"io.modelcontextprotocol/serverInfo", {{"name", "broken"}, {"version", "1"}}}}}},
                   true));
    } else if (method == "tools/list") {
        json::array tools{tool("wait", "Waits, with progress", "ms"), tool("spin", "Keeps a processor busy", "ms"),
                          tool("child", "Sleeps in a child process", ""), tool("ask", "Asks the client's model", ""),
                          tool("task_spin", "Keeps a processor busy, as a task", "ms", true)};
        reply(answer(id, {{"tools", std::move(tools)}}, from->modern));
    } else if (method == "tools/call") {
        call_tool(message, from);
    } else if (method.starts_with("tasks/")) {
        tasks(message, from);
    } else if (method == "subscriptions/listen" && from->modern) {
        listen(message, from);
    } else if (method == "notifications/cancelled" && has("RCV_6_answers_it_as_a_request")) {
        reply(answer(id, {}, from->modern));
    } else {
        reply(error(id, -32601, "Method not found"));
    }
}

void plain_server::call_tool(const json::object& message, const std::shared_ptr<channel>& from) {
    const json::object params = member(message, "params");
    const auto call = std::make_shared<active_call>();
    call->id = message.at("id");
    call->to = from;
    const std::string name(params.at("name").get_string());
    const json::object capabilities = member(member(params, "_meta"), "io.modelcontextprotocol/clientCapabilities");
    const bool declared = member(capabilities, "extensions").contains("io.modelcontextprotocol/tasks");
    const bool as_task = name.starts_with("task_") && (from->modern ? declared : params.contains("task"));
    const json::object meta = member(params, "_meta");
    const json::value* const token = meta.if_contains("progressToken");
    {
        const std::lock_guard lock(mutex_);
        const bool taken = std::any_of(active_.begin(), active_.end(), [&](const auto& each) {
            return each->task.empty() && each->id == call->id && each->to->session == from->session;
        });
        const bool apart = over_http_ && from->modern;
        if (taken && !apart && !has("RCV_10_takes_an_id_twice") && !has("RCV_8_an_id_stays_cancelled")) {
            from->send(error(call->id, -32600, "the id is in flight"));
            from->end();
            return;
        }
        if (has("RCV_8_an_id_stays_cancelled") &&
            std::find(poisoned_.begin(), poisoned_.end(), call->id) != poisoned_.end()) {
            call->cancelled = true;
        }
        if (as_task) {
            call->task = new_task_id();
            tasks_[call->task] = {.state = "working", .request = call->id, .call = call};
        }
        active_.push_back(call);
    }
    if (has("RCV_2_leaks_a_file_for_each_call")) (void)::open("/dev/null", O_RDONLY);
    if (as_task) {
        if (from->modern) {
            json::object made = task_view(call->task, true);
            made["resultType"] = "task";
            from->send(answer(call->id, std::move(made), true));
        } else {
            from->send(answer(call->id, {{"task", task_view(call->task, false)}}, false));
        }
        from->end();
    }
    std::thread([this, call, name, arguments = member(params, "arguments"),
                 token = token == nullptr ? json::value() : *token] {
        work(call, name, arguments, token);
    }).detach();
}

void plain_server::work(const std::shared_ptr<active_call>& call, const std::string& name,
                        const json::object& arguments, const json::value& token) {
    const json::value* const given = arguments.if_contains("ms");
    const std::int64_t ms = given != nullptr && given->is_int64() ? given->get_int64() : 60'000;
    std::string text;
    if (name == "wait") text = wait(*call, ms, token);
    if (name == "spin" || name == "task_spin") text = spin(*call, ms);
    if (name == "child") text = child(*call);
    if (name == "ask") text = ask(*call);
    finish(call, text);
}

std::string plain_server::wait(active_call& call, std::int64_t ms, const json::value& token) {
    const bool goes_on = has("RCV_3_answers_when_it_is_done") || has("RCV_4_goes_on_with_progress");
    const auto until = clock::now() + std::chrono::milliseconds(ms);
    auto next = clock::now() + 100ms;
    double done = 0;
    while (clock::now() < until) {
        if (call.cancelled && !goes_on) return {};
        std::this_thread::sleep_for(5ms);
        if (clock::now() < next) continue;
        next += 100ms;
        if (call.cancelled && !has("RCV_4_goes_on_with_progress")) continue;
        if (!token.is_null()) {
            call.to->send(notification("notifications/progress", {{"progressToken", token}, {"progress", ++done}}));
        }
    }
    return "waited";
}

std::string plain_server::spin(active_call& call, std::int64_t ms) {
    const bool goes_on = has("RCV_1_works_on_in_silence") || (has("TASK_6_works_on") && !call.task.empty());
    const auto until = clock::now() + std::chrono::milliseconds(ms);
    while (clock::now() < until) {
        if (call.cancelled && !goes_on) return {};
    }
    return "spun";
}

std::string plain_server::child(active_call& call) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::execlp("sleep", "sleep", "600", nullptr);
        ::_exit(127);
    }
    while (!call.cancelled) std::this_thread::sleep_for(5ms);
    if (!has("RCV_12_leaves_its_child")) {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
    }
    return {};
}

std::string plain_server::ask(active_call& call) {
    {
        const std::lock_guard lock(mutex_);
        call.question = ++questions_;
    }
    call.question_open = true;
    call.to->send({{"jsonrpc", "2.0"},
                   {"id", call.question},
                   {"method", "sampling/createMessage"},
                   {"params", {{"messages", json::array()}, {"maxTokens", 10}}}});
    while (!call.cancelled && !call.answered) std::this_thread::sleep_for(5ms);
    call.question_open = false;
    if (call.answered) return "answered";
    if (has("DIR_3_cancels_what_it_never_sent")) {
        call.to->send(notification("notifications/cancelled", {{"requestId", "no request of mine"}}));
    } else if (!has("RCV_12_leaves_its_question")) {
        call.to->send(notification("notifications/cancelled", {{"requestId", call.question}}));
    }
    return {};
}

void plain_server::finish(const std::shared_ptr<active_call>& call, const std::string& text) {
    {
        const std::lock_guard lock(mutex_);
        std::erase(active_, call);
        if (!call->task.empty()) {
            task& its = tasks_[call->task];
            const bool revives = has("TASK_3_completes_what_was_cancelled");
            if (!ended(its.state) || revives) its.state = call->cancelled && !revives ? "cancelled" : "completed";
            return;
        }
    }
    if (call->cancelled) {
        if (has("RCV_3_answers_with_an_error")) {
            call->to->send(error(call->id, 0, "Request was cancelled"));
        } else if (has("RCV_3_answers_when_it_is_done") && !text.empty()) {
            call->to->send(answer(call->id, {{"content", json::array()}}, call->to->modern));
        }
        if (!has("HTTP_3_leaves_the_stream_open")) call->to->end();
        return;
    }
    call->to->send(answer(call->id, {{"content", {{{"type", "text"}, {"text", text}}}}}, call->to->modern));
    call->to->end();
}

void plain_server::cancel(const std::shared_ptr<active_call>& call) {
    call->cancelled = true;
    poisoned_.push_back(call->id);
}

void plain_server::cancelled(const json::object& message, const std::shared_ptr<channel>& from) {
    const json::value* const params = message.if_contains("params");
    const json::value* const id =
        params == nullptr || !params->is_object() ? nullptr : params->get_object().if_contains("requestId");
    const bool valid = id != nullptr && (id->is_string() || id->is_number());
    if (!valid && has("RCV_6_dies_of_a_malformed_one") && params != nullptr && !params->is_object()) std::abort();
    if (!valid && has("RCV_6_answers_a_malformed_one")) from->send(error(nullptr, -32602, "Invalid params"));
    const std::lock_guard lock(mutex_);
    if (id == nullptr && params != nullptr && params->is_object() && has("MSG_2_an_absent_id_means_all")) {
        for (const auto& each : active_) cancel(each);
    }
    if (!valid) return;
    const bool anybody = over_http_ && from->session.empty();
    if (anybody && !has("HTTP_4_lets_anybody_cancel")) return;
    if (has("MSG_1_does_not_know_string_ids") && id->is_string()) return;
    const json::value* const reason = params->get_object().if_contains("reason");
    if (reason != nullptr && reason->is_string() && has("MSG_4_logs_the_reason_as_it_is")) {
        std::cerr << "cancelled: " << std::string(reason->get_string()) << '\n';
    }
    if (has("DIR_2_sends_the_cancel_back")) from->send(notification("notifications/cancelled", {{"requestId", *id}}));
    bool found = false;
    for (const auto& each : active_) {
        const bool one_session = each->to->session == from->session || has("DIR_6_sessions_share_ids");
        if (one_session && each->task.empty() && same_id(each->id, *id)) {
            if (each->cancelled && has("RCV_7_answers_a_second_cancel")) continue;
            cancel(each);
            found = true;
        }
        if (has("DIR_1_lets_its_own_be_cancelled") && each->question_open && each->question == *id) {
            cancel(each);
            each->to->send(error(each->id, -32603, "the question was cancelled"));
        }
        if (has("DIR_5_cancels_the_task") && !each->task.empty() && each->id == *id) {
            cancel(each);
            tasks_[each->task].state = "cancelled";
        }
    }
    std::erase_if(listening_, [&](const auto& each) { return !has("SUB_1_sends_after_the_end") && each.first == *id; });
    if (found) return;
    if (has("RCV_5_dies_of_an_unknown_id")) std::exit(3);
    if (has("RCV_5_answers_an_unknown_id")) from->send(error(nullptr, -32602, "no such request"));
    if (has("RCV_5_cancels_another") && !active_.empty()) cancel(active_.back());
    const bool known = std::find(poisoned_.begin(), poisoned_.end(), *id) != poisoned_.end();
    if (known && has("RCV_7_answers_a_second_cancel")) {
        from->send(error(*id, -32600, "already cancelled"));
        from->send(error(*id, -32600, "already cancelled"));
    }
    if (id->is_int64() && id->get_int64() >= 2'000'000 && has("RCV_9_answers_twice")) {
        from->send(answer(*id, {{"tools", json::array()}}, from->modern));
    }
}

void plain_server::left(const std::shared_ptr<channel>& stream) {
    const bool cancels =
        stream->modern ? !has("HTTP_1_takes_no_notice_of_a_disconnect") : has("HTTP_2_takes_a_disconnect_for_a_cancel");
    const std::lock_guard lock(mutex_);
    std::erase_if(listening_, [&](const auto& each) { return each.second == stream; });
    if (!cancels) return;
    for (const auto& each : active_) {
        if (each->to == stream && each->task.empty()) cancel(each);
    }
}

}  // namespace broken
