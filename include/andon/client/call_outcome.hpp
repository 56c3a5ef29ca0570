// What became of a call.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "andon/wire/error.hpp"

namespace andon {

/// Told apart, because the user of a program wants to know: did I stop it, was it too slow, did it fail? (SND-2)
enum class call_status : std::uint8_t {
    completed,     ///< the peer answered
    failed,        ///< the peer answered with an error
    cancelled,     ///< we stopped waiting, because somebody on our side said so
    timed_out,     ///< we stopped waiting, because it took too long
    disconnected,  ///< there is no peer any more
};

[[nodiscard]] constexpr std::string_view to_string(call_status status) noexcept {
    switch (status) {
        case call_status::completed: return "completed";
        case call_status::failed: return "failed";
        case call_status::cancelled: return "cancelled";
        case call_status::timed_out: return "timed out";
        case call_status::disconnected: return "disconnected";
    }
    return "?";
}

struct call_outcome {
    call_status status = call_status::completed;
    json::value result{};   ///< with completed
    int code = 0;           ///< with failed
    std::string message{};  ///< with failed: the peer's; with cancelled, timed out and disconnected: why
    json::value data{};     ///< with failed

    [[nodiscard]] bool completed() const noexcept { return status == call_status::completed; }
};

}  // namespace andon
