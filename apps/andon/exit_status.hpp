// What `andon` ends with. Documented in every help text and in docs/command.md.
#pragma once

namespace andon::app {

struct exit_status {
    static constexpr int ok = 0;
    static constexpr int failed = 1;       ///< what was asked for did not succeed: the tool failed, a rule is broken
    static constexpr int usage = 2;        ///< the command line or the configuration is wrong
    static constexpr int unreachable = 3;  ///< the server could not be started or reached, or it went away
    static constexpr int timed_out = 4;
    static constexpr int cancelled = 130;  ///< by Ctrl-C
};

}  // namespace andon::app
