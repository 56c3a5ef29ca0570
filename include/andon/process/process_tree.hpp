// A command and everything that it starts, which end together.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "andon/core/time.hpp"

namespace andon {

/// What to run, and how.
struct command {
    /// The first is the program. One without a slash is looked up in the PATH that the command itself will see; one
    /// with a slash is relative to `directory`, where that is given.
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> environment{};  // added to ours; a name that we have is replaced
    std::string directory{};                                         // empty: ours
    duration grace = std::chrono::seconds(2);                        // between SIGTERM and SIGKILL

    /// /bin/sh -c line
    [[nodiscard]] static command shell(std::string line);
};

/// What a standard stream of the command is. `inherit` of a stream that is closed in the program is `null`.
enum class stdio : std::uint8_t { pipe, null, inherit };

struct process_stdio {
    stdio in = stdio::null;
    stdio out = stdio::pipe;
    stdio err = stdio::inherit;
};

/// How the command ended: exit and signal told apart.
struct exit_status {
    bool signalled = false;
    int code = 0;  // the exit code, or the number of the signal
    friend bool operator==(const exit_status&, const exit_status&) = default;
};

/// The command, its children, theirs, and those that daemonised: none outlives this object, the command, or the
/// program, not even one that was killed with SIGKILL (RCV-2, RCV-12).
///
/// A process group would not do: one setsid() and a process has left it. So a small guardian process stands between the
/// program and the command. Orphans below it are given to it instead of to init, so that it finds everything; and it
/// sees our end of its socket close when the program dies, however it dies. It is no child that wait(-1) finds, and no
/// SIGCHLD is sent for it: a program with its own ways with children does not notice it.
///
/// One thread owns the object and may call everything. Any other thread may call terminate() and kill(), as long as the
/// object lives and stays where it is.
///
/// What cannot be done: a process that runs as another user (after sudo, say) and that we may not signal is left alone
/// a second after SIGKILL, and counted in survivors(). A process that hangs in the kernel takes SIGKILL when it
/// returns from there: until then the tree is not finished, and the destructor waits.
///
/// Needs Linux 5.3 and a mounted /proc.
class process_tree {
public:
    /// Returns once the command runs. Throws std::invalid_argument for a command that can be none, and
    /// std::system_error with the reason of the system and the name of the command where it cannot be started.
    [[nodiscard]] static process_tree start(const command& what, process_stdio streams = {});

    process_tree(process_tree&&) noexcept;
    process_tree& operator=(process_tree&&) noexcept;
    /// Kills at once, and waits until nothing is left.
    ~process_tree();

    /// The command itself.
    [[nodiscard]] pid_t pid() const noexcept;

    /// Our ends of the pipes, non-blocking; -1 where there is none.
    [[nodiscard]] int in() const noexcept;
    [[nodiscard]] int out() const noexcept;
    [[nodiscard]] int err() const noexcept;
    void close_in() noexcept;
    void close_out() noexcept;
    void close_err() noexcept;

    /// Asks: SIGTERM to everything, and SIGKILL to what is left after the grace time. Any thread; once is enough.
    void terminate() noexcept;
    /// SIGKILL to everything, now. Any thread; once is enough.
    void kill() noexcept;
    /// After either, until finished(): a guardian that somebody has stopped is woken, and killed if that does not help.
    /// wait() does it; whoever waits in another way calls it that often.
    void insist() noexcept;
    static constexpr std::chrono::milliseconds insist_every{500};

    /// Readable when poll() has something new. Stays readable from the end on: stop watching it once finished().
    [[nodiscard]] int report_fd() const noexcept;
    /// Takes in what was reported. Never blocks.
    void poll() noexcept;

    // What poll() and wait() have learnt so far.
    /// How the command itself ended. What it has left behind may still be dying.
    [[nodiscard]] std::optional<exit_status> exited() const noexcept;
    /// Nothing is left: not of the tree, and not of its guardian.
    [[nodiscard]] bool finished() const noexcept;
    /// How many processes had to be signalled for the tree to end; known once finished().
    [[nodiscard]] std::uint32_t killed() const noexcept;
    /// How many were left alone because we may not signal them; known once finished().
    [[nodiscard]] std::uint32_t survivors() const noexcept;

    /// The guardian was killed, by somebody or by insist(). The command and its process group died with it; what had
    /// left the group is out of reach. Known once finished().
    [[nodiscard]] bool guardian_lost() const noexcept;

    /// Blocks until finished(), and no longer than the limit; says whether it is finished.
    bool wait(std::optional<duration> limit = std::nullopt);

private:
    struct state;
    explicit process_tree(std::unique_ptr<state> s) noexcept;
    void end() noexcept;

    std::unique_ptr<state> state_;
};

}  // namespace andon
