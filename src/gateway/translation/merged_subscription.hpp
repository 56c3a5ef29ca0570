// What a legacy client is to be told of, as one subscription to a modern server.
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

/// What the relay is to do about subscriptions, in this order.
struct listen_step {
    struct listen {
        std::uint64_t number = 0;  ///< by which the relay speaks of it: never used twice
        std::string raw_params{};  ///< of subscriptions/listen
        bool after_pause = false;  ///< one that grows with each time: the server has ended the one before
    };

    /// To the client's request that led to the listen of this step or event. None: that request waits for the
    /// acknowledged() or ended() of `begin`; or there is no such request.
    std::optional<gateway::reply> reply{};
    std::optional<listen> begin{};
    std::vector<std::uint64_t> end{};  ///< cancel these: nothing of them is passed on any more
    std::vector<notification> tell{};  ///< the client: changes may have been missed
};

/// A legacy client hears of lists without asking, and of resources one by one as it subscribes to them; a modern server
/// tells what one filter says that cannot be changed later. So each change begins a new subscription with the whole
/// filter, and only when that is acknowledged the one before it ends: no change falls between them, though one may be
/// told twice. A request of the client that led to it is answered then, and by what the server agreed to.
///
/// Several may be on their way at once; the newest that was acknowledged is the one that counts.
class merged_subscription {
public:
    static constexpr std::size_t most_uris = 1'000;
    static constexpr std::size_t longest_uri = 8'192;

    /// `raw_meta` is that of every request of ours.
    merged_subscription(const announced_changes& offered, std::string raw_meta);

    /// Once the client is initialized; nothing where the server tells of no list.
    [[nodiscard]] listen_step begin();
    [[nodiscard]] listen_step subscribe(const std::string& uri);
    [[nodiscard]] listen_step unsubscribe(const std::string& uri);

    /// notifications/subscriptions/acknowledged came for it.
    [[nodiscard]] listen_step acknowledged(std::uint64_t number, std::string_view raw_params);
    /// It was answered, with `raw_error` or without, or cancelled by the server, or its connection is gone. Not for one
    /// that was to end.
    [[nodiscard]] listen_step ended(std::uint64_t number, std::string_view raw_error);
    /// The server is another process now, and the relay has answered what it had asked the one before.
    [[nodiscard]] listen_step begin_again();

    /// Whether the client is to hear of this change.
    [[nodiscard]] bool wants(std::string_view method, std::string_view raw_params) const;

private:
    enum class why : std::uint8_t { lists, subscribe, unsubscribe, again };
    struct attempt {
        why because;
        std::string uri;  // of subscribe
    };

    [[nodiscard]] listen_step::listen attempt_for(why because, const std::string& uri = {});
    [[nodiscard]] gateway::reply reply_to(const attempt& made) const;
    void forget(const attempt& made);

    announced_changes offered_;
    std::string raw_meta_;
    listen_filter wanted_;
    listen_filter agreed_;                    // by the server, of the one that counts
    std::map<std::uint64_t, attempt> asked_;  // and not acknowledged
    std::uint64_t counts_ = 0;                // 0: none
    std::uint64_t last_ = 0;
    bool missed_ = false;  // there was a time when nothing was listened to
};

}  // namespace andon::gateway
