#include "server/task_caller.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "andon/wire/error.hpp"
#include "process/process_watch.hpp"

namespace andon {
namespace {

constexpr auto requested = revision::v2025_11_25;
constexpr auto extended = revision::v2026_07_28;

std::vector<task_way> ways_of(revision speaks) {
    std::vector<task_way> found;
    for (const task_way& each : task_ways()) {
        if (each.speaks == speaks) found.push_back(each);
    }
    return found;
}

/// What Mcp-Name has to be.
std::string name_in(std::string_view method, std::string_view raw_members) {
    const json::object members = json::parse('{' + std::string(raw_members) + '}').as_object();
    if (method == "tools/call") return string_in(members, "name");
    return method.starts_with("tasks/") ? string_in(members, "taskId") : std::string();
}

bool is_terminal(const json::object& answer) {
    const std::string status = status_in(answer.at("result").as_object());
    return status == "completed" || status == "failed" || status == "cancelled";
}

}  // namespace

const std::vector<task_way>& task_ways() {
    static const std::vector<task_way> all{{"stdio_v2025_11_25", requested, false},
                                           {"stdio_v2026_07_28", extended, false},
                                           {"http_v2025_11_25", requested, true},
                                           {"http_v2026_07_28", extended, true}};
    return all;
}

std::vector<task_way> requested_ways() { return ways_of(requested); }
std::vector<task_way> extension_ways() { return ways_of(extended); }

std::string string_in(const json::object& from, std::string_view key) {
    const json::value* const found = from.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::string status_in(const json::object& task) { return string_in(task, "status"); }

// Requests.

void task_caller::open() {
    if (server_ != nullptr) return server_->open();
    client_->open();
}

std::string task_caller::line(std::string_view raw_id, std::string_view method, std::string_view raw_members,
                              std::string_view raw_meta) const {
    if (!extension()) return request_line(speaks_, raw_id, method, raw_members, raw_meta);
    // Without the capabilities that request_line() would have.
    std::string meta(raw_meta);
    if (!meta.empty()) meta += ',';
    meta += R"("io.modelcontextprotocol/protocolVersion":")" + std::string(to_string(speaks_)) +
            R"(","io.modelcontextprotocol/clientCapabilities":)" + capabilities;
    std::string members(raw_members);
    if (!members.empty()) members += ',';
    return request_line(requested, raw_id, method, members + R"("_meta":{)" + meta + '}');
}

std::string task_caller::task_members(std::string_view tool, std::string_view raw_arguments,
                                      std::string_view raw_task) const {
    std::string members = R"("name":")" + std::string(tool) + R"(","arguments":)" + std::string(raw_arguments);
    if (!extension()) members += R"(,"task":)" + std::string(raw_task);
    return members;
}

std::string task_caller::start(std::string_view method, std::string_view raw_members, std::string_view raw_meta) {
    const std::string raw_id = std::to_string(++last_id_);
    const std::string body = line(raw_id, method, raw_members, raw_meta);
    if (server_ != nullptr) {
        server_->send(body);
    } else {
        streams_.emplace(raw_id, client_->send(client_->post(body, method, name_in(method, raw_members))));
    }
    return raw_id;
}

std::string task_caller::start_task(std::string_view tool, std::string_view raw_arguments, std::string_view raw_meta,
                                    std::string_view raw_task) {
    return start("tools/call", task_members(tool, raw_arguments, raw_task), raw_meta);
}

json::object task_caller::answer(const std::string& raw_id) {
    if (server_ != nullptr) return server_->answer(raw_id);
    auto stream = streams_.extract(raw_id);
    if (stream.empty()) throw std::logic_error("no request " + raw_id);
    const auto head = heads_.extract(raw_id);
    const http_outcome all =
        head.empty() ? outcome_of(stream.mapped()) : outcome_of(stream.mapped(), std::move(head.mapped()));
    if (!all.message) throw std::runtime_error("no answer to " + raw_id);
    return *all.message;
}

void task_caller::withdraw(const std::string& raw_id) {
    if (server_ != nullptr) return server_->cancel(raw_id);
    if (!extension()) return client_->cancel(raw_id);
    streams_.erase(raw_id);
}

void task_caller::fence() {
    if (server_ != nullptr) return server_->fence();
    client_->fence();
}

json::object task_caller::message(const std::string& raw_id, std::string_view text) {
    if (server_ != nullptr) return json::parse(server_->line_with(text)).as_object();
    http_client& stream = streams_.at(raw_id);
    if (!heads_.contains(raw_id)) heads_.emplace(raw_id, stream.head());
    for (;;) {
        const auto event = stream.event();
        if (!event) throw std::runtime_error("the stream has ended without " + std::string(text));
        if (event->data.find(text) != std::string::npos) return event->message();
    }
}

void task_caller::reply(const json::object& question, std::string_view raw_outcome) {
    const std::string text =
        R"({"jsonrpc":"2.0","id":)" + json::serialize(question.at("id")) + ',' + std::string(raw_outcome) + '}';
    if (server_ != nullptr) return server_->send(text);
    EXPECT_EQ(client_->tell(text), 202);
}

// Tasks.

std::string task_caller::of(std::string_view task) { return R"("taskId":")" + std::string(task) + '"'; }

json::object task_caller::born(const std::string& raw_id) {
    const json::object created = answer(raw_id);
    if (code_of(created) != 0) throw std::runtime_error("no task: " + json::serialize(created));
    const json::object& result = created.at("result").as_object();
    if (!extension()) return result.at("task").as_object();
    EXPECT_EQ(string_in(result, "resultType"), "task");
    return result;
}

std::string task_caller::create(std::string_view tool, std::string_view raw_arguments, std::string_view raw_meta,
                                std::string_view raw_task) {
    return string_in(born(start_task(tool, raw_arguments, raw_meta, raw_task)), "taskId");
}

std::string task_caller::status(std::string_view task) { return status_in(get(task).at("result").as_object()); }

std::string task_caller::status_message(std::string_view task) {
    return string_in(get(task).at("result").as_object(), "statusMessage");
}

json::object task_caller::until(std::string_view task, const std::function<bool(const json::object&)>& is,
                                std::string_view what) {
    const auto limit = std::chrono::steady_clock::now() + patience;
    for (;;) {
        json::object answer = get(task);
        if (is(answer)) return answer;
        if (std::chrono::steady_clock::now() > limit) {
            throw std::runtime_error("waited in vain for " + std::string(what) + "; now " + json::serialize(answer));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // as a client that polls
    }
}

void task_caller::until_status(std::string_view task, std::string_view status) {
    until(
        task,
        [&](const json::object& answer) {
            return code_of(answer) == 0 && status_in(answer.at("result").as_object()) == status;
        },
        status);
}

void task_caller::until_unknown(std::string_view task) {
    until(
        task, [](const json::object& answer) { return code_of(answer) == error_code::invalid_params; },
        "an unknown task");
}

json::object task_caller::outcome(std::string_view task) {
    if (!extension()) return about("tasks/result", task);
    json::object ended = until(task, is_terminal, "its end").at("result").as_object();
    json::object answer;
    for (const char* const what : {"result", "error"}) {
        if (ended.contains(what)) answer[what] = ended.at(what);
    }
    return answer;
}

// The server.

task_server::task_server(task_way how, const std::vector<std::string>& arguments) : how_(std::move(how)) {
    if (how_.http) {
        auto process = std::make_unique<http_process>(how_.speaks, arguments);
        port_ = process->port();
        process_ = std::move(process);
    } else {
        process_ = std::make_unique<server_process>(how_.speaks, std::vector<std::string>{}, arguments);
    }
}

task_caller task_server::client_of(revision speaks, std::string token) {
    task_caller made =
        how_.http ? task_caller(http_caller(port_, speaks, {.token = std::move(token)})) : task_caller(*process_);
    made.open();
    return made;
}

void task_server::kill() {
    ::kill(process_->pid(), SIGKILL);
    static_cast<void>(process_->exit());
}

}  // namespace andon
