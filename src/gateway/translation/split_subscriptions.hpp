// The subscriptions of modern clients, in front of a legacy server.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/translation/listen_filter.hpp"
#include "gateway/translation/step.hpp"

namespace andon::gateway {

/// A notification on the stream of one subscription.
struct told {
    std::uint64_t subscription = 0;  ///< the relay's number for it
    notification what;
};

/// What the relay is to do, in this order.
struct subscription_step {
    /// Requests to the server, in their order: where the transport does not keep it, each waits for the answer to the
    /// one before. Of a resources/subscribe the relay reports the answer to answered(); that to resources/unsubscribe
    /// is nobody's.
    struct request {
        std::string uri;
        bool subscribe = true;
        forward what;
    };
    std::vector<request> requests{};
    std::vector<told> tell{};
    std::optional<refusal> refused{};
};

/// Legacy servers tell of their lists without being asked, and of a resource once to a session, however many ask for
/// it. So the first subscription to a resource subscribes, and the last one that ends unsubscribes; every change goes
/// to those that asked for it, with their own id. A subscription is acknowledged when the server has answered for each
/// of its resources, and without those that it refused.
class split_subscriptions {
public:
    static constexpr std::size_t most_uris = 1'000;  ///< of one subscription
    static constexpr std::size_t most_uris_of_all = 10'000;

    explicit split_subscriptions(const announced_changes& offered) : offered_(offered) {}

    /// `number` is the relay's, `raw_id` that of the client's request.
    [[nodiscard]] subscription_step listen(std::uint64_t number, std::string_view raw_id, std::string_view raw_params);
    /// The server has answered resources/subscribe.
    [[nodiscard]] subscription_step answered(const std::string& uri, bool agreed);
    /// The client has cancelled it, or is gone.
    [[nodiscard]] subscription_step end(std::uint64_t number);
    /// The server is another process now: it is asked for all of it again, and everybody is told that anything may have
    /// changed.
    [[nodiscard]] subscription_step begin_again();

    [[nodiscard]] std::vector<told> change(std::string_view method, std::string_view raw_params) const;

private:
    struct subscription {
        std::string raw_id;
        listen_filter filter;
        std::size_t waits_for = 0;  // answers of the server
        bool acknowledged = false;
    };
    struct resource {
        std::set<std::uint64_t> listeners;
        bool asked = false;  // its answer is to come
        bool agreed = false;
    };

    [[nodiscard]] static subscription_step::request to_server(const std::string& uri, bool subscribe);
    [[nodiscard]] static told on_stream(std::uint64_t number, const subscription& of, const notification& what);
    void acknowledge_if_complete(std::uint64_t number, subscription& one, subscription_step& step);

    announced_changes offered_;
    std::map<std::uint64_t, subscription> subscriptions_;
    std::map<std::string, resource, std::less<>> resources_;
};

}  // namespace andon::gateway
