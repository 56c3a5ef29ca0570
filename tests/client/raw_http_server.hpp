// A server that is nothing but HTTP: what the client posts is looked at as it is, and answered by hand.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "server/served.hpp"

namespace andon {

/// One connection of the client's.
class raw_http_connection {
public:
    raw_http_connection(int fd, int number) : fd_(fd), number_(number) {}
    raw_http_connection(const raw_http_connection&) = delete;
    raw_http_connection& operator=(const raw_http_connection&) = delete;
    ~raw_http_connection();

    /// As it is. False: the client is gone.
    bool write(std::string_view bytes);
    /// The server's end of it; the client sees it at once, even before it is done with what was written.
    void close();
    /// The server's end alone: it could go on reading.
    void end();
    /// So that the client sees a reset.
    void reset();
    /// Waits until the client has closed it.
    [[nodiscard]] bool closed_by_client();
    /// Counted from 1.
    [[nodiscard]] int number() const noexcept { return number_; }

private:
    friend class raw_http_server;

    std::mutex mutex_;
    std::condition_variable changed_;
    int fd_;
    int number_;
    bool gone_ = false;   // the client's end is closed
    std::string buffer_;  // the server's thread alone
};

/// A request that came in whole.
struct raw_http_request {
    std::string method;
    std::string target;
    std::map<std::string, std::string> headers;  // by names in lower case
    std::string body;
    std::shared_ptr<raw_http_connection> on;
    std::chrono::steady_clock::time_point when;

    /// Empty: there is none.
    [[nodiscard]] std::string header(const std::string& name) const;
    [[nodiscard]] json::object message() const;
    /// The JSON-RPC method; empty for an answer.
    [[nodiscard]] std::string rpc() const;
    [[nodiscard]] json::value id() const { return message().at("id"); }

    void reply(std::string_view status, const std::string& body = {}, const std::string& more_headers = {}) const;
    void reply_json(const json::object& message, std::string_view status = "200 OK",
                    const std::string& more_headers = {}) const;
    /// A result in plain JSON.
    void answer(json::object result, const std::string& more_headers = {}) const;
    /// A tool's whole answer, of any revision.
    void answer_text(std::string_view text) const;

    /// A stream of events.
    void begin_events() const;
    void event(std::string_view data, std::string_view id = {}, std::optional<int> retry = {}) const;
    void event(const json::object& message, std::string_view id = {}) const;
    /// Its id and the time to wait, without a message.
    void prime(std::string_view id, std::optional<int> retry = {}) const { event("", id, retry); }
    void progress(double done) const;
    void end_events() const;
};

[[nodiscard]] json::object text_message(const json::value& id, std::string_view text);

class raw_http_server {
public:
    explicit raw_http_server(int backlog = 64);
    raw_http_server(const raw_http_server&) = delete;
    raw_http_server& operator=(const raw_http_server&) = delete;
    ~raw_http_server();

    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/mcp"; }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    /// A client that finds the only revision it speaks. `session`: the id of its session, under legacy.
    [[nodiscard]] client connect(client_options options, http_client_options how = {}, std::string session = "s1");
    /// The server's part of that.
    void shake(revision speaks, const std::string& session = "s1");

    /// The next request. GETs that open the stream of what the server says unasked are answered with 405, unless
    /// `listened_to`; DELETE is answered, and noted in `deleted`.
    [[nodiscard]] raw_http_request next();
    /// The next, which must be this one.
    [[nodiscard]] raw_http_request next(std::string_view rpc);
    /// Whether there is none now.
    [[nodiscard]] bool nothing_came();
    /// A request that goes all the way, before which anything else had its time.
    void fence(client& client);

    void listen_to_gets() { listened_to_ = true; }
    /// They are noted all the same.
    void leave_deletes_unanswered() { answers_deletes_ = false; }
    [[nodiscard]] std::vector<std::string> deleted();
    [[nodiscard]] int connections();
    /// New connections wait in the kernel, until it takes no more.
    void stop_accepting();
    void go_on_accepting();

private:
    void run();
    void take(const std::shared_ptr<raw_http_connection>& on, std::string_view bytes);
    void dispatch(raw_http_request request);
    void wake() const;

    int listener_ = -1;
    int wake_read_ = -1;
    int wake_write_ = -1;
    std::uint16_t port_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<raw_http_request> requests_;
    std::vector<std::string> deleted_;
    int accepted_ = 0;
    bool accepting_ = true;
    bool looks_for_new_ = true;  // the server's thread: what it made of that
    bool leaving_ = false;
    std::atomic<bool> listened_to_ = false;
    std::atomic<bool> answers_deletes_ = true;
    std::thread thread_;
};

}  // namespace andon
