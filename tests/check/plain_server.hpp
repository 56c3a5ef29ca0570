// A small server without andon's library, right in everything that `andon check` looks at, unless it is told to have a
// defect: one for each rule.
#pragma once

#include <atomic>
#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace broken {

namespace json = boost::json;

/// Where the messages for one client, or on one stream, go.
struct channel {
    virtual ~channel() = default;
    virtual void send(const json::object& message) = 0;
    /// The request is over: over HTTP its stream ends.
    virtual void end() {}
    bool modern = false;
    std::string session;
};

struct active_call {
    json::value id;
    std::shared_ptr<channel> to;
    std::atomic<bool> cancelled{false};
    std::atomic<bool> question_open{false};
    json::value question;
    std::atomic<bool> answered{false};  // the question
    std::string task;                   // its id, where it is one
};

class plain_server {
public:
    plain_server(std::string defect, bool over_http) : defect_(std::move(defect)), over_http_(over_http) {}

    void take(const json::object& message, const std::shared_ptr<channel>& from);
    /// The client left that request's stream.
    void left(const std::shared_ptr<channel>& stream);
    [[nodiscard]] bool has(std::string_view defect) const { return defect_ == defect; }

private:
    struct task {
        std::string state = "working";
        json::value request;
        std::shared_ptr<active_call> call;
    };

    void request(const json::object& message, const std::shared_ptr<channel>& from);
    void call_tool(const json::object& message, const std::shared_ptr<channel>& from);
    void work(const std::shared_ptr<active_call>& call, const std::string& name, const json::object& arguments,
              const json::value& token);
    [[nodiscard]] std::string wait(active_call& call, std::int64_t ms, const json::value& token);
    [[nodiscard]] std::string spin(active_call& call, std::int64_t ms);
    [[nodiscard]] std::string child(active_call& call);
    [[nodiscard]] std::string ask(active_call& call);
    void finish(const std::shared_ptr<active_call>& call, const std::string& text);
    void cancelled(const json::object& message, const std::shared_ptr<channel>& from);
    void cancel(const std::shared_ptr<active_call>& call);
    void tasks(const json::object& message, const std::shared_ptr<channel>& from);
    [[nodiscard]] json::object task_view(const std::string& id, bool modern);
    void listen(const json::object& message, const std::shared_ptr<channel>& from);
    [[nodiscard]] bool same_id(const json::value& a, const json::value& b) const;
    [[nodiscard]] std::string new_task_id();

    std::string defect_;
    bool over_http_;
    std::mutex mutex_;
    std::vector<std::shared_ptr<active_call>> active_;
    std::vector<std::pair<json::value, std::shared_ptr<channel>>> listening_;
    std::map<std::string, task> tasks_;
    std::vector<json::value> poisoned_;  // ids that stay cancelled
    int questions_ = 900;
    int made_tasks_ = 0;
};

}  // namespace broken
