// What `andon` takes from around it. The man page prints these; whoever reads a new one adds it here.
#pragma once

#include <array>
#include <string_view>

namespace andon::app {

struct surrounding {
    std::string_view name;
    std::string_view about;
};

inline constexpr std::array environment_variables{
    surrounding{"ANDON_CONFIG", "The configuration, where --config names none."},
    surrounding{"ANDON_STATE_DIR", "The folder of the journal, in place of $XDG_STATE_HOME/andon."},
    surrounding{"ANDON_RUNTIME_DIR", "The folder of the control sockets, in place of $XDG_RUNTIME_DIR/andon."},
    surrounding{"ANDON_LOG",
                "From which level on andon logs to standard error: debug, info (default), warning, error or off. It "
                "goes before the configuration, and --log-level before it."},
    surrounding{"NO_COLOR", "Set to anything, nothing is coloured."},
    surrounding{"TERM", "On a terminal that is called dumb, or not called anything, nothing is drawn in place."},
    surrounding{"PATH", "Where servers and other programs without a slash in their name are looked for."},
    surrounding{"XDG_CONFIG_HOME", "Where the configuration is; ~/.config if it is not set."},
    surrounding{"XDG_STATE_HOME", "Where the journal is; ~/.local/state if it is not set."},
    surrounding{"XDG_RUNTIME_DIR", "Where the running andons of this user are found; /tmp if it is not set."},
};

inline constexpr std::array files{
    surrounding{"$XDG_CONFIG_HOME/andon/andon.toml, /etc/andon/andon.toml",
                "The configuration: the first that is there. andon config init writes one."},
    surrounding{"$XDG_STATE_HOME/andon/journal.db", "What became of calls, for andon log."},
    surrounding{"$XDG_RUNTIME_DIR/andon/PID.sock, /tmp/andon-UID/PID.sock",
                "The control sockets of what runs, for this user only."},
};

}  // namespace andon::app
