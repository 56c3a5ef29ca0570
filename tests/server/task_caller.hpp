// Clients that know tasks, in both dialects and over both transports: one way to write a test for all of them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "server/http_caller.hpp"

namespace andon {

inline constexpr std::string_view tasks_declared =
    R"({"sampling":{},"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}})";
inline constexpr std::string_view tasks_undeclared = R"({"sampling":{},"elicitation":{}})";

/// A dialect and a transport.
struct task_way {
    std::string name;
    revision speaks;
    bool http;

    [[nodiscard]] bool extension() const noexcept { return era_of(speaks) == era::modern; }
    friend void PrintTo(const task_way& way, std::ostream* out) { *out << way.name; }
};
[[nodiscard]] const std::vector<task_way>& task_ways();
/// Those of 2025-11-25, where the client asks for a task.
[[nodiscard]] std::vector<task_way> requested_ways();
/// Those of the extension.
[[nodiscard]] std::vector<task_way> extension_ways();

/// One client. Ids of requests are its own doing; where they matter they are JSON already.
class task_caller {
public:
    explicit task_caller(server_process& over_stdio) : server_(&over_stdio), speaks_(over_stdio.speaks()) {}
    explicit task_caller(http_caller client) : client_(std::move(client)), speaks_(client_->speaks()) {}

    [[nodiscard]] bool extension() const noexcept { return era_of(speaks_) == era::modern; }
    [[nodiscard]] revision speaks() const noexcept { return speaks_; }
    [[nodiscard]] http_caller& http() { return *client_; }
    /// What every request of 2026-07-28 says about this client.
    std::string capabilities{tasks_declared};

    void open();

    // Requests.

    /// Its id.
    std::string start(std::string_view method, std::string_view raw_members, std::string_view raw_meta = {});
    /// A call that is a task where its tool may be one.
    std::string start_task(std::string_view tool, std::string_view raw_arguments = "{}", std::string_view raw_meta = {},
                           std::string_view raw_task = "{}");
    [[nodiscard]] json::object answer(const std::string& raw_id);
    [[nodiscard]] json::object ask(std::string_view method, std::string_view raw_members,
                                   std::string_view raw_meta = {}) {
        return answer(start(method, raw_members, raw_meta));
    }
    /// As this transport and dialect have it: by the notification, or by closing the connection.
    void withdraw(const std::string& raw_id);
    /// Everything that was written before was heard, and the server is alive.
    void fence();
    /// The next message that is on its way to the client in connection with that request, and has the text.
    [[nodiscard]] json::object message(const std::string& raw_id, std::string_view text);
    /// Answers a question of the server's. `raw_outcome`: `"result":…` or `"error":…`.
    void reply(const json::object& question, std::string_view raw_outcome);
    [[nodiscard]] std::string line(std::string_view raw_id, std::string_view method, std::string_view raw_members,
                                   std::string_view raw_meta = {}) const;
    /// The members of such a call.
    [[nodiscard]] std::string task_members(std::string_view tool, std::string_view raw_arguments,
                                           std::string_view raw_task = "{}") const;

    // Tasks.

    /// The task of an answer to start_task().
    [[nodiscard]] json::object born(const std::string& raw_id);
    /// The id of a new task.
    [[nodiscard]] std::string create(std::string_view tool, std::string_view raw_arguments = "{}",
                                     std::string_view raw_meta = {}, std::string_view raw_task = "{}");
    [[nodiscard]] json::object about(std::string_view method, std::string_view task) { return ask(method, of(task)); }
    [[nodiscard]] json::object get(std::string_view task) { return about("tasks/get", task); }
    [[nodiscard]] json::object cancel(std::string_view task) { return about("tasks/cancel", task); }
    /// `"taskId":"…"`.
    [[nodiscard]] static std::string of(std::string_view task);
    [[nodiscard]] std::string status(std::string_view task);
    [[nodiscard]] std::string status_message(std::string_view task);
    /// Asks again and again, until the answer to tasks/get is such a one.
    json::object until(std::string_view task, const std::function<bool(const json::object& answer)>& is,
                       std::string_view what);
    void until_status(std::string_view task, std::string_view status);
    void until_unknown(std::string_view task);
    /// What the call would have been answered: with tasks/result, or from tasks/get when it has ended.
    [[nodiscard]] json::object outcome(std::string_view task);

private:
    server_process* server_ = nullptr;
    std::optional<http_caller> client_;
    revision speaks_;
    int last_id_ = 0;
    std::map<std::string, http_client> streams_;  // those whose answers were not read yet
    std::map<std::string, http_answer> heads_;    // of those that came in events, and of which some were read
};

/// everything_server, reached in that way.
class task_server {
public:
    explicit task_server(task_way how, const std::vector<std::string>& arguments = {});

    [[nodiscard]] server_process& operator*() noexcept { return *process_; }
    [[nodiscard]] server_process* operator->() noexcept { return process_.get(); }
    [[nodiscard]] const task_way& how() const noexcept { return how_; }
    /// A client that has shaken hands. Over standard input there is one only.
    [[nodiscard]] task_caller client(std::string token = {}) { return client_of(how_.speaks, std::move(token)); }
    [[nodiscard]] task_caller client_of(revision speaks, std::string token = {});
    /// At its end.
    void kill();

private:
    task_way how_;
    std::uint16_t port_ = 0;
    std::unique_ptr<server_process> process_;
};

/// A server and its client, in every way.
class tasked : public testing::TestWithParam<task_way> {
protected:
    [[nodiscard]] static bool extension() { return GetParam().extension(); }
    [[nodiscard]] static bool http() { return GetParam().http; }

    task_server server{GetParam()};
    task_caller client{server.client()};
};

[[nodiscard]] std::string string_in(const json::object& from, std::string_view key);
/// Of a task that was told of, in whichever way.
[[nodiscard]] std::string status_in(const json::object& task);

}  // namespace andon
