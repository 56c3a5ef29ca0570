// To be told of changes: ask once, and hear until somebody ends it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "andon/core/time.hpp"
#include "andon/wire/error.hpp"

namespace andon {

namespace detail {
class subscription_state;
}

/// What to be told of.
struct subscription_filter {
    bool tools = false;                ///< that the list of tools has changed
    bool prompts = false;              ///<
    bool resources = false;            ///<
    std::vector<std::string> uris{};   ///< that these resources have changed
    std::vector<std::string> tasks{};  ///< how these tasks get on (2026-07-28)
};

/// Who ended a subscription, and whether it is worth to listen again.
struct subscription_end {
    enum class by : std::uint8_t {
        us,          ///<
        server,      ///< it has closed it, and may be asked again
        connection,  ///< it broke; with `listen_again`, there is another one to be had
        refusal,     ///< the server does not want to, or cannot
    };
    by who = by::us;
    bool again = false;    ///< whether listening again may help
    std::string reason{};  ///<
    int code = 0;          ///< with refusal
};

[[nodiscard]] std::string_view to_string(subscription_end::by who) noexcept;

/// All of them are called on the client's thread.
struct subscription_options {
    std::function<void(std::string_view method, const json::object& params)> on_event{};
    /// The server has agreed, to this much. Whatever was to be heard before was missed: look how things are.
    std::function<void(const json::object& agreed)> on_listening{};
    /// Once, when it is over for good.
    std::function<void(const subscription_end&)> on_end{};
    /// After an end that allows it, listens again, at growing intervals, until it is ended by us.
    bool listen_again = false;
    duration first_pause = std::chrono::milliseconds(100);
    duration longest_pause = std::chrono::seconds(30);
};

/// The handle of one subscription; dropping it ends it. `subscriptions/listen` since 2026-07-28; before,
/// `resources/subscribe`, and what every session hears of anyway. From any thread.
class [[nodiscard]] subscription {
public:
    explicit subscription(std::shared_ptr<detail::subscription_state> state) noexcept : state_(std::move(state)) {}
    subscription(subscription&&) noexcept = default;
    subscription& operator=(subscription&& other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    subscription(const subscription&) = delete;
    subscription& operator=(const subscription&) = delete;
    ~subscription();

    /// Blocks until the server has agreed; what to. Throws where it ended before. Not on the client's own thread.
    [[nodiscard]] json::object agreed() const;
    /// Ends it (SUB-1). Nothing is told any more once it returns on the client's thread, or has returned on another
    /// and the callback that may run just then is over. False: it was over.
    bool end(std::string_view reason = {});
    [[nodiscard]] bool done() const noexcept;
    /// Blocks until it is over. Not on the client's own thread.
    [[nodiscard]] subscription_end get() const;

private:
    std::shared_ptr<detail::subscription_state> state_;
};

}  // namespace andon
