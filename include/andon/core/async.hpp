// A coroutine: work that waits without holding a thread.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace andon {

template <class T = void>
class async;

namespace detail {

/// What all of them have: who goes on when it is over.
struct async_promise_base {
    std::coroutine_handle<> waiting = nullptr;       // a coroutine that awaits us, or
    void (*over)(void* context) noexcept = nullptr;  // whoever started us
    void* context = nullptr;
    std::exception_ptr failure = nullptr;

    struct last_step {
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
            async_promise_base& promise = self.promise();
            if (promise.waiting) return promise.waiting;
            // Last: it may destroy the coroutine.
            if (promise.over != nullptr) promise.over(promise.context);
            return std::noop_coroutine();
        }
        void await_resume() const noexcept {}
    };
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] last_step final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { failure = std::current_exception(); }
};

template <class T>
struct async_promise : async_promise_base {
    std::optional<T> value;
    async<T> get_return_object() noexcept;
    template <class U>
    requires std::convertible_to<U, T>
    void return_value(U&& result) { value.emplace(std::forward<U>(result)); }
    T take() {
        if (failure) std::rethrow_exception(failure);
        return std::move(*value);
    }
};

template <>
struct async_promise<void> : async_promise_base {
    async<void> get_return_object() noexcept;
    void return_void() const noexcept {}
    void take() const {
        if (failure) std::rethrow_exception(failure);
    }
};

}  // namespace detail

/// Starts when it is awaited, and runs on the thread that resumes it: that of the server's or client's I/O. So it must
/// not block there; what it awaits through `call` wakes it when a cancel arrives. Its parameters must be values:
/// references would outlive what they refer to (`call&` is good until it returns).
template <class T>
class [[nodiscard]] async {
public:
    using promise_type = detail::async_promise<T>;
    using value_type = T;

    async() noexcept = default;
    explicit async(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
    async(async&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    async& operator=(async&& other) noexcept {
        std::swap(frame_, other.frame_);
        return *this;
    }
    async(const async&) = delete;
    async& operator=(const async&) = delete;
    ~async() {
        if (frame_) frame_.destroy();
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) noexcept {
        frame_.promise().waiting = waiting;
        return frame_;
    }
    T await_resume() { return frame_.promise().take(); }

    /// Gives the coroutine away: whoever has it starts it, and destroys it when it is over.
    std::coroutine_handle<promise_type> release() noexcept { return std::exchange(frame_, nullptr); }

private:
    std::coroutine_handle<promise_type> frame_ = nullptr;
};

template <class T>
async<T> detail::async_promise<T>::get_return_object() noexcept {
    return async<T>(std::coroutine_handle<async_promise>::from_promise(*this));
}

inline async<void> detail::async_promise<void>::get_return_object() noexcept {
    return async<void>(std::coroutine_handle<async_promise>::from_promise(*this));
}

namespace detail {
template <class T>
struct is_async : std::false_type {};
template <class T>
struct is_async<async<T>> : std::true_type {};
}  // namespace detail

}  // namespace andon
