// One host in front of one server: two peers back to back.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway/relay/dialect.hpp"
#include "gateway/relay/lane.hpp"
#include "gateway/relay/waiting_calls.hpp"
#include "server/http_service.hpp"
#include "transport/conversation.hpp"

namespace andon::gateway {

class call_desk;

/// The host speaks to us as it would to the server, and the server as to the host. Whatever needs no change is passed
/// on as it came; ids and progress tokens are ours on the server's side, so that two hosts, or two processes, can never
/// mean each other's requests, and so that an answer that comes too late finds nobody. What each says to the other is a
/// dialect's business; a relay that may translate finds out which one is needed:
///
///   - a legacy host's initialize is passed on; if the server refuses it and answers server/discover, it is modern;
///   - before the first modern request the server is asked what it speaks.
///
/// On the loop's thread.
class relay final : public std::enable_shared_from_this<relay>,
                    public detail::conversation::owner,
                    public detail::http_service::guest,
                    private lane::host {
public:
    struct settings {
        std::string session;                 ///< for people
        std::function<void()> on_end{};      ///< the host is gone
        std::function<void()> on_refused{};  ///< there was no handshake: initialize failed
        bool stateless = false;              ///< the host is many: each request has a scope of its own
        /// Asked before the first modern request which era the server speaks; empty: nothing is translated.
        std::function<void(std::function<void(std::optional<era>, const std::string&)>)> ask_era{};
    };

    relay(std::shared_ptr<detail::conversation::surroundings> around, call_desk& desk, const server_config& server,
          lane::settings over, std::unique_ptr<transport> from, settings how);
    ~relay();

    /// Before the first message. Throws where the server cannot be started; without this it is with the first request.
    void start_server() { lane_.start(); }
    void open() { host_->open(); }
    [[nodiscard]] detail::conversation& talk() noexcept override { return *host_; }
    [[nodiscard]] const lane& way() const noexcept { return lane_; }
    void close(cancel_cause cause, std::string_view why) override;
    [[nodiscard]] bool accepted() const noexcept override { return true; }

private:
    void on_request(detail::incoming_request request, const envelope& message) override;
    void on_notification(const envelope& message) override;
    void on_established() override {}
    void on_crowded(bool crowded) override;
    void on_ended(std::string_view why) override;
    void on_server_request(upstream& from, detail::incoming_request request, const envelope& message) override;
    void on_server_notification(upstream& from, const envelope& message) override;
    void on_server_ready(upstream& which, bool shared) override;
    void on_server_crowded(bool crowded) override;

    [[nodiscard]] peer_settings host_settings() const;
    [[nodiscard]] dialect_surroundings surroundings();
    [[nodiscard]] bool speak_modern_to_server(relayed_call& initialize, const envelope& refused);
    void learnt_era(std::optional<era> which, const std::string& why);
    void handshake_over(const relayed_call& initialize);

    std::shared_ptr<detail::conversation::surroundings> around_;
    call_desk* desk_;
    const server_config* server_;
    settings how_;
    std::shared_ptr<const call_origin> origin_;
    std::shared_ptr<detail::conversation> host_;
    lane lane_;
    std::shared_ptr<dialect> dialect_;  // null: it is not known yet which
    std::shared_ptr<dialect> former_;   // what is in flight may still ask it for its words
    waiting_calls undecided_;           // until it is
    bool asking_ = false;
    bool shaken_ = false;  // hands, once
};

}  // namespace andon::gateway
