// What becomes of calls, written down: in the log, in the journal and in the figures.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "gateway/event_log.hpp"
#include "gateway/journal/journal.hpp"
#include "gateway/metrics.hpp"
#include "gateway/relay/call_desk.hpp"

namespace andon::gateway {

struct configuration;

/// On the loop's thread.
class call_records final : public call_observer {
public:
    explicit call_records(const configuration& config);

    [[nodiscard]] const event_log& log() const noexcept { return log_; }
    [[nodiscard]] relay_metrics& figures() noexcept { return figures_; }
    /// As Prometheus reads it.
    [[nodiscard]] std::string figures_text();

    void on_begun(const relayed_call& call) override;
    void on_asked_to_stop(const relayed_call& call) override;
    void on_ignored(const relayed_call& call) override;
    void on_over(const relayed_call& call) override;
    void on_amended(const relayed_call& call) override;
    void on_resumed(const relayed_call& call) override { of(call.server()).cancelled_resumed(); }
    void on_over_again(const relayed_call& call) override;
    void on_late_message(const std::string& server) override { of(server).late_dropped(); }
    void on_restart(const std::string& server) override { of(server).restarted(); }
    void on_session(const std::string& server, bool begins) override;
    void on_killed(const std::string& server, std::uint32_t processes) override { of(server).killed(processes); }

private:
    [[nodiscard]] server_metrics& of(const std::string& server);

    event_log log_;
    relay_metrics figures_;
    std::unordered_map<std::string, server_metrics*> known_;
    bool every_call_;
    std::unique_ptr<journal> journal_;  // null: none is wanted
};

}  // namespace andon::gateway
