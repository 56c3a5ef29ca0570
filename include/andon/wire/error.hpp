// An error as it goes over the wire.
#pragma once

#include <boost/json/value.hpp>
#include <stdexcept>
#include <string>

namespace andon {

namespace json = boost::json;

namespace error_code {
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal_error = -32603;
inline constexpr int resource_not_found = -32002;  ///< up to 2025-11-25; later invalid_params
inline constexpr int request_cancelled = -32800;   ///< up to 2025-11-25, where a body is waited for (HTTP-3)
// Since 2026-07-28.
inline constexpr int header_mismatch = -32020;
inline constexpr int missing_client_capability = -32021;
inline constexpr int unsupported_version = -32022;
}  // namespace error_code

/// Thrown by a handler it becomes the error response; caught by a caller it is what the peer answered.
class rpc_error : public std::runtime_error {
public:
    rpc_error(int code, const std::string& message, json::value data = nullptr)
        : std::runtime_error(message), code_(code), data_(std::move(data)) {}

    [[nodiscard]] int code() const noexcept { return code_; }
    [[nodiscard]] const json::value& data() const noexcept { return data_; }

private:
    int code_;
    json::value data_;
};

}  // namespace andon
