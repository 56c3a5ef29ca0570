// The options by which subcommands are told of a server.
#pragma once

#include "call/server_target.hpp"

namespace CLI {
class App;
}

namespace andon::app {

// What is given lands in `access`, which outlives `to`.

/// SERVER, how it is reached, and what is spoken.
void add_server_options(CLI::App& to, server_access& access);
/// How it is reached.
void add_access_options(CLI::App& to, server_access& access);

}  // namespace andon::app
