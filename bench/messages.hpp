// The messages that the drivers send, without a frame around them, and what they look for in the answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace andon::bench {

/// What every echo carries.
inline constexpr std::string_view echo_text = "the quick brown fox";

inline constexpr std::string_view initialize_request =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{},"clientInfo":{"name":"andon_bench","version":"1"}}})";
inline constexpr std::string_view initialized_notification =
    R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
/// For `_meta`, where every request says what the client is and speaks.
inline constexpr std::string_view modern_meta =
    R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"andon_bench","version":"1"},)"
    R"("io.modelcontextprotocol/clientCapabilities":{}})";

/// Calls of tools, without `_meta` when `meta` is empty. The key of a park is its id.
[[nodiscard]] std::string echo_call(std::int64_t id, std::string_view meta = "");
[[nodiscard]] std::string park_call(std::int64_t id, std::string_view meta = "");
[[nodiscard]] std::string cancel(std::int64_t id);

/// Nothing but digits, and a sign.
[[nodiscard]] bool read_number(std::string_view digits, std::int64_t& number);

struct found_id {
    std::int64_t id;
    std::size_t begin;
    std::size_t end;
};
/// The number of a message's `id`, and where it stands. No text that we send holds such a name: the first is the
/// envelope's.
[[nodiscard]] std::optional<found_id> find_id(std::string_view message);

/// The revision in an answer to initialize; empty when there is none, or none that the drivers speak.
[[nodiscard]] std::string revision_in(std::string_view answer);
/// Throws when an answer is not what echo has to say.
void expect_echo(std::string_view answer);

}  // namespace andon::bench
