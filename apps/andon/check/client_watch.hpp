// A server that watches how its client cancels. No I/O, and no clock: whoever serves passes both in.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andon/core/time.hpp"
#include "check/probe.hpp"
#include "check/run.hpp"

namespace andon::check {

/// What the user is to do with the tools.
[[nodiscard]] std::string_view what_to_do() noexcept;

class client_watch {
public:
    explicit client_watch(bool over_http) : over_http_(over_http) {}

    /// A message of the client. What answers it goes to `stream`; over stdio there is one.
    void take(const json::object& message, std::size_t stream, time_point now);
    /// Over HTTP: the client closed the stream before its end.
    void left(std::size_t stream, time_point now);
    /// What is due by now.
    void tick(time_point now);
    [[nodiscard]] std::optional<time_point> next_tick() const;

    struct output {
        std::size_t stream;
        json::object message;  ///< empty: nothing but the end
        bool last = false;     ///< nothing more comes on that stream
    };
    /// What is to be sent, in order. Forgets it.
    [[nodiscard]] std::vector<output> outputs();

    [[nodiscard]] const std::string& client() const noexcept { return client_; }
    /// Once the client is gone.
    [[nodiscard]] std::vector<checked_rule> findings(time_point now) const;

private:
    struct seen_call {
        json::value id;
        std::size_t stream = 0;
        bool modern = false;
        std::string tool{};
        json::value token{};
        time_point began{};
        milliseconds timeout{};  ///< that the client has given it; 0: not said
        std::string task{};
        std::optional<time_point> answered{};
        std::optional<time_point> cancelled{};  ///< by the notification
        std::optional<time_point> left{};       ///< by closing the stream
        std::optional<time_point> late{};       ///< an answer that was sent after its cancel
        std::optional<time_point> ends{};       ///< by itself
        std::optional<time_point> next_progress{};
        double progress = 0;
    };

    void request(const json::object& message, std::size_t stream, time_point now);
    void call(const json::object& message, std::size_t stream, bool modern, time_point now);
    void cancel(const json::object& message, time_point now);
    void answer(seen_call& call, json::object result, time_point now);
    void refuse(const json::value& id, std::size_t stream, int code, std::string_view why);
    [[nodiscard]] seen_call* find_call(const json::value& id);

    [[nodiscard]] finding form() const;
    [[nodiscard]] finding only_in_progress() const;
    [[nodiscard]] finding not_initialize() const;
    [[nodiscard]] finding tasks_by_their_own() const;
    [[nodiscard]] finding late_answer_is_dropped() const;
    [[nodiscard]] finding by_notification() const;
    [[nodiscard]] finding by_closing() const;
    [[nodiscard]] finding timeout_is_told(std::string_view tool, time_point now) const;

    bool over_http_;
    std::string client_;
    bool modern_ = false;
    std::vector<seen_call> calls_;
    std::vector<output> outputs_;
    std::vector<time_point> requests_;  // when each came
    int cancels_ = 0;
    std::vector<std::string> malformed_;
    std::vector<std::string> unfounded_;     // cancels of what was not in progress
    std::vector<std::string> of_handshake_;  // and of initialize
    std::vector<std::string> posted_;        // notifications over HTTP under a modern revision
    std::vector<std::string> at_tasks_;      // notifications that name the request of a task
    int task_cancels_ = 0;
    std::vector<json::value> handshakes_;
    int tasks_made_ = 0;
};

}  // namespace andon::check
