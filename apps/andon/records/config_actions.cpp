#include "records/config_actions.hpp"

#include <boost/json.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

#include "andon/core/visible_text.hpp"
#include "exit_status.hpp"
#include "gateway/config/config.hpp"
#include "gateway/config/config_trial.hpp"
#include "gateway/journal/journal.hpp"
#include "terminal.hpp"

namespace andon::app {
namespace {

constexpr std::size_t longest_path = 400;

void complain(const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }

std::string shown(const std::string& path) { return visible_text(path, longest_path); }

/// The reason of the system; empty: it is written.
std::string written(const std::string& path, std::string_view text, bool force) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0644);
    if (file < 0) return std::generic_category().message(errno);
    std::string error;
    while (!text.empty() && error.empty()) {
        const ssize_t size = ::write(file, text.data(), text.size());
        if (size < 0 && errno != EINTR) error = std::generic_category().message(errno);
        if (size > 0) text.remove_prefix(static_cast<std::size_t>(size));
    }
    if (::close(file) != 0 && error.empty()) error = std::generic_category().message(errno);
    return error;
}

/// What an empty path stands for, where that can be said.
void name_journal(gateway::journal_config& config) try {
    config.path = gateway::journal_path(config);
} catch (const std::runtime_error&) {
    config.path.clear();
}

}  // namespace

int init_config(const std::string& file, bool force) {
    const std::string example = gateway::example_config();
    if (file == "-") {
        print(example);
        return exit_status::ok;
    }
    const char* const asked = std::getenv("ANDON_CONFIG");  // NOLINT(concurrency-mt-unsafe): nobody sets it
    const std::string path = !file.empty()                        ? file
                             : asked != nullptr && *asked != '\0' ? std::string(asked)
                                                                  : gateway::users_config();
    if (path.empty()) {
        complain("andon: there is no home for a file of your own (HOME is not set): name one, andon config init FILE");
        return exit_status::usage;
    }
    std::error_code error;
    if (!force && std::filesystem::exists(path, error)) {
        complain("andon: " + shown(path) + " is there already; --force writes over it");
        return exit_status::failed;
    }
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, error);
    if (const std::string why = written(path, example, force); !why.empty()) {
        complain("andon: " + shown(path) + " cannot be written: " + why);
        return exit_status::failed;
    }
    print("written: " + shown(path) + '\n');
    return exit_status::ok;
}

int check_config(const std::string& file, bool json) {
    const auto found = gateway::find_config(file);
    gateway::config_trial trial;
    gateway::configuration config;
    try {
        config = gateway::load_config(file);
        trial = gateway::try_config(config);
    } catch (const gateway::config_error& error) {
        trial.problems = error.problems();
    }
    const int status = !trial.problems.empty() ? exit_status::usage
                       : !trial.faults.empty() ? exit_status::failed
                                               : exit_status::ok;
    std::vector<std::string> warnings = std::move(trial.faults);
    warnings.insert(warnings.end(), trial.warnings.begin(), trial.warnings.end());
    if (json) {
        json::object shown_problems{{"file", found ? json::value(shown(*found)) : json::value()},
                                    {"ok", status == exit_status::ok},
                                    {"problems", json::value_from(trial.problems)},
                                    {"warnings", json::value_from(warnings)}};
        print(json::serialize(shown_problems) + '\n');
        return status;
    }
    for (const std::string& each : trial.problems) complain(each);
    for (const std::string& each : warnings) complain("warning: " + each);
    if (status != exit_status::ok) return status;
    const std::size_t servers = config.servers.size();
    print(!found ? "there is no file: the defaults are in effect\n"
          : config.sets_nothing
              ? shown(*found) + ": good, but no key is set in it: the defaults are in effect\n"
              : shown(*found) + ": good, " + std::to_string(servers) + (servers == 1 ? " server\n" : " servers\n"));
    return status;
}

int show_config(const std::string& file, bool json) {
    gateway::configuration config = gateway::load_config(file);
    name_journal(config.journal);
    if (json) {
        print(json::serialize(gateway::shown_config(config)) + '\n');
    } else {
        print((config.file.empty() ? "# the defaults: there is no file\n" : "# " + shown(config.file) + '\n') +
              gateway::shown_config_toml(config));
    }
    return exit_status::ok;
}

int show_config_path(const std::string& file) {
    if (const auto found = gateway::find_config(file)) {
        print(*found + '\n');
        return exit_status::ok;
    }
    const std::string own = gateway::users_config();
    complain("andon: there is no configuration file; `andon config init` writes " + (own.empty() ? "one" : shown(own)));
    return exit_status::failed;
}

}  // namespace andon::app
