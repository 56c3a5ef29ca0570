// A request that is in flight, in the hands of whoever works on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "andon/core/cancel_token.hpp"
#include "andon/core/deadlines.hpp"
#include "andon/core/request_key.hpp"

namespace andon {

namespace detail {
class request;
class request_table;
}  // namespace detail

/// Owns one entry of the table. When it goes, the request is over: out of the table, its timer gone, its id free; what
/// it started is cancelled. It erases its own entry and no other: one that ends late never touches a newer request with
/// the same id. It must not outlive the in_flight that made it. All but finish() may be called from any thread.
class [[nodiscard]] active_request {
public:
    active_request() noexcept = default;
    active_request(const active_request&) = delete;
    active_request(active_request&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)), request_(std::exchange(other.request_, nullptr)) {}
    active_request& operator=(const active_request&) = delete;
    active_request& operator=(active_request&& other) noexcept {
        active_request finished(std::move(other));  // takes what we held along
        std::swap(table_, finished.table_);
        std::swap(request_, finished.request_);
        return *this;
    }
    ~active_request() { finish(unknown_time); }

    explicit operator bool() const noexcept { return request_ != nullptr; }

    [[nodiscard]] request_id_view id() const noexcept { return key().id; }
    [[nodiscard]] session_id session() const noexcept { return key().session; }
    /// What others cancel it by; the id in it lives as long as the request.
    [[nodiscard]] request_key key() const noexcept;
    [[nodiscard]] std::string_view label() const noexcept;
    [[nodiscard]] request_state state() const noexcept;
    [[nodiscard]] cancel_token token() const noexcept;

    cancel_result cancel(cancel_cause cause, std::string_view why, time_point now) noexcept;

    /// Claims the right to write the response (RCV-9). False: write nothing.
    [[nodiscard]] bool begin_response() noexcept;

    /// The peer showed progress: the idle clock starts again, the maximum does not (TIME-3, TIME-4).
    void progress(time_point now) noexcept;
    /// Sets other limits, counted from `now`; none where `now` is unknown_time.
    void limit(const time_limits& limits, time_point now);
    /// When it will be cancelled as things stand.
    [[nodiscard]] std::optional<time_point> deadline() const noexcept;

    /// For the outcome: the handler has seen the cancel (the first call counts), what died for it, what was not sent.
    void notice(time_point now) noexcept;
    void count_killed(std::uint32_t processes) noexcept;
    void count_discarded(std::uint32_t messages) noexcept;

    /// The work is over. What the destructor does, with the time: without it the outcome cannot say how long it took.
    /// May be called inside the request's own cancel callback: what is still queued ends the moment it is cancelled.
    void finish(time_point now) noexcept;

private:
    friend class in_flight;
    active_request(detail::request_table& table, detail::request& request) noexcept
        : table_(&table), request_(&request) {}

    detail::request_table* table_ = nullptr;
    detail::request* request_ = nullptr;
};

}  // namespace andon
