#include "andon/process/process_tree.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "process/descriptor.hpp"
#include "process/guardian.hpp"
#include "process/launch.hpp"

namespace andon {
namespace {

using detail::descriptor;
using detail::launch;
using detail::order;
using detail::report;
using detail::report_kind;
using detail::start_stage;

[[noreturn]] void fail(int error, const std::string& what) {
    throw std::system_error(error, std::generic_category(), what);
}

// Where the program has standard streams closed, the system hands out their numbers. A pipe there would be overwritten
// when the command's streams are put in place.
descriptor above_streams(descriptor fd) {
    if (fd.get() >= 3) return fd;
    descriptor raised(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
    if (raised.get() < 0) fail(errno, "andon: cannot copy a descriptor");
    return raised;
}

void set_non_blocking(const descriptor& fd) { ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

struct two_ends {
    descriptor ours;
    descriptor theirs;
};

two_ends make_control() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        fail(errno, "andon: cannot make a socket pair");
    }
    descriptor ours(ends[0]);
    descriptor theirs(ends[1]);
    two_ends both{above_streams(std::move(ours)), above_streams(std::move(theirs))};
    set_non_blocking(both.ours);
    return both;
}

// For the stream `place` of the command: both ends if it is a pipe, none otherwise.
two_ends make_stream(stdio kind, int place) {
    if (kind != stdio::pipe) return {};
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno, "andon: cannot make a pipe");
    descriptor reader(ends[0]);
    descriptor writer(ends[1]);
    reader = above_streams(std::move(reader));
    writer = above_streams(std::move(writer));
    two_ends both = place == STDIN_FILENO ? two_ends{std::move(writer), std::move(reader)}
                                          : two_ends{std::move(reader), std::move(writer)};
    set_non_blocking(both.ours);
    return both;
}

int source_of(stdio kind, const two_ends& ends) {
    switch (kind) {
        case stdio::pipe: return ends.theirs.get();
        case stdio::null: return launch::from_null;
        case stdio::inherit: break;
    }
    return launch::inherited;
}

std::int64_t in_nanoseconds(duration grace) {
    // A grace time for ever is none that the arithmetic of deadlines would survive.
    constexpr duration longest = std::chrono::hours(24 * 365);
    return std::chrono::nanoseconds(std::min(grace, longest)).count();
}

std::string fault(const command& what, start_stage stage) {
    auto name = "cannot run '" + what.argv.front() + "'";
    switch (stage) {
        case start_stage::directory: return name + " in the directory '" + what.directory + "'";
        case start_stage::streams: return name + ": its standard streams";
        case start_stage::process: return name + ": no process for it";
        case start_stage::program: break;
    }
    return name;
}

// Sleeps until there is something to read, or until the time has come. EINTR counts as something.
void sleep_on(int fd, std::optional<time_point> until) {
    pollfd ready{fd, POLLIN, 0};
    timespec limit{};
    if (until) {
        const auto left = std::max(*until - time_point::clock::now(), duration::zero());
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
        limit.tv_sec = seconds.count();
        limit.tv_nsec = std::chrono::nanoseconds(left - seconds).count();
    }
    ::ppoll(&ready, 1, until ? &limit : nullptr, nullptr);
}

// By a signal, or by whoever traces it.
bool is_stopped(pid_t pid) noexcept {
    std::array<char, 512> text{};
    std::snprintf(text.data(), text.size(), "/proc/%d/stat", pid);
    const descriptor file(::open(text.data(), O_RDONLY | O_CLOEXEC));
    const auto size = ::read(file.get(), text.data(), text.size());
    if (size <= 0) return false;
    const std::string_view line(text.data(), static_cast<std::size_t>(size));
    const auto name_end = line.rfind(')');  // the name may hold anything
    if (name_end == std::string_view::npos || name_end + 2 >= line.size()) return false;
    return line[name_end + 2] == 'T' || line[name_end + 2] == 't';
}

}  // namespace

command command::shell(std::string line) { return {.argv = {"/bin/sh", "-c", std::move(line)}}; }

struct process_tree::state {
    std::array<descriptor, 3> streams;
    // Stays open to the end, because another thread may be about to send on it.
    descriptor control;
    std::atomic<bool> asked_to_terminate{false};
    std::atomic<bool> asked_to_kill{false};
    pid_t guardian = -1;
    pid_t pid = -1;
    std::optional<exit_status> exited;
    bool told_of_the_end = false;  // by the guardian
    bool socket_ended = false;
    bool finished = false;
    std::uint32_t killed = 0;
    std::uint32_t survivors = 0;
    std::mutex reaping;  // for `finished`: until the guardian was waited for, its pid is nobody else's
    time_point looked{};
    bool seen_stopped = false;

    // Once each: whoever asks a thousand times must not fill the socket and shut out the one order that counts.
    void send(order what, std::atomic<bool>& asked) noexcept {
        if (asked.exchange(true, std::memory_order_relaxed)) return;
        while (::send(control.get(), &what, sizeof what, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EINTR) continue;
        signal_guardian(SIGCONT);  // somebody may have stopped it
    }

    void signal_guardian(int signal) noexcept {
        const std::lock_guard lock(reaping);
        if (!finished) ::kill(guardian, signal);
    }

    // A guardian that was stopped again, or that SIGCONT cannot wake because it is traced, would hold up the end.
    void insist() noexcept {
        const bool asked =
            asked_to_terminate.load(std::memory_order_relaxed) || asked_to_kill.load(std::memory_order_relaxed);
        const auto now = time_point::clock::now();
        if (finished || !asked || now < looked + insist_every) return;
        looked = now;
        const bool stopped = is_stopped(guardian);
        if (stopped) signal_guardian(seen_stopped ? SIGKILL : SIGCONT);
        seen_stopped = stopped;
    }

    // The next message, if there is one.
    std::optional<report> receive() noexcept {
        report message{};
        for (;;) {
            const auto size = ::recv(control.get(), &message, sizeof message, MSG_DONTWAIT);
            if (size == sizeof message) return message;
            // The error comes ahead of the messages that are still there, and once: the guardian left an order unread.
            if (size < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
            if (size == 0 || (size < 0 && errno != EAGAIN)) socket_ended = true;
            return std::nullopt;
        }
    }

    // Once the socket has ended. If the guardian is there still it has nothing to do but to end, in which nobody is to
    // stop it.
    void reap(int flags) noexcept {
        signal_guardian(SIGKILL);
        siginfo_t info{};
        int done = 0;
        do {
            done = ::waitid(P_PID, static_cast<id_t>(guardian), &info, WEXITED | WNOWAIT | __WALL | flags);
        } while (done != 0 && errno == EINTR);
        if (done == 0 && info.si_pid != guardian) return;
        const std::lock_guard lock(reaping);
        ::waitid(P_PID, static_cast<id_t>(guardian), &info, WEXITED | WNOHANG | __WALL);  // unless somebody else has
        finished = true;
    }

    void take_in(const report& message) noexcept {
        switch (message.kind) {
            case report_kind::exited:
                exited = WIFSIGNALED(message.value) ? exit_status{true, WTERMSIG(message.value)}
                                                    : exit_status{false, WEXITSTATUS(message.value)};
                break;
            case report_kind::finished:
                killed = static_cast<std::uint32_t>(message.value);
                survivors = message.detail;
                told_of_the_end = true;
                break;
            case report_kind::started:
            case report_kind::failed: break;  // start() has read these
        }
    }

    // Somebody has killed the guardian. The kernel kills the command then; its group is ours to kill. If the command
    // was over before, the number may be another's by now, unless nobody has it as a pid: then the group is the old
    // one.
    void kill_group() const noexcept {
        if (!exited || (::kill(pid, 0) != 0 && errno == ESRCH)) ::kill(-pid, SIGKILL);
    }

    void poll() noexcept {
        if (finished) return;
        const bool ended_before = socket_ended;
        while (const auto message = receive()) take_in(*message);
        if (!socket_ended) return;
        if (!ended_before && !told_of_the_end) kill_group();
        reap(WNOHANG);
    }

    bool wait(std::optional<time_point> until) {
        for (;;) {
            poll();
            if (!finished && socket_ended) reap(0);
            if (finished) return true;
            insist();
            const auto now = time_point::clock::now();
            if (until && now >= *until) return false;
            // Another thread may ask while we sleep.
            sleep_on(control.get(), until ? std::min(*until, now + insist_every) : now + insist_every);
        }
    }
};

process_tree::process_tree(std::unique_ptr<state> s) noexcept : state_(std::move(s)) {}
process_tree::process_tree(process_tree&&) noexcept = default;
process_tree& process_tree::operator=(process_tree&& other) noexcept {
    if (this != &other) {
        end();
        state_ = std::move(other.state_);
    }
    return *this;
}
process_tree::~process_tree() { end(); }

void process_tree::end() noexcept {
    if (!state_) return;
    if (!state_->finished) {
        kill();
        state_->wait(std::nullopt);
    }
    state_.reset();
}

process_tree process_tree::start(const command& what, process_stdio streams) {
    const detail::launch_text text(what);
    auto made = std::make_unique<state>();
    auto control = make_control();
    const std::array kinds{streams.in, streams.out, streams.err};
    std::array<two_ends, 3> ends;
    launch plan{};
    text.point(plan);
    for (std::size_t i = 0; i < 3; ++i) {
        ends[i] = make_stream(kinds[i], static_cast<int>(i));
        plan.stream[i] = source_of(kinds[i], ends[i]);
        made->streams[i] = std::move(ends[i].ours);
    }
    plan.control = control.theirs.get();
    plan.program = ::getpid();
    plan.grace = in_nanoseconds(what.grace);
    made->control = std::move(control.ours);
    made->guardian = detail::start_guardian(plan);
    if (made->guardian < 0) fail(errno, fault(what, start_stage::process));
    control.theirs.close();

    for (;;) {
        const auto message = made->receive();
        if (message && message->kind == report_kind::started) {
            made->pid = message->value;
            return process_tree(std::move(made));
        }
        if (message || made->socket_ended) {
            made->reap(0);
            if (!message) fail(ECHILD, fault(what, start_stage::process));
            fail(message->value, fault(what, static_cast<start_stage>(message->detail)));
        }
        sleep_on(made->control.get(), std::nullopt);
    }
}

pid_t process_tree::pid() const noexcept { return state_->pid; }
int process_tree::in() const noexcept { return state_->streams[0].get(); }
int process_tree::out() const noexcept { return state_->streams[1].get(); }
int process_tree::err() const noexcept { return state_->streams[2].get(); }
void process_tree::close_in() noexcept { state_->streams[0].close(); }
void process_tree::close_out() noexcept { state_->streams[1].close(); }
void process_tree::close_err() noexcept { state_->streams[2].close(); }
void process_tree::terminate() noexcept { state_->send(order::terminate, state_->asked_to_terminate); }
void process_tree::kill() noexcept { state_->send(order::kill, state_->asked_to_kill); }
int process_tree::report_fd() const noexcept { return state_->control.get(); }
void process_tree::insist() noexcept { state_->insist(); }
void process_tree::poll() noexcept { state_->poll(); }
std::optional<exit_status> process_tree::exited() const noexcept { return state_->exited; }
bool process_tree::finished() const noexcept { return state_->finished; }
std::uint32_t process_tree::killed() const noexcept { return state_->killed; }
bool process_tree::guardian_lost() const noexcept { return state_->finished && !state_->told_of_the_end; }
std::uint32_t process_tree::survivors() const noexcept { return state_->survivors; }

bool process_tree::wait(std::optional<duration> limit) {
    std::optional<time_point> until;
    const auto now = time_point::clock::now();
    if (limit && *limit < time_point::max() - now) until = now + *limit;
    return state_->wait(until);
}

}  // namespace andon
