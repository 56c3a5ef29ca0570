// How a function or a coroutine of the user's becomes something the server can run.
#pragma once

#include <coroutine>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "andon/core/async.hpp"
#include "andon/wire/described.hpp"
#include "andon/wire/error.hpp"

namespace andon {

class call;

namespace detail {

/// A result on its way to the wire: the members of its object as JSON without the braces, `_meta` apart.
struct handler_result {
    std::string raw_members{};
    std::string raw_structured{};  ///< a tool's structuredContent, for revisions that have it
    json::object meta{};
    json::array contents{};  ///< a resource's, whose URIs are still to be filled in
    bool is_error = false;
};

/// A handler's coroutine whose type nobody needs to know any more.
struct coroutine_run {
    std::coroutine_handle<> frame = nullptr;
    async_promise_base* promise = nullptr;
    handler_result (*take)(async_promise_base&) = nullptr;
};

struct handler {
    std::function<handler_result(json::value&&, call&)> blocking{};  // either this
    std::function<coroutine_run(json::value&&, call&)> coroutine{};  // or this
};

template <class T>
struct signature;
template <class R, class A>
struct signature<R(A, call&)> {
    using result = R;
    using argument = A;
};
template <class R>
struct signature<R(call&)> {
    using result = R;
    using argument = void;
};
template <class R, class... P>
struct signature<R (*)(P...)> : signature<R(P...)> {};
template <class R, class C, class... P>
struct signature<R (C::*)(P...)> : signature<R(P...)> {};
template <class R, class C, class... P>
struct signature<R (C::*)(P...) const> : signature<R(P...)> {};
template <class F>
requires requires { &F::operator(); }
struct signature<F> : signature<decltype(&F::operator())> {};

template <class A>
std::remove_cvref_t<A> arguments_from(json::value&& given) {
    using plain = std::remove_cvref_t<A>;
    if constexpr (std::is_same_v<plain, json::value>) {
        return std::move(given);
    } else if constexpr (std::is_same_v<plain, json::object>) {
        if (!given.is_object()) throw invalid_arguments("arguments: expected an object");
        return std::move(given.get_object());
    } else {
        return from_json<plain>(given);
    }
}

/// `As`: what the handler's result is turned into, and what then knows how to be written.
template <class As, class T>
handler_result take_result(async_promise_base& base) {
    auto& promise = static_cast<async_promise<T>&>(base);
    if constexpr (std::is_void_v<T>) {
        promise.take();
        return As().written();
    } else {
        return As(promise.take()).written();
    }
}

template <class As, class F>
handler handler_from(F f) {
    using result = typename signature<F>::result;
    using argument = typename signature<F>::argument;
    auto invoke = [f = std::move(f)](json::value&& given, call& c) mutable -> result {
        if constexpr (std::is_void_v<argument>) {
            return f(c);
        } else {
            return f(arguments_from<argument>(std::move(given)), c);
        }
    };
    if constexpr (is_async<result>::value) {
        static_assert(std::is_void_v<argument> || !std::is_reference_v<argument>,
                      "a coroutine takes its arguments by value: a reference would dangle while it waits");
        return {.coroutine = [invoke = std::move(invoke)](json::value&& given, call& c) mutable {
            const auto frame = invoke(std::move(given), c).release();
            return coroutine_run{frame, &frame.promise(), take_result<As, typename result::value_type>};
        }};
    } else {
        return {.blocking = [invoke = std::move(invoke)](json::value&& given, call& c) mutable {
            if constexpr (std::is_void_v<result>) {
                invoke(std::move(given), c);
                return As().written();
            } else {
                return As(invoke(std::move(given), c)).written();
            }
        }};
    }
}

}  // namespace detail

}  // namespace andon
