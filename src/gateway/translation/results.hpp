// Results of a server, for a client of the other era. What they carry keeps its bytes.
#pragma once

#include <string>
#include <string_view>

#include "andon/wire/revision.hpp"
#include "gateway/translation/raw_json.hpp"

namespace andon::gateway {

/// A complete result of a modern server: without its type, its hints for caches, and what `_meta` says of the server.
[[nodiscard]] std::string result_for_legacy(std::string_view method, const raw_object& result,
                                            const revision_policy& client);
/// A result of a legacy server: with all three. Nobody said that it may be cached, so it is stale at once.
[[nodiscard]] std::string result_for_modern(std::string_view method, const raw_object& result,
                                            std::string_view raw_server_info);

}  // namespace andon::gateway
