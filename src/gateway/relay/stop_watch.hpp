// Looks after the calls of one server that were asked to stop, until they have.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "gateway/relay/relayed_call.hpp"
#include "gateway/relay/stop_judgement.hpp"
#include "process/process_activity.hpp"
#include "transport/event_loop.hpp"

namespace andon::gateway {

/// One for each process of a server, or session with one behind a URL: a look at a process tree is one look, however
/// many calls wait for it. Nothing runs while nothing waits.
class stop_watch {
public:
    /// What the server is doing, asked at each look.
    struct surroundings {
        std::function<std::size_t()> running;  ///< calls in flight that were not asked to stop
        pid_t guardian = 0;                    ///< 0: there is no process of ours
        std::function<void(relayed_call&)> ignored;
    };

    stop_watch(detail::event_loop& loop, surroundings of);

    /// The processes that are there now are the server's own, and no call's.
    void note_present();
    void watch(const std::shared_ptr<relayed_call>& call);
    /// While it is held what the server says is not read: nothing is judged. Afterwards the grace time begins anew, for
    /// what comes then was perhaps said before the cancel was read.
    void hold(bool held);
    /// An answer, or progress, to what nobody waits for.
    void heard(const envelope& message);
    /// The process, or the session, is gone.
    void gone(stop_evidence how, std::uint32_t killed);
    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
    /// Whether a process may still be at work for a call that was asked to stop. Behind a URL each call has a stream of
    /// its own, which is closed.
    [[nodiscard]] bool in_doubt() const noexcept { return around_.guardian != 0 && (unseen_ || !waiting_.empty()); }

private:
    struct watched {
        std::shared_ptr<relayed_call> call;
        stop_judgement judgement;
        std::chrono::milliseconds begun;  // since the machine was started
    };

    void look();
    void look_later(duration in);
    void settle(std::int64_t id, stop_evidence how, time_point when);
    /// It was taken for stopped, and goes on.
    void resume(const std::shared_ptr<relayed_call>& call);
    /// All that is the same for every call. Processor time is that since the last look.
    [[nodiscard]] sighting see(const detail::process_activity& activity, time_point at);
    [[nodiscard]] sighting see(const watched& of, sighting common, const detail::process_activity& activity) const;

    static constexpr std::size_t most_remembered = 1'024;

    surroundings around_;
    detail::event_loop::timer timer_;
    std::unordered_map<std::int64_t, watched> waiting_;
    /// Taken for stopped, by their silence: an answer, or progress, can still come.
    std::unordered_map<std::int64_t, std::shared_ptr<relayed_call>> silent_;
    std::deque<std::int64_t> silent_first_;
    std::unordered_set<pid_t> own_;
    time_point looked_{};               // last
    time_point released_{};             // from being held, last
    std::chrono::nanoseconds spent_{};  // processor time until then
    std::chrono::nanoseconds queued_{};
    std::size_t at_work_ = 0;  // of those that wait, seen so before this look
    bool looking_ = false;
    bool held_ = false;
    bool unseen_ = false;  // one was not seen to stop, nor was the process idle since
    int restful_ = 0;      // looks in a row at which it was
};

}  // namespace andon::gateway
