// Looks after the calls of one server that were asked to stop, until they have.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "gateway/relay/own_activity.hpp"
#include "gateway/relay/relayed_call.hpp"
#include "gateway/relay/stop_judgement.hpp"
#include "process/process_activity.hpp"
#include "transport/event_loop.hpp"

namespace andon::gateway {

/// One for each process of a server, or session with one behind a URL: a look at a process tree is one look, however
/// many calls wait for it. Nothing runs while nothing waits.
///
///     watch() ──► waiting ──at rest on two looks──► silent ──its answer──► forgotten
///                  │   │                               └──its progress──► waiting
///                  │   └──at work behind the grace time──► waiting, and ignoring: until it rests, answers or is killed
///                  └──the grace time is over, and the work may be another's──► unseen
///
/// Unseen is said of a call once, and for good as far as anybody is told; but its work may go on, and with it the
/// reason for the policy. So it is tried once more when nothing else is in flight and nothing waits: the process is its
/// own then, and that of other unseen ones. A trial lasts for a grace time, from its own beginning on: what a call that
/// has just been answered leaves to be done is not held against one that stopped long ago. Calls that come and go put
/// it off, and do not end it: its clock stands still while they are there. Behind them only what takes more than half a
/// processor, in each span between two looks, goes on with what was seen before; what takes less begins anew.
///
///     unseen ──trial: at rest on two looks──► silent
///        │  └──trial: at work to its end──► waiting, and ignoring: its entry in the journal is corrected
///        │  └──trial: a call begins──► unseen, and the trial goes on when that is over
///        │  └──trial: another one is asked to stop──► unseen, until that is over
///        │  └──trial: nothing can be told, the server computes for itself──► unseen, tried again after a pause
///        ├──its answer──► forgotten
///        └──its progress──► waiting
///
/// Two that are unseen are tried together, and both are taken for ignoring: one of them is, and nobody can say which.
class stop_watch {
public:
    /// What the server is doing, asked at each look.
    struct surroundings {
        std::function<std::size_t()> running;    ///< calls in flight that were not asked to stop
        std::function<std::uint64_t()> changes;  ///< how often one began or ended
        pid_t guardian = 0;                      ///< 0: there is no process of ours
        std::function<void(relayed_call&)> ignored;
        std::shared_ptr<own_rates> computes;  ///< for itself, the server
    };

    stop_watch(detail::event_loop& loop, surroundings of);

    /// Where the server is in question (own_activity.hpp): looks for a while what it does before any call comes, and
    /// tells then. False: there is no need to.
    [[nodiscard]] bool looks_at_start(std::function<void()> then);
    /// It may be called from now on: the processes that are there now are the server's own, and no call's.
    void ready();
    void watch(const std::shared_ptr<relayed_call>& call);
    /// While it is held what the server says is not read: nothing is judged. Afterwards the grace time begins anew, for
    /// what comes then was perhaps said before the cancel was read. One that is being killed is held to its end.
    void hold(bool held);
    /// Nothing that it says is heard any more: of a call that has sent progress its end is all that tells.
    void is_deaf() noexcept { deaf_ = true; }
    /// A call begins, and none was in flight.
    void pause_ends();
    /// The last that was in flight is over, or was asked to stop.
    void pause_begins();
    /// An answer, or progress, to what nobody waits for.
    void heard(const envelope& message);
    /// The process, or the session, is gone.
    void gone(stop_evidence how, std::uint32_t killed);
    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
    /// Whether a process may still be at work for a call that was asked to stop. Behind a URL each call has a stream of
    /// its own, which is closed.
    [[nodiscard]] bool in_doubt() const noexcept {
        return around_.guardian != 0 && !(unseen_.empty() && waiting_.empty());
    }

private:
    struct watched {
        std::shared_ptr<relayed_call> call;
        stop_judgement judgement;
        std::chrono::milliseconds begun;  // since the machine was started
        time_point tried{};               // since then, on the clock of the trial
        /// The children of one that is unseen were begun before this: later ones may be other calls'.
        std::optional<std::chrono::milliseconds> until{};
    };
    using watched_calls = std::unordered_map<std::int64_t, watched>;
    using ignoring_calls = std::vector<std::shared_ptr<relayed_call>>;

    void look();
    void look_later(duration in);
    void look_at_start(int times, double least, std::function<void()> then);
    void try_from(watched& each, time_point since) const;
    /// Both: when to look again; nothing: not for their sake.
    [[nodiscard]] std::optional<duration> judge_waiting(const sighting& common,
                                                        const detail::process_activity& activity,
                                                        ignoring_calls& ignoring);
    [[nodiscard]] std::optional<duration> try_unseen(const sighting& common, const detail::process_activity& activity,
                                                     ignoring_calls& ignoring);
    void settle(std::int64_t id, stop_evidence how, time_point when);
    void remember_silent(std::int64_t id, const std::shared_ptr<relayed_call>& call);
    void remember_unseen(std::int64_t id, watched of);
    /// It was taken for stopped, and goes on.
    void resume(const std::shared_ptr<relayed_call>& call);
    /// All that is the same for every call. Processor time is that since the last look.
    [[nodiscard]] sighting see(const detail::process_activity& activity, time_point at);
    [[nodiscard]] sighting see(const watched& of, sighting common, const detail::process_activity& activity) const;
    [[nodiscard]] detail::process_activity activity() const;
    [[nodiscard]] std::chrono::nanoseconds used() const;

    static constexpr std::size_t most_remembered = 1'024;

    detail::event_loop* loop_;
    surroundings around_;
    detail::event_loop::timer timer_;
    watched_calls waiting_;
    watched_calls unseen_;
    std::deque<std::int64_t> unseen_first_;
    /// Taken for stopped, by their silence: an answer, or progress, can still come.
    std::unordered_map<std::int64_t, std::shared_ptr<relayed_call>> silent_;
    std::deque<std::int64_t> silent_first_;
    std::unordered_set<pid_t> own_;
    own_activity by_itself_;
    time_point looked_{};               // last
    time_point not_before_{};           // the next, for a look is not cheap
    time_point released_{};             // from being held, last
    std::uint64_t changes_seen_ = 0;    // then
    std::chrono::nanoseconds spent_{};  // processor time until then
    std::chrono::nanoseconds queued_{};
    std::size_t suspects_ = 0;  // of those that wait: seen at work before this look, or in their grace time
    bool looking_ = false;
    bool held_ = false;
    bool on_trial_ = false;     // the unseen ones are
    time_point trial_clock_{};  // on which only the time passes that is theirs
    time_point alone_since_{};  // on that
    bool trial_waits_ = false;  // for the end of a pause
    bool deaf_ = false;         // nothing that it says is heard any more
    bool starting_ = false;     // the timer is that of the pause behind the start
    duration trial_pause_{};
    bool gone_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for work that is posted
};

}  // namespace andon::gateway
