// One HTTP request on a connection of its own, and what comes back, whenever it comes.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "andon/core/time.hpp"
#include "transport/http/byte_stream.hpp"
#include "transport/http/endpoint.hpp"
#include "transport/http/response_reader.hpp"
#include "transport/http/sse.hpp"

namespace andon::check {

/// Never waits. Whoever owns it polls fd() for events(), and calls go_on().
class http_exchange {
public:
    /// Begins to connect. Throws server_gone where nobody listens.
    http_exchange(const detail::endpoint& to, const std::shared_ptr<detail::tls_context>& tls, std::string request,
                  std::string raw_id);

    [[nodiscard]] int fd() const noexcept { return stream_.fd(); }
    [[nodiscard]] short events() const noexcept;  // NOLINT(google-runtime-int): poll's own
    void go_on();
    /// Away, without a word. What came before stays.
    void drop();

    /// The id of the request, as JSON; empty for a notification.
    [[nodiscard]] const std::string& raw_id() const noexcept { return raw_id_; }
    [[nodiscard]] bool over() const noexcept { return over_; }
    /// Dropped by us.
    [[nodiscard]] bool dropped() const noexcept { return dropped_; }
    /// Not empty: it was over before the answer was whole.
    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    /// 0 until the head is there.
    [[nodiscard]] unsigned status() const noexcept { return status_; }
    [[nodiscard]] std::string header(std::string_view name) const { return std::string(response_->header(name)); }
    [[nodiscard]] bool in_events() const noexcept { return in_events_; }
    /// Of the last event that had one.
    [[nodiscard]] const std::string& last_event_id() const noexcept { return last_event_id_; }
    /// Where it did not come in events.
    [[nodiscard]] const std::string& body() const noexcept { return body_; }
    /// Messages that were not taken yet.
    std::deque<std::string> messages;

private:
    void write_more();
    void read_more();
    void take_steps();
    void end(std::string why);

    std::string raw_id_;
    detail::byte_stream stream_;
    std::string unsent_;
    std::unique_ptr<detail::response_reader> response_;
    detail::sse_parser events_;
    unsigned status_ = 0;
    bool in_events_ = false;
    bool over_ = false;
    bool dropped_ = false;
    std::string body_;
    std::string last_event_id_;
    std::string error_;
};

}  // namespace andon::check
