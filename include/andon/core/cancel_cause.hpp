// Who or what stopped a request.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace andon {

enum class cancel_cause : std::uint8_t {
    peer,        ///< the side that sent the request cancelled it
    timeout,     ///< a deadline passed
    disconnect,  ///< the connection is gone
    shutdown,    ///< this program is leaving
    parent,      ///< the request that started this one was cancelled or ended
    operator_,   ///< a person at the controls: `andon stop`, the board
};

inline constexpr std::array all_causes{cancel_cause::peer,     cancel_cause::timeout, cancel_cause::disconnect,
                                       cancel_cause::shutdown, cancel_cause::parent,  cancel_cause::operator_};

[[nodiscard]] constexpr std::string_view to_string(cancel_cause cause) noexcept {
    switch (cause) {
        case cancel_cause::peer: return "peer";
        case cancel_cause::timeout: return "timeout";
        case cancel_cause::disconnect: return "disconnect";
        case cancel_cause::shutdown: return "shutdown";
        case cancel_cause::parent: return "parent";
        case cancel_cause::operator_: return "operator";
    }
    return "?";
}

}  // namespace andon
