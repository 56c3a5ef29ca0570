#include "call/session_options.hpp"

#include <CLI/CLI.hpp>

#include "call/server_options.hpp"
#include "duration_option.hpp"

namespace andon::app {

void add_session_options(CLI::App& to, session_settings& settings) {
    add_server_options(to, settings.server);
    to.add_flag("--json", settings.json, "Print JSON on one line, for scripts");
    to.add_flag("-q,--quiet", settings.quiet, "No progress, no log messages, nothing of the server's standard error");
}

void add_time_options(CLI::App& to, session_settings& settings) {
    add_duration(to, "--timeout", settings.timeout, "Give up after this long without a sign of life (60s)");
    add_duration(to, "--max-timeout", settings.max_timeout, "Give up after this long, whatever progress comes (1h)");
    add_log_option(to, settings);
}

void add_patience_option(CLI::App& to, session_settings& settings) {
    add_duration(to, "--timeout", settings.give_up_after,
                 "Give up after this long (30s to connect, and 60s for the answer)");
}

void add_log_option(CLI::App& to, session_settings& settings) {
    to.add_option("--log-level", settings.log_level, "Show log messages of the server from this level on (info)")
        ->check(CLI::IsMember({"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}));
}

}  // namespace andon::app
