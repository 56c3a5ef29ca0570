// A function that runs when the work is cancelled.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "andon/core/cancel_token.hpp"

namespace andon {

/// Runs `f` exactly once when the cancel takes effect: on the cancelling thread, outside every lock; at once, here, if
/// it took effect before. The object is the registration: no allocation, and once its destructor has returned the
/// function is not running and never will be. Destroyed while the function runs on another thread it waits for it;
/// destroyed inside its own function it does not. The function must not throw.
template <std::invocable F>
class [[nodiscard]] cancel_callback : private detail::callback_node {
public:
    template <class G>
    requires std::constructible_from<F, G> cancel_callback(cancel_token token, G&& f)
    noexcept(std::is_nothrow_constructible_v<F, G>)
        : callback_node(&invoke), token_(std::move(token)), f_(std::forward<G>(f)) {
        if (token_.state() != nullptr && !token_.state()->add_callback(*this)) invoke(*this);
    }
    cancel_callback(const cancel_callback&) = delete;
    cancel_callback& operator=(const cancel_callback&) = delete;
    ~cancel_callback() {
        if (token_.state() != nullptr) token_.state()->remove_callback(*this);
    }

private:
    static void invoke(callback_node& node) noexcept { static_cast<cancel_callback&>(node).f_(); }

    cancel_token token_;
    F f_;
};

template <class G>
cancel_callback(cancel_token, G) -> cancel_callback<G>;

}  // namespace andon
