#include "process/launch.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <unistd.h>

namespace andon::detail {
namespace {

void refuse_nul(const std::string& text, const char* what) {
    if (text.find('\0') != std::string::npos) {
        throw std::invalid_argument(std::string("andon::command: ") + what + " holds a NUL character");
    }
}

void check(const command& what) {
    if (what.argv.empty() || what.argv.front().empty()) {
        throw std::invalid_argument("andon::command: argv names no program");
    }
    if (what.grace < duration::zero()) throw std::invalid_argument("andon::command: the grace time is negative");
    for (const auto& each : what.argv) refuse_nul(each, "argv");
    refuse_nul(what.directory, "the directory");
    for (const auto& [name, value] : what.environment) {
        if (name.empty() || name.find('=') != std::string::npos) {
            throw std::invalid_argument("andon::command: '" + name + "' is no name of an environment variable");
        }
        refuse_nul(name, "the environment");
        refuse_nul(value, "the environment");
    }
}

std::string_view name_in(std::string_view setting) { return setting.substr(0, setting.find('=')); }

std::vector<std::string> environment_for(const command& what) {
    std::vector<std::string> all;
    for (char** each = environ; each != nullptr && *each != nullptr; ++each) all.emplace_back(*each);
    for (const auto& [name, value] : what.environment) {
        std::erase_if(all, [&name = name](const std::string& ours) { return name_in(ours) == name; });
        all.emplace_back(name).append("=").append(value);
    }
    return all;
}

// As execvp() would, but ahead of time and with the PATH that the command will see.
std::vector<std::string> candidates_for(const std::string& program, const std::vector<std::string>& environment) {
    if (program.find('/') != std::string::npos) return {program};
    constexpr std::string_view prefix = "PATH=";
    std::string_view path = "/bin:/usr/bin";
    for (const auto& each : environment) {
        if (each.starts_with(prefix)) path = std::string_view(each).substr(prefix.size());
    }
    std::vector<std::string> all;
    for (;;) {
        const auto directory = path.substr(0, path.find(':'));
        all.push_back(std::string(directory.empty() ? "." : directory) + '/' + program);
        if (directory.size() == path.size()) return all;
        path.remove_prefix(directory.size() + 1);
    }
}

}  // namespace

void launch_text::block::seal() {
    for (auto& each : text) pointers.push_back(each.data());
    pointers.push_back(nullptr);
}

launch_text::launch_text(const command& what) {
    check(what);
    argv_.text = what.argv;
    environment_.text = environment_for(what);
    candidates_.text = candidates_for(what.argv.front(), environment_.text);
    directory_ = what.directory;
    for (auto* each : {&argv_, &environment_, &candidates_}) each->seal();
}

void launch_text::point(launch& at) const noexcept {
    at.candidates = candidates_.pointers.data();
    at.argv = argv_.pointers.data();
    at.environment = environment_.pointers.data();
    at.directory = directory_.empty() ? nullptr : directory_.c_str();
}

}  // namespace andon::detail
