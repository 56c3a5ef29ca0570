// The options by which subcommands are told of a server.
#pragma once

#include "call/server_target.hpp"

namespace CLI {
class App;
}

namespace andon::app {

/// SERVER, and how it is reached. What is given lands in `access`, which outlives `to`.
void add_server_options(CLI::App& to, server_access& access);

}  // namespace andon::app
