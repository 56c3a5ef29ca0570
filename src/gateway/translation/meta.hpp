// `_meta`: what of it belongs to one era, and what passes.
#pragma once

#include <string_view>

#include "gateway/translation/raw_json.hpp"

namespace andon::gateway {

namespace meta_key {
inline constexpr std::string_view progress_token = "progressToken";
inline constexpr std::string_view version = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view client_info = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view client_capabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view log_level = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view subscription_id = "io.modelcontextprotocol/subscriptionId";
inline constexpr std::string_view server_info = "io.modelcontextprotocol/serverInfo";
}  // namespace meta_key

/// What is not the protocol's own: a trace context, what extensions and users put there. The protocol's own keys are
/// left out however often and in whatever escapes they come, so that nobody speaks in the name of the gateway.
void add_meta_of_neither(std::string_view raw_meta, raw_writer& to);
/// The same for a request, whose progress token is the relay's: `raw_progress_token` takes its place, if it is not
/// empty.
void add_meta_of_request(std::string_view raw_meta, std::string_view raw_progress_token, raw_writer& to);

/// The params of a notification without what belongs to one era; `_meta` is gone where nothing of it is left.
[[nodiscard]] std::string notification_params(std::string_view raw_params);

}  // namespace andon::gateway
