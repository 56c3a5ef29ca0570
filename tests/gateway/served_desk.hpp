// A control socket before a fake desk, on a loop in a thread of its own.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>

#include "gateway/control/control_socket.hpp"
#include "gateway/fake_desk.hpp"
#include "gateway/runtime_folder.hpp"

namespace andon::gateway {

class served_desk {
public:
    explicit served_desk(duration patience = std::chrono::minutes(1)) {
        thread_ = std::thread([this] { loop_.run(); });
        on_loop([&] {
            socket_.emplace(loop_, desk_, control_socket::identity{"wrap", "a server"},
                            log_sink([](log_level, std::string_view) {}), patience);
        });
    }
    ~served_desk() {
        on_loop([this] { socket_.reset(); });
        loop_.stop();
        thread_.join();
    }
    served_desk(const served_desk&) = delete;
    served_desk& operator=(const served_desk&) = delete;

    /// Runs it there, and returns when it is done.
    template <class F>
    std::invoke_result_t<F> on_loop(F f) {
        std::packaged_task<std::invoke_result_t<F>()> work(std::move(f));
        auto result = work.get_future();
        loop_.post([work = std::move(work)]() mutable { work(); });
        return result.get();
    }
    fake_desk& desk() noexcept { return desk_; }  // on the loop
    [[nodiscard]] std::filesystem::path path() const { return folder_.path() / socket_name(::getpid()); }
    [[nodiscard]] const runtime_folder& folder() const noexcept { return folder_; }
    detail::event_loop& loop() noexcept { return loop_; }
    [[nodiscard]] std::size_t connections() {
        return on_loop([this] { return socket_->connections(); });
    }
    void close_socket() {
        on_loop([this] { socket_.reset(); });
    }

    std::uint64_t add(const std::string& tool, const std::string& session = "stdio") {
        return on_loop([&] {
            relayed_call_view call;
            call.server = "everything";
            call.session = session;
            call.method = "tools/call";
            call.tool = tool;
            call.request_id = "7";
            call.started = std::chrono::system_clock::now();
            return desk_.add(call);
        });
    }

private:
    runtime_folder folder_;
    detail::event_loop loop_;
    fake_desk desk_;
    std::optional<control_socket> socket_;
    std::thread thread_;
};

}  // namespace andon::gateway
