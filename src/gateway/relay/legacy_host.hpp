// A legacy host in front of a modern server.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "gateway/relay/dialect.hpp"
#include "gateway/translation/legacy_to_modern.hpp"

namespace andon::gateway {

/// The host's session is ours; the server knows requests only. What it tells of changes comes on a subscription of
/// ours, which is begun anew whenever the host wants to hear of something else.
class legacy_host final : public dialect {
public:
    explicit legacy_host(dialect_surroundings with) : with_(std::move(with)), pause_(with_.loop) {}
    ~legacy_host() override;

    /// Whether what the server answered to it shows that it is a modern one is known only by asking: the call is sent
    /// again as server/discover. `raw_refused`: what the host gets if that fails too.
    static bool shake_hands(const std::shared_ptr<legacy_host>& self, relayed_call& initialize,
                            std::string raw_refused);

    void on_request(const std::shared_ptr<relayed_call>& call) override;
    void on_notification(const envelope& message) override;
    void on_server_request(upstream& /*from*/, detail::incoming_request /*request*/,
                           const envelope& /*message*/) override {}
    void on_server_notification(upstream& from, const envelope& message) override;
    void on_server_ready(upstream& which, bool shared) override;

private:
    void carry_out(listen_step step, const std::shared_ptr<relayed_call>& asked);
    void wait_for(std::uint64_t number, const std::shared_ptr<relayed_call>& asked);
    void listen(const listen_step::listen& what);
    void listen_later(const listen_step::listen& what);
    void over(std::uint64_t number, std::string_view raw_error);
    static void reply_to(relayed_call& call, const gateway::reply& with);
    [[nodiscard]] std::optional<rewritten_answer> translated(const std::string& method, const envelope& message);
    void send_and_forget(const forward& what);

    struct subscription {
        std::uint64_t number;
        std::shared_ptr<detail::outgoing_call> request;
    };

    dialect_surroundings with_;
    std::optional<legacy_to_modern> words_;
    std::weak_ptr<upstream> server_;
    std::map<std::int64_t, subscription> listening_;                            // by the id of the request
    std::unordered_map<std::uint64_t, std::shared_ptr<relayed_call>> waiting_;  // for the answer to a listen
    detail::event_loop::timer pause_;
    std::vector<listen_step::listen> after_pause_;
    duration next_pause_ = std::chrono::milliseconds(500);
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace andon::gateway
