// One connection to a server: a process of it, or a session with one behind a URL.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "andon/process/process_tree.hpp"
#include "gateway/config/config.hpp"
#include "gateway/relay/stop_watch.hpp"
#include "transport/conversation.hpp"

namespace andon::gateway {

class call_desk;
class server_output;

/// What a server was told by its host and has to be told again when it was started anew.
struct handshake_memory {
    std::string raw_initialize{};           ///< params; empty: there was none
    bool initialized = false;               ///< and its notification
    std::string raw_log_level{};            ///< params of logging/setLevel
    std::vector<std::string> subscribed{};  ///< params of resources/subscribe
    std::optional<revision> agreed{};       ///< without initialize: what is spoken
};

/// On the loop's thread. Begins as `starting`; is `ready` when it was told what it has to know; is `gone` when its
/// output ended, it was killed or let go; and lives on, for its events' sake, until its process is reaped.
///
/// The end of a process is told twice, in either order, and nothing waits on the loop for the other:
///
///   - its output ends first, as a rule. How it exited is reported a moment later, and only then its calls are answered
///     and `on_gone` follows, with that. One that has closed its output and lives on is killed after that moment.
///   - its exit is reported first. What it wrote last is still in the pipe, and is read to its end; if somebody else
///     holds the pipe open, for a moment only.
///
/// When both are over it is reaped: what was asked to stop in it has stopped.
class upstream final : public std::enable_shared_from_this<upstream>, public detail::conversation::owner {
public:
    class events {
    public:
        events() = default;
        events(const events&) = delete;
        events& operator=(const events&) = delete;
        virtual void on_ready(upstream& which) = 0;
        virtual void on_server_request(upstream& which, detail::incoming_request request, const envelope& message) = 0;
        virtual void on_server_notification(upstream& which, const envelope& message) = 0;
        /// More waits for it than it should, or, after that, little.
        virtual void on_crowded(upstream& which) { static_cast<void>(which); }
        /// The call goes on after its cancel and its grace time.
        virtual void on_ignored(upstream& which, relayed_call& call) = 0;
        /// Once. What it had in flight is told by itself.
        virtual void on_gone(upstream& which, const std::string& why) = 0;

    protected:
        ~events() = default;
    };
    enum class state : std::uint8_t { starting, ready, gone };
    /// Whatever is there in place of the server that the configuration names.
    using connector = std::function<std::unique_ptr<transport>()>;
    /// To a server behind a URL: looks it up, now, so that each use of the connector waits for nothing. Empty where the
    /// server is a command.
    [[nodiscard]] static connector to_url(const server_config& server);

    /// With `own` we shake hands ourselves, in whichever era the server speaks; without, the host's words are passed
    /// on, or repeated from memory.
    upstream(std::shared_ptr<detail::conversation::surroundings> around, call_desk& desk, const server_config& server,
             std::optional<peer_settings> own, connector instead = {},
             std::shared_ptr<own_rates> computes = std::make_shared<own_rates>());
    ~upstream();

    /// Throws where the command cannot be started, or the URL not be used. `memory` is looked at until `on_ready`, as
    /// it is then, and lives as long as `told`.
    void start(events& told, const handshake_memory& memory);
    [[nodiscard]] time_point started() const noexcept { return started_; }

    [[nodiscard]] detail::conversation& talk() noexcept { return *talk_; }
    [[nodiscard]] state where() const noexcept { return state_; }
    /// 0: there is no process of ours.
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    /// Calls in flight that were not asked to stop.
    [[nodiscard]] std::size_t running() const noexcept { return running_.size(); }
    /// Null: there is none, or there are several.
    [[nodiscard]] relayed_call* only_call() const noexcept {
        return running_.size() == 1 ? *running_.begin() : nullptr;
    }
    /// The same, where what it says is for one host and must not reach another: not while work that was asked to stop
    /// may have said it.
    [[nodiscard]] relayed_call* only_speaker() const noexcept { return watch_->in_doubt() ? nullptr : only_call(); }
    [[nodiscard]] std::size_t stopping() const noexcept { return watch_->waiting(); }
    /// By us, for a policy's sake.
    [[nodiscard]] bool was_killed() const noexcept { return killed_; }
    /// What the server answered to an initialize that was repeated from memory.
    [[nodiscard]] const std::string& raw_initialize_result() const noexcept { return raw_initialize_result_; }
    /// A request of ours, which belongs to no host's; `then` is told the answer, or null where there is none.
    std::shared_ptr<detail::outgoing_call> ask(std::string method, std::string raw_params,
                                               std::function<void(const envelope*)> then,
                                               const time_limits& limits = {.maximum = std::chrono::seconds(30)});
    /// It does not read what it is sent as quickly as that comes.
    [[nodiscard]] bool crowded() const noexcept { return crowded_; }
    /// While it is held nothing is read of it, once it is ready: it has to wait with what it writes, and its silence is
    /// held against nobody.
    void hold(bool wanted);
    /// How it ended, for people; once gone.
    [[nodiscard]] const std::string& why_gone() const noexcept { return why_gone_; }

    // For calls.

    // A subscription waits, and does no work: what its server does is done for others.
    void began(relayed_call& call);
    void ended(relayed_call& call);
    [[nodiscard]] bool is_running(relayed_call& call) const noexcept {
        return running_.contains(&call) || listening_.contains(&call);
    }
    void watch(const std::shared_ptr<relayed_call>& call) { watch_->watch(call); }
    /// A call was answered with a task, whose progress goes on under the call's token (2025-11-25).
    struct progress_of_task {
        std::weak_ptr<detail::conversation> host;
        std::string raw_token;
        std::string task;
    };
    void expect_progress(std::int64_t token, progress_of_task of);
    /// From now on what its process does may be done for a task, and says nothing of a call that was asked to stop.
    void made_task() noexcept { makes_tasks_ = true; }

    /// Everything in it dies now, for a policy's sake. `on_gone` follows, with these words.
    void kill(std::string why);
    /// The same for one that did not start as it should.
    void give_up(std::string why);
    /// It is not needed any more: its input ends, and what does not leave is made to; at the latest at that time, where
    /// one is given. No event follows.
    void let_go(std::optional<time_point> killed_at = std::nullopt);

private:
    void on_request(detail::incoming_request request, const envelope& message) override;
    void on_notification(const envelope& message) override;
    void on_unclaimed(const envelope& message) override;
    void on_established() override;
    void on_crowded(bool crowded) override;
    void on_ended(std::string_view why) override;

    [[nodiscard]] std::unique_ptr<transport> connect();
    void listen_to_process();
    void process_reported();
    void insist();
    void repeat_handshake(const handshake_memory& memory);
    void answered_handshake(const envelope* answer, const handshake_memory& memory);
    void become_ready();
    void follow_hold();
    void excuse_silence();
    void excuse_within(duration span);
    void read_the_rest();
    void hang_up();
    void conclude();
    /// Whoever waits for its end has a sign of life.
    void heard_of_task(const std::string& id);
    void fail_running(std::string_view why);
    void reaped();
    void say_goodbye(cancel_cause cause);

    std::shared_ptr<detail::conversation::surroundings> around_;
    call_desk* desk_;
    const server_config* server_;
    bool own_handshake_;
    connector instead_;
    std::shared_ptr<own_rates> computes_;
    events* events_ = nullptr;
    std::unique_ptr<process_tree> tree_;
    pid_t pid_ = 0;
    std::unique_ptr<detail::event_loop::watch> reports_;
    std::unique_ptr<server_output> said_;  // where it is named
    detail::event_loop::timer patience_;
    detail::event_loop::timer excuses_;
    time_point excused_ = time_point::max();  // again, then
    detail::event_loop::timer its_end_;
    int orphan_rounds_ = 0;
    std::shared_ptr<detail::conversation> talk_;
    peer_settings settings_;
    std::unique_ptr<stop_watch> watch_;
    state state_ = state::starting;
    std::unordered_set<relayed_call*> running_;
    std::uint64_t changes_ = 0;  // of these
    std::unordered_set<relayed_call*> listening_;
    static constexpr std::size_t most_tasks = 1'024;  // the oldest are forgotten
    std::unordered_map<std::int64_t, progress_of_task> tasks_;
    std::deque<std::int64_t> oldest_task_;
    std::unordered_map<std::string, std::unordered_set<relayed_call*>> awaiting_task_;  // of those that run
    std::string why_gone_;
    std::string why_ended_;  // its output
    std::optional<exit_status> exited_;
    std::uint32_t processes_killed_ = 0;
    time_point started_{};
    bool awaits_report_ = false;  // of its exit, once its output has ended
    std::string raw_initialize_result_;
    bool makes_tasks_ = false;
    bool killed_ = false;
    bool crowded_ = false;
    bool hold_wanted_ = false;
    bool held_ = false;
    std::shared_ptr<upstream> until_reaped_;  // ourselves
};

}  // namespace andon::gateway
