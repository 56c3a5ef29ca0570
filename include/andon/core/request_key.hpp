// What names a request: its session, its direction and its id (rules DIR-1, DIR-6).
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "andon/core/request_id.hpp"

namespace andon {

/// Names one session of one table. Never used again, so that a stale one finds nothing.
enum class session_id : std::uint64_t {};

/// Who issued the request, as seen from here: ids of the two directions never meet.
enum class direction : std::uint8_t {
    incoming,  ///< the peer asked us
    outgoing,  ///< we asked the peer
};

[[nodiscard]] constexpr std::string_view to_string(direction way) noexcept {
    return way == direction::incoming ? "incoming" : "outgoing";
}

struct request_key {
    session_id session;
    direction way;
    request_id_view id;

    friend bool operator==(const request_key&, const request_key&) noexcept = default;
};

}  // namespace andon
