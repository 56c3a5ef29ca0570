// What a peer says most often, and how it looks into what it is told.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "andon/peer/peer.hpp"

namespace andon::detail {

inline constexpr std::string_view meta_version = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view meta_client_info = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view meta_client_capabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view meta_server_info = "io.modelcontextprotocol/serverInfo";

/// What the envelope let through is valid JSON, but some of it has no place in a double: then nothing is there.
inline json::object object_from(std::string_view raw) { return object_from_json(raw).value_or(json::object()); }

inline json::object object_in(const json::object& from, std::string_view key) {
    const json::value* const found = from.if_contains(key);
    return found != nullptr && found->is_object() ? found->get_object() : json::object();
}

inline std::string string_in(const json::object& from, std::string_view key) {
    const json::value* const found = from.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

inline peer_step ignored(std::string note) {
    peer_step step;
    step.note = std::move(note);
    return step;
}

inline peer_step answer(std::string bytes, int code = 0) {
    peer_step step;
    step.what = next_step::send;
    step.code = code;
    step.bytes = std::move(bytes);
    return step;
}

}  // namespace andon::detail
