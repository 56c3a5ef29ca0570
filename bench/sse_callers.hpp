// The same callers over the transport of 2024-11-05: calls are posted, and all answers come on one stream of events.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "http_client.hpp"

namespace andon::bench {

/// The stream and its session, for as long as it lives.
class sse_session {
public:
    explicit sse_session(http_client& client);
    ~sse_session();
    sse_session(const sse_session&) = delete;
    sse_session& operator=(const sse_session&) = delete;

    /// With the data of each event.
    void on_message(std::function<void(std::string_view)> call) { message_ = std::move(call); }
    [[nodiscard]] http_client& client() noexcept { return *client_; }
    std::int64_t next_id = first_http_id;

private:
    void take(std::string_view bytes);
    void post(const std::string& what, std::string_view message, bool answered);

    http_client* client_;
    http_connection* stream_;
    std::string request_;
    std::string unfinished_;
    std::function<void(std::string_view)> message_;
};

class sse_callers {
public:
    explicit sse_callers(sse_session& in, std::size_t count = 64);
    ~sse_callers();
    sse_callers(const sse_callers&) = delete;
    sse_callers& operator=(const sse_callers&) = delete;

    /// As http_callers::call().
    double call(std::int64_t calls, const std::function<void()>& midway = {});

private:
    struct request {
        http_connection* on = nullptr;
        std::string text;
        std::size_t id_at = 0;
        std::int64_t id = 0;
        bool accepted = false;
        bool answered = false;
    };

    sse_session* in_;
    std::vector<request> requests_;
};

}  // namespace andon::bench
