// What the program and the guardian of a tree have to agree on: how a command is started, and what they tell each
// other.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

#include "andon/process/process_tree.hpp"

namespace andon::detail {

/// Everything the guardian needs, made ready before the fork: after it there is no allocating any more.
struct launch {
    static constexpr int from_null = -1;
    static constexpr int inherited = -2;

    char* const* candidates;  // paths to try in turn; null at the end
    char* const* argv;
    char* const* environment;
    const char* directory;  // null: where we are
    int stream[3];          // the command's end of a pipe, never below 3; or one of the above
    int control;            // the guardian's end; never below 3
    pid_t program;
    std::int64_t grace;  // nanoseconds
};

// From the program to the guardian: one byte a message.
enum class order : std::uint8_t { terminate, kill };

/// How far the start of a command came.
enum class start_stage : std::uint32_t { process, streams, directory, program };

// From the guardian to the program: one of these a message.
enum class report_kind : std::uint32_t {
    started,   // value: the command's pid
    failed,    // value: errno; detail: the start_stage
    exited,    // value: the wait status of the command
    finished,  // value: how many were signalled; detail: how many we may not signal
};
struct report {
    report_kind kind;
    std::int32_t value;
    std::uint32_t detail;
};

/// Owns the memory that a launch points into.
class launch_text {
public:
    /// Throws std::invalid_argument.
    explicit launch_text(const command& what);

    void point(launch& at) const noexcept;

private:
    struct block {
        std::vector<std::string> text;
        std::vector<char*> pointers{};
        void seal();
    };
    block argv_;
    block environment_;
    block candidates_;
    std::string directory_;
};

}  // namespace andon::detail
