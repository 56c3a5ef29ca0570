// Which era a server speaks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "gateway/relay/upstream.hpp"

namespace andon::gateway {

/// Asked once: a process of the server is started for it, shakes hands, and is let go. On the loop's thread.
class era_probe final : private upstream::events {
public:
    era_probe(std::shared_ptr<detail::conversation::surroundings> around, call_desk& desk, const server_config& server,
              upstream::connector instead = {})
        : around_(std::move(around)), desk_(&desk), server_(&server), instead_(std::move(instead)) {}
    ~era_probe();

    /// Nothing: it could not be found out this time, for that reason.
    using told = std::function<void(std::optional<era>, const std::string& why)>;
    void ask(told then);

private:
    void on_ready(upstream& which) override;
    void on_server_request(upstream& which, detail::incoming_request request, const envelope& message) override;
    void on_server_notification(upstream& /*which*/, const envelope& /*message*/) override {}
    void on_ignored(upstream& /*which*/, relayed_call& /*call*/) override {}
    void on_gone(upstream& which, const std::string& why) override;
    void settle(std::optional<era> which, const std::string& why = {});

    std::shared_ptr<detail::conversation::surroundings> around_;
    call_desk* desk_;
    const server_config* server_;
    upstream::connector instead_;
    std::optional<era> known_;
    std::shared_ptr<upstream> asked_;
    std::vector<told> waiting_;
    // After a failure: not again before that, which is later each time.
    time_point next_try_{};
    duration pause_{};
    std::string why_;
};

}  // namespace andon::gateway
