// Errors of a server, for a client of the other era.
#pragma once

#include <string>
#include <string_view>

#include "gateway/translation/step.hpp"

namespace andon::gateway {

/// `raw_error` is the error object. Codes that the client's era does not have, or has for something else, are replaced;
/// `data` keeps its bytes.
[[nodiscard]] std::string error_for_legacy(std::string_view method, std::string_view raw_error);
/// `tasks`: the server has tasks of its own (2025-11-25), and so perhaps tools that are nothing else.
[[nodiscard]] std::string error_for_modern(std::string_view method, std::string_view raw_error, bool tasks);
/// As it goes to who asked.
[[nodiscard]] std::string raw_error_of(const refusal& why);

}  // namespace andon::gateway
