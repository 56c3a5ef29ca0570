// Asks the running andons of this user what they are doing, and to stop it. Blocks; used by the subcommands.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "gateway/control/control_desk.hpp"

namespace andon::gateway {

/// As `andon ps` shows it: "<pid of andon>.<number>". The number alone is enough where only one andon has it.
struct call_id {
    std::optional<pid_t> andon{};
    std::uint64_t number = 0;
    friend bool operator==(const call_id&, const call_id&) = default;
};
[[nodiscard]] std::optional<call_id> call_id_of(std::string_view text);

struct running_andon {
    pid_t pid = 0;
    std::string kind{};  ///< "wrap" or "gateway"
    std::string name{};
    std::string version{};
    std::vector<upstream_view> servers{};
};

struct found_call {
    pid_t andon = 0;
    relayed_call_view call{};
    [[nodiscard]] std::string id() const { return std::to_string(andon) + '.' + std::to_string(call.number); }
};

struct survey {
    std::vector<running_andon> andons{};
    std::vector<found_call> calls{};      ///< in flight, the oldest first
    std::vector<found_call> stopped{};    ///< not long ago, the oldest first
    std::size_t more = 0;                 ///< that were too many to be listed
    std::vector<std::string> problems{};  ///< for people: an andon that does not answer, a folder that is not ours
};

/// All of them at once. One that hangs costs `limit`, whatever the others do, and is a problem.
[[nodiscard]] survey survey_andons(duration limit = std::chrono::seconds(2));

struct stop_order {
    pid_t andon = 0;  ///< 0: every one
    call_selection which{};
};

struct stop_wish {
    std::vector<stop_order> orders{};
    std::string reason{};
    std::string asked_by{};
    bool wait = false;
    std::optional<duration> timeout{};  ///< of the waiting
};

/// Called on other threads, one at a time.
struct stop_events {
    std::function<void(pid_t andon, const std::vector<std::uint64_t>& numbers)> asked;
    std::function<void(pid_t andon, const stopped_call& call)> stopped;
    std::function<void(const std::string& what)> problem;
};

struct stop_summary {
    std::size_t asked = 0;
    std::size_t stopped = 0;   ///< of those, where it was waited for
    bool timed_out = false;    ///< the waiting
    bool unreachable = false;  ///< an andon did not answer, or left while it was waited for
};

/// Returns when every andon has answered; with `wait` when the work has stopped.
[[nodiscard]] stop_summary stop_calls(const stop_wish& wish, const stop_events& told);

}  // namespace andon::gateway
