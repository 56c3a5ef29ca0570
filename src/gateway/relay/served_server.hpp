// One server behind the gateway, as its HTTP endpoint sees it.
#pragma once

#include <list>
#include <memory>

#include "gateway/relay/era_probe.hpp"
#include "gateway/relay/relay.hpp"
#include "server/http_service.hpp"

namespace andon::gateway {

class call_desk;

/// A legacy session has a relay, and a process of the server, to itself. Modern requests, which belong to no session,
/// share a relay and a few processes.
class served_server final : public detail::http_service {
public:
    served_server(std::shared_ptr<detail::conversation::surroundings> around, call_desk& desk,
                  const server_config& server);

    [[nodiscard]] detail::conversation::surroundings& around() noexcept override { return *around_; }
    [[nodiscard]] const limits& bounds() const noexcept override { return bounds_; }
    [[nodiscard]] std::shared_ptr<guest> open(std::unique_ptr<transport> over, std::string_view id,
                                              std::function<void()> ended) override;

    void list(std::vector<upstream_view>& views) const;

private:
    std::shared_ptr<detail::conversation::surroundings> around_;
    call_desk* desk_;
    const server_config* server_;
    limits bounds_{.lone_surrogates = true};
    upstream::connector to_url_;  // empty: it is a command
    std::shared_ptr<own_rates> computes_ = std::make_shared<own_rates>();
    era_probe probe_;
    std::list<std::weak_ptr<relay>> relays_;
};

}  // namespace andon::gateway
