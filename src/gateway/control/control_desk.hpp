// What the control socket of a running andon can be asked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gateway/relay/relayed_call_view.hpp"

namespace andon::gateway {

/// A server, or a process of it, behind this andon.
struct upstream_view {
    std::string server{};
    std::string state{};  ///< "starting", "ready", "restarting in 2 s", "gone"
    pid_t pid = 0;        ///< 0: it is behind a URL, or does not run
    std::uint32_t restarts = 0;
    std::size_t in_flight = 0;
};

/// Which calls; exactly one of them is set.
struct call_selection {
    std::optional<std::uint64_t> number{};
    std::optional<std::string> tool{};
    std::optional<std::string> session{};
    bool all = false;
};

/// How one call that an operator stopped came to its end.
struct stopped_call {
    std::uint64_t number = 0;
    stop_evidence evidence = stop_evidence::none;
    duration took{};
};

/// Implemented by whoever relays. On the loop's thread, all of it.
class control_desk {
public:
    control_desk() = default;
    control_desk(const control_desk&) = delete;
    control_desk& operator=(const control_desk&) = delete;

    /// What is in flight, and what was asked to stop and is watched still; the oldest first.
    [[nodiscard]] virtual std::vector<relayed_call_view> calls() const = 0;
    /// What has stopped not long ago, after it was asked to; the last to stop is the last.
    [[nodiscard]] virtual std::vector<relayed_call_view> stopped() const { return {}; }
    [[nodiscard]] virtual std::vector<upstream_view> upstreams() const = 0;
    /// Cancels what is selected and was not cancelled yet. The numbers of what was; of what had been asked to stop
    /// before too, so that it can be waited for. `stopped` is called for each of them, once, when the work has stopped,
    /// perhaps before stop() returns; an empty one says that nobody wants to know. `reason` and `asked_by`, a user's
    /// name, are safe to show.
    [[nodiscard]] virtual std::vector<std::uint64_t> stop(const call_selection& which, std::string_view reason,
                                                          std::string_view asked_by,
                                                          std::function<void(const stopped_call&)> stopped) = 0;

protected:
    ~control_desk() = default;
};

}  // namespace andon::gateway
