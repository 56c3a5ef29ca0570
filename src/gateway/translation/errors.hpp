// Errors of a server, for a client of the other era.
#pragma once

#include <string>
#include <string_view>

namespace andon::gateway {

/// `raw_error` is the error object. Codes that the client's era does not have, or has for something else, are replaced;
/// `data` keeps its bytes.
[[nodiscard]] std::string error_for_legacy(std::string_view method, std::string_view raw_error);
/// `tasks`: the server has tasks of its own (2025-11-25), and so perhaps tools that are nothing else.
[[nodiscard]] std::string error_for_modern(std::string_view method, std::string_view raw_error, bool tasks);

}  // namespace andon::gateway
