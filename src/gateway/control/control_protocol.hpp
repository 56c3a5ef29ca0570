// What is said over a control socket: one JSON object a line. docs/command.md has it for others.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "andon/wire/error.hpp"
#include "gateway/control/control_desk.hpp"

namespace andon::gateway {

inline constexpr std::size_t longest_control_request = std::size_t{16} << 10U;
/// A line of a reply; the longest are the numbers of what was asked to stop.
inline constexpr std::size_t longest_control_reply = std::size_t{4} << 20U;
inline constexpr std::size_t longest_control_reason = 512;
inline constexpr std::size_t longest_control_name = 256;

enum class control_operation : std::uint8_t { hello, list, stop };

struct control_request {
    control_operation op = control_operation::hello;
    // Of stop.
    call_selection which{};
    std::string reason{};
    std::string asked_by{};
    bool wait = false;
};

/// Every text in it is safe to show. Throws std::invalid_argument with words for whoever asked.
[[nodiscard]] control_request control_request_of(std::string_view line);
[[nodiscard]] std::string to_line(const control_request& request);

[[nodiscard]] json::object to_json(const relayed_call_view& call);
[[nodiscard]] json::object to_json(const upstream_view& server);
[[nodiscard]] json::object to_json(const stopped_call& call);

// From another process: what is missing or of another kind stays at its default, every text is made safe to show.
[[nodiscard]] relayed_call_view call_of(const json::object& said);
[[nodiscard]] upstream_view server_of(const json::object& said);
[[nodiscard]] stopped_call stopped_call_of(const json::object& said);

[[nodiscard]] std::string text_in(const json::object& said, std::string_view name,
                                  std::size_t longest = longest_control_name);
[[nodiscard]] std::optional<std::uint64_t> count_in(const json::object& said, std::string_view name);

}  // namespace andon::gateway
