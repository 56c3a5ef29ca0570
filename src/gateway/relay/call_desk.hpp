// Everything that is in flight through this andon.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "gateway/control/control_desk.hpp"
#include "gateway/event_log.hpp"
#include "gateway/relay/relayed_call.hpp"

namespace andon::gateway {

/// What becomes known of calls, for the journal, the log and the metrics. On the loop's thread.
class call_observer {
public:
    call_observer() = default;
    call_observer(const call_observer&) = delete;
    call_observer& operator=(const call_observer&) = delete;

    virtual void on_begun(const relayed_call& call) = 0;
    virtual void on_asked_to_stop(const relayed_call& call) = 0;
    virtual void on_ignored(const relayed_call& call) = 0;
    /// It is over, and whether it stopped is known.
    virtual void on_over(const relayed_call& call) = 0;
    /// It was heard of after it was taken for stopped: its entry is better than the one before.
    virtual void on_amended(const relayed_call& call) = 0;
    /// It was over, and goes on; and is over again, which is told in place of `on_amended`.
    virtual void on_resumed(const relayed_call& call) = 0;
    virtual void on_over_again(const relayed_call& call) = 0;
    virtual void on_late_message(const std::string& server) = 0;
    virtual void on_restart(const std::string& server) = 0;
    virtual void on_session(const std::string& server, bool begins) = 0;
    /// Processes, because they ignored a cancel.
    virtual void on_killed(const std::string& server, std::uint32_t processes) = 0;

protected:
    ~call_observer() = default;
};

/// All of it on the loop's thread.
class call_desk final : public control_desk {
public:
    explicit call_desk(call_observer& told) : told_(&told) {}

    /// Unique in this process; it is also the id of the request to the server.
    [[nodiscard]] std::uint64_t next_number() noexcept { return next_++; }

    void begun(const std::shared_ptr<relayed_call>& call);
    void asked_to_stop(const relayed_call& call) { told_->on_asked_to_stop(call); }
    void ignored(const relayed_call& call) { told_->on_ignored(call); }
    void over(const relayed_call& call);
    /// It was taken for stopped, and is not.
    void resumed(const std::shared_ptr<relayed_call>& call);
    void over_again(const relayed_call& call);
    void amended(const relayed_call& call) { told_->on_amended(call); }
    void late_message(const std::string& server) { told_->on_late_message(server); }
    void restarted(const std::string& server) { told_->on_restart(server); }
    void session_began(const std::string& server) { told_->on_session(server, true); }
    void session_ended(const std::string& server) { told_->on_session(server, false); }
    void killed(const std::string& server, std::uint32_t processes) { told_->on_killed(server, processes); }

    // Processes of servers, from their start until nothing is left of them; and the leave that is taken of one behind a
    // URL.

    void process_began() noexcept { ++processes_; }
    void process_ended();
    /// Once: when the last has ended, which may be now.
    void when_no_process_is_left(std::function<void()> told);

    /// Who runs servers says what they do.
    using upstream_lister = std::function<void(std::vector<upstream_view>&)>;
    void list_upstreams_by(upstream_lister lister) { lister_ = std::move(lister); }

    /// Where several servers share a log: what they write to standard error is named there.
    void name_server_output_in(event_log log) { server_log_ = log; }
    [[nodiscard]] const std::optional<event_log>& server_log() const noexcept { return server_log_; }

    [[nodiscard]] std::vector<relayed_call_view> calls() const override;
    [[nodiscard]] std::vector<relayed_call_view> stopped() const override;
    [[nodiscard]] std::vector<upstream_view> upstreams() const override;
    [[nodiscard]] std::vector<std::uint64_t> stop(const call_selection& which, std::string_view reason,
                                                  std::string_view asked_by,
                                                  std::function<void(const stopped_call&)> stopped) override;
    [[nodiscard]] std::size_t size() const noexcept { return calls_.size(); }
    /// Null: it is over.
    [[nodiscard]] std::shared_ptr<relayed_call> find(std::uint64_t number) const;

private:
    [[nodiscard]] std::vector<std::shared_ptr<relayed_call>> sorted() const;
    void forget(const relayed_call& call);
    void remember(const relayed_call& call);

    static constexpr std::size_t most_remembered = 100;
    static constexpr duration remembered_for = std::chrono::minutes(1);
    struct remembered {
        time_point since;
        relayed_call_view call;
    };

    call_observer* told_;
    std::uint64_t next_ = static_cast<std::uint64_t>(peer::first_id);
    std::unordered_map<std::uint64_t, std::shared_ptr<relayed_call>> calls_;
    std::unordered_multimap<std::uint64_t, std::function<void(const stopped_call&)>> waiting_;
    std::deque<remembered> stopped_;
    upstream_lister lister_;
    std::optional<event_log> server_log_;
    std::size_t processes_ = 0;
    std::function<void()> when_none_left_;
};

}  // namespace andon::gateway
