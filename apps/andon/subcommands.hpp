// The subcommands of `andon`, each in a file of its own name in the folder of its kind.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace andon::app {

/// What the user asked for; gives the exit status. Set by whichever subcommand was chosen.
using chosen = std::function<int()>;

void add_call(CLI::App& app, chosen& run);
void add_check(CLI::App& app, chosen& run);
void add_completion(CLI::App& app, chosen& run);
void add_config(CLI::App& app, chosen& run);
void add_gateway(CLI::App& app, chosen& run);
void add_log(CLI::App& app, chosen& run);
void add_man(CLI::App& app, chosen& run);
void add_ps(CLI::App& app, chosen& run);
void add_stop(CLI::App& app, chosen& run);
void add_tasks(CLI::App& app, chosen& run);
void add_tools(CLI::App& app, chosen& run);
void add_top(CLI::App& app, chosen& run);
void add_wrap(CLI::App& app, chosen& run);

}  // namespace andon::app
