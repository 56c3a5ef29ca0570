// A server under measurement: a child process on three pipes, in a process group of its own that never outlives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace andon::bench {

/// CLOCK_MONOTONIC in nanoseconds: the clock of the servers' marks.
[[nodiscard]] std::int64_t now_ns();

/// Which core is whose. Nobody is pinned where there is only one.
struct placement {
    std::optional<int> driver;
    std::optional<int> server;
};

/// The first allowed core for the server, the second for this process, which is pinned there.
[[nodiscard]] placement pin_driver();

/// Asleep until there is something to read, or asking for it again and again with the core held.
enum class waiting { asleep, awake };

/// Where the driver has a core of its own it never sleeps: to wake it would cost the server a good part of each write,
/// and what the server writes most in the benchmarks are marks, which are ours and not its work.
[[nodiscard]] inline waiting how_to_wait(const placement& cores) {
    return cores.driver ? waiting::awake : waiting::asleep;
}

class server_process {
public:
    /// Throws when the command cannot be started. `marks` is whether it is asked to say on stderr what it notices.
    server_process(const std::vector<std::string>& command, bool marks, const placement& cores);
    /// Kills the whole group and reaps the child.
    ~server_process();
    server_process(const server_process&) = delete;
    server_process& operator=(const server_process&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }
    // Our ends of the pipes, non-blocking.
    [[nodiscard]] int input() const { return input_; }
    [[nodiscard]] int output() const { return output_; }
    [[nodiscard]] int errors() const { return errors_; }

    /// The resident set size of every process in the group, in bytes. Not the proportional one, which would fall when
    /// anybody else on the machine runs the same interpreter.
    [[nodiscard]] std::int64_t memory() const;
    /// With SIGTERM, and waits until it has, or for two seconds.
    void ask_to_leave();
    /// "exited with status 1" and the like; "still running" when it has not ended within a moment.
    [[nodiscard]] std::string how_it_ended();

private:
    [[nodiscard]] bool reap(std::int64_t limit_ns);

    pid_t pid_ = -1;
    bool reaped_ = false;
    int status_ = 0;
    int input_ = -1;
    int output_ = -1;
    int errors_ = -1;
};

}  // namespace andon::bench
