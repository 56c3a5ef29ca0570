// What stands below the options in the help of a subcommand.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "exit_status.hpp"

namespace andon::app {

/// `Examples:`, one a line, what else there is to say, and `Exit status:`, one a line. The man page takes the examples
/// from here. Each piece ends with its last line.
[[nodiscard]] inline std::string help_footer(std::string_view examples, std::string_view statuses,
                                             std::string_view notes = {}) {
    return "Examples:\n" + std::string(examples) + (notes.empty() ? "" : "\n" + std::string(notes)) +
           "\nExit status:\n" + std::string(statuses);
}

struct status_text {
    int status;
    std::string_view about;
};

inline constexpr std::array all_statuses{
    status_text{exit_status::ok, "It worked."},
    status_text{exit_status::failed, "What was asked for did not succeed: the tool failed, a rule is broken."},
    status_text{exit_status::usage, "The command line or the configuration is wrong; nothing was sent."},
    status_text{exit_status::unreachable, "The server could not be started or reached, or it went away."},
    status_text{exit_status::timed_out, "It timed out."},
    status_text{exit_status::cancelled, "It was cancelled, by Ctrl-C, SIGTERM or SIGHUP."},
};

/// Of subcommands that talk to a server.
inline constexpr std::string_view call_statuses =
    "  0    it completed\n"
    "  1    the tool or the server says that it failed\n"
    "  2    the command line or the configuration is wrong; nothing was sent\n"
    "  3    the server could not be started or reached, or it went away\n"
    "  4    it timed out\n"
    "  130  it was cancelled, by Ctrl-C, SIGTERM or SIGHUP\n";
static_assert(exit_status::failed == 1 && exit_status::usage == 2 && exit_status::unreachable == 3 &&
              exit_status::timed_out == 4 && exit_status::cancelled == 130);

}  // namespace andon::app
