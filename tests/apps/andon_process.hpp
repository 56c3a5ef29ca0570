// The command itself, as a process of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/program.hpp"
#include "built_programs.hpp"
#include "own_folder.hpp"

namespace andon {

/// Its standard input ends behind `input`.
class andon_process : public program {
public:
    explicit andon_process(std::vector<std::string> arguments, std::string_view input = {},
                           environment_list environment = {})
        : program(with_command(std::move(arguments)), std::move(environment)) {
        write(input);
        close_input();
    }

private:
    static std::vector<std::string> with_command(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), built_program("andon"));
        return arguments;
    }
};

struct andon_run {
    int status;
    std::string out;
    std::string err;
};
/// Runs it to its end.
[[nodiscard]] inline andon_run run_andon(std::vector<std::string> arguments, std::string_view input = {},
                                         environment_list environment = {}) {
    andon_process process(std::move(arguments), input, std::move(environment));
    const int status = process.end();
    return {status, process.out(), process.err()};
}

/// Everything that it reads and writes of itself is in that folder.
[[nodiscard]] inline environment_list at_home_in(const own_folder& folder, const environment_list& more = {}) {
    environment_list all{{"HOME", folder / "home"},
                         {"XDG_CONFIG_HOME", ""},
                         {"XDG_STATE_HOME", ""},
                         {"ANDON_CONFIG", ""},
                         {"ANDON_LOG", ""},
                         {"ANDON_STATE_DIR", folder / "state"},
                         {"ANDON_RUNTIME_DIR", folder / "run"}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace andon
