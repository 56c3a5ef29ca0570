// What the relay is to do with a message that was translated. Nothing here has an id: the relay maps those.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <variant>

#include "andon/wire/error.hpp"

namespace andon::gateway {

/// A request to the server.
struct forward {
    std::string method;
    std::string raw_params;
};

/// A result for the client.
struct answer {
    std::string raw_result;
};

/// An error for the client, which says what to do about it.
struct refusal {
    int code = error_code::internal_error;
    std::string message{};
    json::value data{};
    /// To be sent to the server, whose answer nobody waits for: it ends work that was begun and is nobody's now.
    std::optional<forward> afterwards{};
};

using reply = std::variant<answer, refusal>;

struct notification {
    std::string method;
    std::string raw_params;  ///< empty: it has none
};

}  // namespace andon::gateway
