// The options of every subcommand that is a client.
#pragma once

#include "call/call_session.hpp"

namespace CLI {
class App;
}

namespace andon::app {

void add_session_options(CLI::App& to, session_settings& settings);
/// Of a call: how long it may take, and add_log_option().
void add_time_options(CLI::App& to, session_settings& settings);
/// Of what is only looked up: how long that may take, the connecting included.
void add_patience_option(CLI::App& to, session_settings& settings);
void add_log_option(CLI::App& to, session_settings& settings);

}  // namespace andon::app
