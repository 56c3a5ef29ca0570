// What everything that relays in one process shares: the loop, the desk, the records, and the socket to ask it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "gateway/config/config.hpp"
#include "gateway/control/control_socket.hpp"
#include "gateway/relay/call_desk.hpp"
#include "gateway/relay/call_records.hpp"

namespace andon::gateway {

class relaying {
public:
    /// `who`: as the control socket introduces itself.
    relaying(const configuration& config, control_socket::identity who);

    [[nodiscard]] const std::shared_ptr<detail::conversation::surroundings>& around() const noexcept { return around_; }
    [[nodiscard]] call_desk& desk() noexcept { return desk_; }
    [[nodiscard]] call_records& records() noexcept { return records_; }

    /// Until leave(). `leaving`: on the first signal to end, which may have come before this; the second ends the
    /// process as usual.
    void run(std::function<void()> leaving);
    /// When nothing is left of the servers' processes, run() returns.
    void leave();

private:
    /// Children that we were started with: as a rule there are none, and no timer runs.
    void note_others();

    call_records records_;
    std::shared_ptr<detail::conversation::surroundings> around_;
    call_desk desk_;
    detail::event_loop::timer others_;
    std::function<void()> leaving_;
    std::unique_ptr<control_socket> control_;  // null: nobody can ask
};

}  // namespace andon::gateway
