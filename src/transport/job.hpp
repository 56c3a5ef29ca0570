// Something to be done once, later, by another thread.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

namespace andon::detail {

/// A function that may own what cannot be copied; std::function cannot hold one.
class job {
public:
    job() noexcept = default;
    template <class F>
    requires(!std::same_as<F, job>) job(F f)  // NOLINT(google-explicit-constructor)
        : held_(std::make_unique<holder<F>>(std::move(f))) {}

    explicit operator bool() const noexcept { return held_ != nullptr; }
    void operator()() { held_->run(); }

private:
    struct base {
        base() = default;
        base(const base&) = delete;
        base& operator=(const base&) = delete;
        virtual ~base() = default;
        virtual void run() = 0;
    };
    template <class F>
    struct holder final : base {
        explicit holder(F g) : f(std::move(g)) {}
        void run() override { f(); }
        F f;
    };

    std::unique_ptr<base> held_;
};

}  // namespace andon::detail
