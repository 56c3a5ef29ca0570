// The command line as data: what completion and the man page are made from, so that they never differ from it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace andon::app {

struct option_model {
    std::vector<std::string> names{};  ///< `-q`, `--quiet`; of a positional: its name
    std::string type{};                ///< `FILE`, `DURATION`; empty: takes no value
    std::vector<std::string> choices{};
    std::string description{};
    bool positional = false;
    bool required = false;
    bool repeated = false;  ///< takes any number of values
    char separator = 0;     ///< of several values in one word

    [[nodiscard]] bool takes_value() const noexcept { return !type.empty(); }
    /// What the value is called: `FILE`, `SERVER`.
    [[nodiscard]] const std::string& value() const noexcept { return positional ? names.front() : type; }
};

struct command_model {
    std::string name{};
    std::string description{};
    std::string footer{};
    std::vector<option_model> options{};  ///< positionals among them, in their order
    std::vector<command_model> commands{};
};

/// Without what is hidden.
[[nodiscard]] command_model model_of(const CLI::App& app);

}  // namespace andon::app
