// How the servers of the configuration are started and reached.
#pragma once

#include "andon/process/process_tree.hpp"
#include "andon/transport/http_client.hpp"
#include "gateway/config/config.hpp"

namespace andon::gateway {

[[nodiscard]] command command_of(const command_target& target);

/// Whether its program is there, where it would be looked for.
[[nodiscard]] bool can_be_started(const command_target& target);

/// Throws std::invalid_argument where its own certificates cannot be used.
void expect_certificates(const url_target& target);

/// With the secrets of the environment. Throws std::invalid_argument where a variable is not set, and says which.
[[nodiscard]] http_client_options http_options_of(const url_target& target);

}  // namespace andon::gateway
