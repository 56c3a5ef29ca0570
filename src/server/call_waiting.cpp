// How a call waits: for time, for a descriptor, for a command; and how its cancel ends the waiting.
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <stdexcept>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

#include "andon/server/call.hpp"
#include "process/descriptor.hpp"
#include "server/wake_once.hpp"
#include "transport/clock.hpp"

namespace andon {
namespace {

int milliseconds_until(std::optional<time_point> deadline) noexcept {
    if (!deadline) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - now()).count();
    return static_cast<int>(std::clamp<long>(left, 0, 1'000'000'000));
}

/// `how_long` may be "for ever".
time_point deadline_after(duration how_long) noexcept {
    const time_point begun = now();
    return how_long > time_point::max() - begun ? time_point::max() : begun + how_long;
}

/// Reads some of what is there, and not without end: on the loop, others have their turn in between. False: nothing
/// will come any more.
bool read_output(int fd, const cancel_token& token, std::string& output,
                 const std::function<void(std::string_view)>& on_output) {
    std::array<char, 16'384> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
    constexpr int at_once = 16;
    for (int i = 0; i < at_once; ++i) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno == EAGAIN;
        if (got == 0) return false;
        if (token.cancelled()) continue;  // nobody wants it; but a command that cannot write would not end
        const std::string_view piece(buffer.data(), static_cast<std::size_t>(got));
        if (on_output) {
            on_output(piece);
        } else {
            output += piece;
        }
    }
    return true;
}

run_result ended(detail::call_state& state, const process_tree& tree, std::string output) {
    if (tree.killed() > 0) state.request().count_killed(tree.killed());
    return {.status = tree.exited().value_or(exit_status{}), .output = std::move(output), .killed = tree.killed()};
}

}  // namespace

void call::must_be_free_to_block(const char* name) const {
    if (!state_->talk().here()) return;
    throw std::logic_error(std::string("call.") + name +
                           "() blocks: in a coroutine, co_await what begins with async_ instead");
}

void call::sleep_for(duration how_long) const {
    must_be_free_to_block("sleep_for");
    if (token().wait_until(deadline_after(how_long))) throw_if_cancelled();
}

bool call::wait_readable(int fd, std::optional<duration> limit) const {
    must_be_free_to_block("wait_readable");
    const detail::descriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (wake.get() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    const cancel_callback waker(token(), [&] { ::eventfd_write(wake.get(), 1); });
    const auto deadline = limit ? std::optional(deadline_after(*limit)) : std::nullopt;
    for (;;) {
        std::array<pollfd, 2> both{{{fd, POLLIN, 0}, {wake.get(), POLLIN, 0}}};
        const int ready = ::poll(both.data(), both.size(), milliseconds_until(deadline));
        if (ready < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
        throw_if_cancelled();
        if (ready > 0 && both[0].revents != 0) return true;
        if (deadline && now() >= *deadline) return false;
    }
}

run_result call::run(const command& what, const std::function<void(std::string_view)>& on_output) const {
    must_be_free_to_block("run");
    throw_if_cancelled();
    process_tree tree = process_tree::start(what);
    const cancel_callback stop(token(), [&] { tree.terminate(); });
    std::string output;
    while (read_output(tree.out(), token(), output, on_output)) {
        pollfd ready{tree.out(), POLLIN, 0};
        ::poll(&ready, 1, static_cast<int>(process_tree::insist_every.count()));
        tree.insist();
    }
    tree.wait();
    run_result result = ended(*state_, tree, std::move(output));
    throw_if_cancelled();
    return result;
}

// The same for coroutines. Each wakes once, by whichever comes first; everything but the cancel happens on the loop.

namespace {

/// Until the descriptor is readable, the time is over, or the call is cancelled.
struct wait_for_any {
    detail::call_state& state;
    int fd = -1;
    std::optional<time_point> deadline{};
    bool with_cancel = true;

    detail::wake_once once{state, with_cancel};
    detail::event_loop::timer timer{state.talk().loop()};
    std::unique_ptr<detail::event_loop::watch> watch{};
    bool readable = false;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
        if (deadline) timer.set(*deadline, [this] { once.wake(); });
        if (fd >= 0) {
            watch = std::make_unique<detail::event_loop::watch>(state.talk().loop(), fd);
            watch->when(detail::event_loop::readiness::readable, [this] {
                readable = true;
                once.wake();
            });
        }
        once.arm(waiting);
    }
    bool await_resume() {
        once.disarm();
        timer.clear();
        watch.reset();
        return readable;
    }
};

}  // namespace

async<void> call::async_sleep_for(duration how_long) const {
    throw_if_cancelled();
    wait_for_any sleep{.state = *state_, .deadline = deadline_after(how_long)};
    co_await sleep;
    throw_if_cancelled();
}

async<bool> call::async_wait_readable(int fd, std::optional<duration> limit) const {
    throw_if_cancelled();
    wait_for_any wait{
        .state = *state_, .fd = fd, .deadline = limit ? std::optional(deadline_after(*limit)) : std::nullopt};
    const bool readable = co_await wait;
    throw_if_cancelled();
    co_return readable;
}

async<run_result> call::async_run(command what, std::function<void(std::string_view)> on_output) const {
    throw_if_cancelled();
    process_tree tree = process_tree::start(what);
    const cancel_callback stop(token(), [&] { tree.terminate(); });
    std::string output;
    const auto wait_for = [&](int fd) {
        const bool asked = token().cancelled();
        if (asked) tree.insist();
        const auto again = asked ? std::optional(deadline_after(process_tree::insist_every)) : std::nullopt;
        return wait_for_any{.state = *state_, .fd = fd, .deadline = again, .with_cancel = !asked};
    };
    while (read_output(tree.out(), token(), output, on_output)) {
        auto wait = wait_for(tree.out());
        co_await wait;
    }
    for (tree.poll(); !tree.finished(); tree.poll()) {
        auto wait = wait_for(tree.report_fd());
        co_await wait;
    }
    run_result result = ended(*state_, tree, std::move(output));
    throw_if_cancelled();
    co_return result;
}

}  // namespace andon
