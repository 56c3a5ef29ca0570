// A connection with a loop of its own, and the client at its other end.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "process/process_watch.hpp"
#include "server/http_client.hpp"
#include "transport/http/http_connection.hpp"
#include "transport/http/stream_ends.hpp"

namespace andon::detail {

/// A loop that runs in a thread, and work that is done there while the test waits.
class running_loop {
public:
    running_loop() : thread_([this] { loop_.run(); }) {}
    running_loop(const running_loop&) = delete;
    running_loop& operator=(const running_loop&) = delete;
    ~running_loop() { stop(); }

    [[nodiscard]] event_loop& loop() noexcept { return loop_; }
    template <class F>
    auto on(F f) {
        std::promise<decltype(f())> done;
        auto answer = done.get_future();
        loop_.post([&] {
            if constexpr (std::is_void_v<decltype(f())>) {
                f();
                done.set_value();
            } else {
                done.set_value(f());
            }
        });
        return answer.get();
    }
    /// What was posted before, and what that posts, and what that posts, is done.
    void settle() {
        for (int i = 0; i < 4; ++i) on([] {});
    }
    void stop() {
        if (!thread_.joinable()) return;
        loop_.stop();
        thread_.join();
        loop_.finish();
    }

private:
    event_loop loop_;
    std::thread thread_;
};

class served_connection final : private http_connection::owner {
public:
    using handler = std::function<void(http_connection& from, http_request request)>;

    served_connection(running_loop& on, const http_connection_limits& limits, handler handle,
                      socket_ends ends = socket_pair())
        : on_(on), limits_(limits), handle_(std::move(handle)), client(std::move(ends.other)) {
        on_.on([&] {
            connection_ = std::make_shared<http_connection>(on_.loop(), byte_stream(std::move(ends.one)), false, "test",
                                                            limits_, static_cast<http_connection::owner&>(*this));
            connection_->open();
        });
    }
    ~served_connection() {
        on_.on([&] {
            if (connection_) connection_->close("the test is over");
        });
        on_.settle();
    }

    [[nodiscard]] http_connection& connection() { return *connection_; }
    [[nodiscard]] bool closes() { return closed_.get_future().wait_for(patience) == std::future_status::ready; }
    [[nodiscard]] bool open() {
        return on_.on([&] { return connection_ != nullptr; });
    }

private:
    void on_request(http_connection& from, http_request request) override { handle_(from, std::move(request)); }
    void on_closed(http_connection& /*from*/) override {
        connection_.reset();
        closed_.set_value();
    }

    running_loop& on_;
    http_connection_limits limits_;
    handler handle_;
    std::shared_ptr<http_connection> connection_;
    std::promise<void> closed_;

public:
    http_client client;
};

}  // namespace andon::detail
