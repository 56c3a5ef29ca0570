// What Streamable HTTP repeats in headers, so that whoever stands between need not read the body (2026-07-28).
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andon/wire/error.hpp"

namespace andon {

namespace header {
inline constexpr std::string_view protocol_version = "mcp-protocol-version";
inline constexpr std::string_view method = "mcp-method";
inline constexpr std::string_view name = "mcp-name";
inline constexpr std::string_view param_prefix = "mcp-param-";
inline constexpr std::string_view session_id = "mcp-session-id";
inline constexpr std::string_view last_event_id = "last-event-id";
}  // namespace header

/// As the value of `mcp-name` or `mcp-param-*`: itself where that is safe, else `=?base64?...?=`. What is empty, has a
/// tab, or looks as if it were encoded is encoded too.
[[nodiscard]] std::string encoded_header_value(std::string_view utf8);
/// The value that was meant; spaces around it do not count. Nothing where it has characters that no header may have, or
/// is encoded and not in base64 or not UTF-8.
[[nodiscard]] std::optional<std::string> decoded_header_value(std::string_view value);

/// A parameter of a tool that is mirrored into a header: an `x-mcp-header` in the tool's schema.
struct param_header {
    enum class kind : std::uint8_t { string, integer, boolean };

    std::string name;               ///< what follows `mcp-param-`, as the tool spells it
    std::vector<std::string> path;  ///< from the arguments to the value
    kind type = kind::string;

    /// `Mcp-Param-` and the name.
    [[nodiscard]] std::string header() const;
};

struct param_headers {
    std::vector<param_header> all{};
    std::string error{};  ///< not empty: the tool is not to be offered, and why
};
/// Deeper than this no parameter is mirrored: a tool that asks for it is in error.
inline constexpr std::size_t deepest_param = 32;
/// What the input schema of a tool asks for. An annotation that breaks any rule of the transport page is an error,
/// wherever in the schema it is. References are not followed, and what stands beside one is not reachable.
[[nodiscard]] param_headers read_param_headers(const json::object& input_schema);

/// What the header of a parameter has to say, before it is encoded.
struct param_text {
    std::optional<std::string> text{};  ///< nothing: the arguments have no value there, or null, and there is no header
    std::string error{};                ///< not empty: it is of another type, or an integer beyond ±(2^53 - 1)
};
[[nodiscard]] param_text param_value(const param_header& which, const json::object& arguments);

/// Empty where header and body agree. Else what to say with error_code::header_mismatch.
[[nodiscard]] std::string mismatch(const param_header& which, std::optional<std::string_view> header_value,
                                   const json::object& arguments);
/// The same for the standard headers. `header` is its name as it is to be shown. Only `mcp-name` may be encoded.
[[nodiscard]] std::string mismatch(std::string_view header, std::optional<std::string_view> header_value,
                                   std::string_view body_value, bool may_be_encoded);

}  // namespace andon
