// A call on its way through andon, as `andon ps` and the journal show it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "andon/core/cancel_cause.hpp"
#include "andon/core/time.hpp"

namespace andon::gateway {

/// Tools are known by what visible_text() makes of their name.
inline constexpr std::size_t longest_tool_name = 256;

/// Where the work is, as far as it can be seen from outside.
///
///     running ──► over                                   it was answered
///        └──────► asked_to_stop ──► stopped              nothing is heard or seen of it any more
///                      └──────────► ignoring ──► stopped it went on, and came to its end or was killed
enum class call_stage : std::uint8_t { running, asked_to_stop, ignoring, stopped, over };

[[nodiscard]] std::string_view to_string(call_stage stage) noexcept;

/// What became of a call, for the one who made it.
enum class call_end : std::uint8_t {
    completed,     ///< a result
    failed,        ///< an error of the server's, or a tool's result that is one
    cancelled,     ///< by the host
    timed_out,     ///< by a time limit of ours
    stopped,       ///< by an operator
    disconnected,  ///< the host was gone
    crashed,       ///< the server was gone
    refused,       ///< it never reached the server
};

[[nodiscard]] std::string_view to_string(call_end end) noexcept;

/// How the work behind a call that was asked to stop came to its end.
enum class stop_evidence : std::uint8_t {
    none,           ///< it was not asked to
    quiet,          ///< no progress, no answer, no processor time, no child: it stopped
    answered_late,  ///< it answered although it should not have; that was its end
    killed,         ///< it ignored the cancel and was killed
    exited,         ///< its process ended
    unseen,         ///< a server behind a URL, of which nothing was heard again
};

[[nodiscard]] std::string_view to_string(stop_evidence evidence) noexcept;

struct call_progress {
    double done = 0;
    std::optional<double> total{};
    std::string message{};  ///< safe to show
};

/// Every text is safe to show: control characters are visible, lengths are capped.
struct relayed_call_view {
    std::uint64_t number = 0;  ///< in this process; `andon ps` shows "<pid of andon>.<number>"
    std::string server{};      ///< its name in the configuration, or that of its program
    std::string session{};     ///< of the host: "stdio", or the first characters of its session's id
    std::string method{};      ///< "tools/call"
    std::string tool{};        ///< of tools/call; of prompts/get and resources/read the name or URI; else empty
    std::string request_id{};  ///< as the host wrote it
    std::string traceparent{};
    pid_t pid = 0;  ///< of the server's process; 0: it has none, or none yet
    std::chrono::system_clock::time_point started{};
    call_stage stage = call_stage::running;
    std::optional<call_progress> progress{};

    // Once it was asked to stop.
    std::optional<cancel_cause> cause{};
    std::string reason{};
    std::string asked_by{};  ///< "host", "time limit", "operator NAME", "disconnect", "shutdown"
    std::optional<duration> since_asked{};
};

/// One call that is over, in the journal.
struct journal_entry {
    relayed_call_view call{};
    std::chrono::system_clock::time_point ended{};  ///< for the host
    call_end end = call_end::completed;
    int error_code = 0;  ///< of failed
    stop_evidence evidence = stop_evidence::none;
    bool ignored = false;                    ///< it went on after the grace time, or answered behind it
    std::optional<duration> time_to_stop{};  ///< from the cancel until the work had stopped
    std::uint32_t late_messages = 0;         ///< dropped after the cancel
    std::uint32_t killed = 0;                ///< processes
    bool corrects = false;                   ///< the one that was written of this call before
};

}  // namespace andon::gateway
