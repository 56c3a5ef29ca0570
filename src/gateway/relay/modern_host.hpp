// Modern hosts in front of a legacy server.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "gateway/relay/dialect.hpp"
#include "gateway/translation/modern_to_legacy.hpp"

namespace andon::gateway {

/// The hosts have no session; the server has one, which is ours, and shared by them. It does not say to which request a
/// log message belongs: so one is passed on only while there is no doubt, with a single request in flight, and none
/// that was asked to stop and may be at work still.
class modern_host final : public dialect {
public:
    explicit modern_host(dialect_surroundings with) : with_(std::move(with)) {}

    void on_request(const std::shared_ptr<relayed_call>& call) override;
    void on_notification(const envelope& /*message*/) override {}
    void on_server_request(upstream& from, detail::incoming_request request, const envelope& message) override;
    void on_server_notification(upstream& from, const envelope& message) override;
    void on_server_ready(upstream& which, bool shared) override;

private:
    /// In the moment before it is sent. False: it was dealt with here.
    [[nodiscard]] bool translate(relayed_call& call, upstream& to);
    void begin_listening(const std::shared_ptr<relayed_call>& call);
    void carry_out(const subscription_step& step);
    [[nodiscard]] std::optional<rewritten_answer> translated(const std::string& method, const envelope& message);

    dialect_surroundings with_;
    bool introduced_ = false;  // what the server is told in its handshake is known
    std::optional<modern_to_legacy> words_;
    std::weak_ptr<upstream> server_;
    std::unordered_map<std::uint64_t, message_level> log_levels_;                 // of calls in flight
    std::unordered_map<std::uint64_t, std::shared_ptr<relayed_call>> listening_;  // subscriptions/listen
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

/// Nobody can be asked: only `ping` has an answer.
void refuse_server_request(upstream& from, detail::incoming_request request, const envelope& message);

}  // namespace andon::gateway
