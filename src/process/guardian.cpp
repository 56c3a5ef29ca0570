// The guardian of a tree: what it is, and what it may do.
//
//     program ── guardian ── command ── child ── ...
//                      └── orphan, daemon, whoever lost his parent
//
// It is a subreaper: an orphan anywhere below it becomes its child instead of init's. So "nothing is left" is a thing
// it can know, and not by looking around: wait() says that it has no children.
//
// It learns that the program is gone from two sides, because each has a gap. Its socket reports the end of the file,
// unless another fork of the program holds a copy of the program's end. The pidfd of the program becomes readable
// unless a seccomp filter forbids it. PR_SET_PDEATHSIG would be the obvious third, and is wrong: it fires when the
// *thread* that forked ends, and threads come and go. With SIGCONT, which does nothing to a guardian that runs, it
// wakes one that was stopped. For the command it is right, since the guardian has one thread: if somebody kills the
// guardian, the kernel kills the command.
//
// It is a fork of a program with many threads, of which only the forking one exists here. Any lock may be held for ever
// by a thread that is not there: malloc's, stdio's, a sanitizer's, those of whatever library replaced these. Hence the
// rules of this file and of descendants.cpp:
//  - system calls by number, and nothing else from outside: no allocation, no exceptions, no library;
//  - the fork is a bare clone(), so that no pthread_atfork handler of the program runs, on either side;
//  - both files are compiled without sanitizers, and call no inline function that another file could have given us a
//    sanitized copy of;
//  - signals are blocked from before the fork, so that no handler of the program runs here, and stay blocked.
//
// The clone() carries no exit signal. The kernel then sends the program no SIGCHLD for the guardian, and a wait(-1) in
// the program does not find it, nor does an ignored SIGCHLD make it vanish before we have waited for it.
//
// Once the command runs, the guardian holds no descriptor but its own three, in the places of the standard streams:
// otherwise whoever reads from the program or from the command would not see the end as long as the guardian lives.
// It sits in a process group of its own, so that Ctrl-C in a terminal reaches the program and leaves the guardian to
// do its duty.
#include "process/guardian.hpp"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/descendants.hpp"
#include "process/proc_directory.hpp"

#ifdef __GLIBC__
// vfork() under the name that sanitizers do not replace: in theirs they take locks.
extern "C" pid_t __vfork() noexcept __attribute__((returns_twice));  // NOLINT(bugprone-reserved-identifier)
#endif

namespace andon::detail {
namespace {

static_assert(sizeof(long) == 8, "the bare system calls take the 64-bit layouts of time");

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t second_look = second / 50;  // for what a walk may have missed
constexpr long signal_set_size = 8;
constexpr int signal_count = 64;

[[noreturn]] void leave() noexcept {
    for (;;) ::syscall(SYS_exit_group, 0);
}

std::int64_t now() noexcept {
    timespec at{};
    ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &at);
    return at.tv_sec * second + at.tv_nsec;
}

void block_signals(std::uint64_t which, std::uint64_t* before) noexcept {
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &which, before, signal_set_size);
}

void close_from(int first) noexcept {
    if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
    // Linux before 5.9. Up to the limit would not do: it may be a billion.
    each_number_in(proc_path().add("/proc/self/fd"), [first](int fd, int reading) noexcept {
        if (fd >= first && fd != reading) ::syscall(SYS_close, fd);
    });
}

// A descriptor in the place that we want it in, whatever was there before.
bool move_to(int fd, int place, int flags) noexcept {
    if (fd == place) return true;  // and its flags are those it was made with
    return ::syscall(SYS_dup3, fd, place, flags) >= 0;
}

void default_dispositions() noexcept {
    const std::uint64_t as_the_kernel_has_it[8] = {};  // SIG_DFL, no flags, an empty mask
    for (int each = 1; each <= signal_count; ++each) {
        ::syscall(SYS_rt_sigaction, each, as_the_kernel_has_it, nullptr, signal_set_size);
    }
}

pid_t bare_fork(int exit_signal) noexcept {
    return static_cast<pid_t>(::syscall(SYS_clone, exit_signal, nullptr, nullptr, nullptr, nullptr));
}

struct start_fault {
    start_stage stage;
    std::int32_t error;
};

// From here to the end of become_command() we are the command that is about to be.
[[noreturn]] void give_up(int result, start_stage stage, int error) noexcept {
    const start_fault fault{stage, error};
    ::syscall(SYS_write, result, &fault, sizeof fault);
    leave();
}

bool set_stream(int source, int place) noexcept {
    if (source >= 0) return move_to(source, place, 0);
    if (source == launch::inherited && ::syscall(SYS_fcntl, place, F_SETFD, 0) >= 0) return true;
    // Everything below `place` is open by now, so that this opens `place` itself or something above.
    const auto fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR));
    if (fd < 0) return false;
    if (fd == place) return true;
    const bool done = move_to(fd, place, 0);
    ::syscall(SYS_close, fd);
    return done;
}

[[noreturn]] void become_command(const launch& what, pid_t guardian, int result) noexcept {
    ::syscall(SYS_setpgid, 0, 0);
    ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (::syscall(SYS_getppid) != guardian) leave();

    for (int place = 0; place < 3; ++place) {
        if (!set_stream(what.stream[place], place)) give_up(result, start_stage::streams, errno);
    }
    if (!move_to(result, 3, O_CLOEXEC)) give_up(result, start_stage::streams, errno);
    close_from(4);
    if (what.directory != nullptr && ::syscall(SYS_chdir, what.directory) != 0) {
        give_up(3, start_stage::directory, errno);
    }

    block_signals(0, nullptr);
    int error = ENOENT;
    for (char* const* path = what.candidates; *path != nullptr; ++path) {
        ::syscall(SYS_execve, *path, what.argv, what.environment);
        if (errno == ENOENT || errno == ENOTDIR) {
            if (error != EACCES) error = errno;
        } else {
            error = errno;
            if (errno != EACCES) break;  // one that we may not run may be followed by one that we may
        }
    }
    give_up(3, start_stage::program, error);
}

class guardian {
public:
    explicit guardian(const launch& what) noexcept : program_(what.program), grace_(what.grace) {}

    // Starts the command and lets go of everything else.
    void start(const launch& what) noexcept {
        ::syscall(SYS_prctl, PR_SET_NAME, "andon-guardian", 0, 0, 0);
        ::syscall(SYS_setpgid, 0, 0);
        ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGCONT, 0, 0, 0);
        default_dispositions();
        int result[2] = {-1, -1};
        if (::syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 || !pipe_above_streams(result)) {
            fail(what.control, start_stage::process, errno);
        }
        const auto self = static_cast<pid_t>(::syscall(SYS_getpid));
#ifdef __GLIBC__
        // The command-to-be runs in our memory while we stand still, until it has its own: copying the page tables of a
        // large program twice for one command is a lot. It changes nothing but its own frames and errno.
        command_ = __vfork();
#else
        command_ = bare_fork(SIGCHLD);
#endif
        if (command_ == 0) become_command(what, self, result[1]);
        if (command_ < 0) fail(what.control, start_stage::process, errno);

        move_to(what.control, control, 0);
        move_to(result[0], 1, 0);
        close_from(2);
        ::syscall(SYS_chdir, "/");  // the directory that we were in may be unmounted or removed
        start_fault fault{};
        long size = 0;
        do {
            size = ::syscall(SYS_read, 1, &fault, sizeof fault);
        } while (size < 0 && errno == EINTR);
        if (size == sizeof fault) {
            ::syscall(SYS_wait4, command_, nullptr, __WALL, nullptr);
            fail(control, fault.stage, fault.error);
        }
        tell(control, report_kind::started, command_, 0);
        close_from(1);
        keep_only_descendants_memory();
    }

    [[noreturn]] void run() noexcept {
        watch();
        for (;;) {
            const bool reaped = reap();
            if (nothing_left_) finish(0);
            if (phase_ == phase::running && command_over_) begin_terminating();
            // Who was forked after the asking is not asked: it may be what a process starts to clean up with. Once its
            // parent is gone it is a leftover.
            if (phase_ == phase::terminating && reaped) signalled_ += terminate_orphans().fresh;
            if (phase_ == phase::terminating && now() >= deadline_) begin_killing();
            if (phase_ == phase::killing && kill_again()) continue;
            sleep();
        }
    }

private:
    enum class phase { running, terminating, killing };
    static constexpr int control = 0;

    static void tell(int socket, report_kind kind, std::int32_t value, std::uint32_t detail) noexcept {
        const report message{kind, value, detail};
        ::syscall(SYS_sendto, socket, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT, nullptr, 0);
    }

    [[noreturn]] static void fail(int socket, start_stage stage, int error) noexcept {
        tell(socket, report_kind::failed, error, static_cast<std::uint32_t>(stage));
        leave();
    }

    // Where the program has standard streams closed, a new pipe would take their places.
    static bool pipe_above_streams(int (&ends)[2]) noexcept {
        if (::syscall(SYS_pipe2, ends, O_CLOEXEC) != 0) return false;
        for (int i = 0; i < 2; ++i) {
            if (ends[i] >= 3) continue;
            const auto raised = static_cast<int>(::syscall(SYS_fcntl, ends[i], F_DUPFD_CLOEXEC, 3));
            if (raised < 0) return false;
            ::syscall(SYS_close, ends[i]);
            ends[i] = raised;
        }
        return true;
    }

    void watch() noexcept {
        const std::uint64_t child = std::uint64_t{1} << (SIGCHLD - 1);
        signals_ = static_cast<int>(::syscall(SYS_signalfd4, -1, &child, signal_set_size, O_CLOEXEC | O_NONBLOCK));
        program_fd_ = static_cast<int>(::syscall(SYS_pidfd_open, program_, 0));
        // Asked after the pidfd was opened: if it is our parent still, the pidfd is not some later process'.
        if (::syscall(SYS_getppid) != program_) begin_terminating();
    }

    bool reap() noexcept {
        for (bool any = false;; any = true) {
            int status = 0;
            const auto pid = static_cast<pid_t>(::syscall(SYS_wait4, -1, &status, WNOHANG | __WALL, nullptr));
            nothing_left_ = pid < 0;
            if (pid <= 0) return any;
            forget_descendant(pid);
            if (pid != command_ || command_over_) continue;
            command_over_ = true;
            tell(control, report_kind::exited, status, 0);
        }
    }

    void begin_terminating() noexcept {
        if (phase_ != phase::running) return;
        phase_ = phase::terminating;
        deadline_ = now() + grace_;
        // More than one walk, for what was forked meanwhile; few, because what a process starts to clean up after the
        // signal is to have its time.
        for (int walks = 0; walks < 3; ++walks) {
            const auto fresh = terminate_descendants().fresh;
            signalled_ += fresh;
            if (fresh == 0) break;
        }
    }

    void begin_killing() noexcept {
        if (phase_ == phase::killing) return;
        phase_ = phase::killing;
        killing_since_ = now();
        // To a whole group the kernel sends at one blow, and nobody can fork out of it: whatever bomb has not left the
        // group stands still while we count it. As long as the command has not been waited for, the group is its own.
        if (!command_over_) ::syscall(SYS_kill, -command_, SIGSTOP);
    }

    // Whether there was something new, and there may be more.
    bool kill_again() noexcept {
        const auto found = kill_descendants();
        signalled_ += found.fresh;
        // For where /proc shows us nothing. Not before all were found: they would be gone uncounted.
        if (found.fresh == 0 && !command_over_) ::syscall(SYS_kill, -command_, SIGKILL);
        if (found.living > 0 && found.living == found.refused && now() - killing_since_ >= second) {
            finish(found.refused);
        }
        return found.fresh > 0;
    }

    [[noreturn]] void finish(std::uint32_t survivors) noexcept {
        tell(control, report_kind::finished, static_cast<std::int32_t>(signalled_), survivors);
        ::syscall(SYS_shutdown, control, SHUT_RDWR);
        leave();
    }

    void sleep() noexcept {
        std::int64_t time = signals_ < 0 || phase_ == phase::killing ? second_look : -1;
        if (phase_ == phase::terminating) {
            const auto grace_left = deadline_ - now();
            if (time < 0 || grace_left < time) time = grace_left > 0 ? grace_left : 0;
        }
        const timespec limit{time / second, time % second};
        pollfd ready[3] = {
            {program_listens_ ? control : -1, POLLIN, 0}, {signals_, POLLIN, 0}, {program_fd_, POLLIN, 0}};
        if (::syscall(SYS_ppoll, ready, 3, time < 0 ? nullptr : &limit, nullptr, 0) <= 0) return;
        if (ready[1].revents != 0) {
            char spent[512];
            while (::syscall(SYS_read, signals_, spent, sizeof spent) > 0) continue;
        }
        if (ready[0].revents != 0) obey();
        if (ready[2].revents != 0) {
            program_fd_ = -1;
            begin_terminating();
        }
    }

    void obey() noexcept {
        order asked{};
        const auto size = ::syscall(SYS_recvfrom, control, &asked, sizeof asked, MSG_DONTWAIT, nullptr, nullptr);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (size <= 0) program_listens_ = false;  // the program is gone
        if (size > 0 && asked == order::kill) {
            begin_killing();
        } else {
            begin_terminating();
        }
    }

    pid_t program_;
    std::int64_t grace_;
    pid_t command_ = -1;
    int signals_ = -1;
    int program_fd_ = -1;
    phase phase_ = phase::running;
    bool command_over_ = false;
    bool nothing_left_ = false;
    bool program_listens_ = true;
    std::int64_t deadline_ = 0;
    std::int64_t killing_since_ = 0;
    std::uint32_t signalled_ = 0;
};

}  // namespace

pid_t start_guardian(const launch& what) noexcept {
    std::uint64_t before = 0;
    block_signals(~std::uint64_t{0}, &before);
    const auto pid = bare_fork(0);
    if (pid == 0) {
        guardian here(what);
        here.start(what);
        here.run();
    }
    const int error = errno;
    block_signals(before, nullptr);
    errno = error;
    return pid;
}

}  // namespace andon::detail
