// A session: the scope of ids, and the root of what is cancelled together.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "andon/core/cancel_token.hpp"
#include "andon/core/request_key.hpp"

namespace andon {

namespace detail {
class request_table;
class session_record;
}  // namespace detail

/// Opened by in_flight::open_session(). Closing it cancels everything in it and refuses what comes after; a handle that
/// goes away closes with the cause "disconnect". It must not outlive the in_flight that made it.
class [[nodiscard]] session {
public:
    session(const session&) = delete;
    session(session&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)), record_(std::exchange(other.record_, nullptr)) {}
    session& operator=(const session&) = delete;
    session& operator=(session&& other) noexcept {
        session closed(std::move(other));  // takes what we held along
        std::swap(table_, closed.table_);
        std::swap(record_, closed.record_);
        return *this;
    }
    ~session();

    [[nodiscard]] session_id id() const noexcept;
    /// How many requests are in flight, in both directions.
    [[nodiscard]] std::size_t size() const noexcept;
    /// Cancelled when the session closes: for what belongs to the session and to no request.
    [[nodiscard]] cancel_token token() const noexcept;

    void close(cancel_cause cause, std::string_view why, time_point now) noexcept;

private:
    friend class in_flight;
    session(detail::request_table& table, detail::session_record& record) noexcept : table_(&table), record_(&record) {}

    detail::request_table* table_;
    detail::session_record* record_;
};

}  // namespace andon
