#include "processes.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sched.h>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace andon::bench {
namespace {

std::string folder_of(pid_t process) { return "/proc/" + std::to_string(process); }

// The sum of the numbers behind these names, one a line.
std::int64_t sum_of(const std::string& file, std::initializer_list<std::string_view> names) {
    std::int64_t sum = 0;
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        for (const auto name : names) {
            if (line.starts_with(name)) sum += std::strtoll(line.c_str() + name.size(), nullptr, 10);
        }
    }
    return sum;
}

// The folders that are called by a number.
std::vector<pid_t> numbers_in(const std::string& folder) {
    std::vector<pid_t> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        const auto name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") == std::string::npos) found.push_back(std::stoi(name));
    }
    return found;
}

std::vector<pid_t> threads_of(pid_t process) { return numbers_in(folder_of(process) + "/task"); }

std::multimap<pid_t, pid_t> children_by_parent() {
    std::multimap<pid_t, pid_t> found;
    for (const pid_t process : numbers_in("/proc")) {
        std::ifstream stat(folder_of(process) + "/stat");
        std::string line;
        // The name in parentheses may hold anything; the parent is the second field behind it.
        if (!std::getline(stat, line) || line.rfind(')') == std::string::npos) continue;
        std::istringstream fields(line.substr(line.rfind(')') + 1));
        std::string state;
        pid_t parent = 0;
        if (fields >> state >> parent) found.emplace(parent, process);
    }
    return found;
}

}  // namespace

std::vector<pid_t> family_of(pid_t root) {
    const auto children = children_by_parent();
    std::vector<pid_t> family{root};
    for (std::size_t i = 0; i < family.size(); ++i) {
        const auto [first, last] = children.equal_range(family[i]);
        for (auto each = first; each != last; ++each) family.push_back(each->second);
    }
    return family;
}

std::string command_line(pid_t process) {
    std::ifstream file(folder_of(process) + "/cmdline");
    std::string words{std::istreambuf_iterator<char>(file), {}};
    if (!words.empty()) words.pop_back();
    std::replace(words.begin(), words.end(), '\0', ' ');
    return words;
}

void move_to_core(pid_t process, int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(core), &set);
    for (const pid_t thread : threads_of(process)) {
        if (::sched_setaffinity(thread, sizeof set, &set) != 0 && errno != ESRCH) {
            throw std::runtime_error("a server cannot be moved to another core");
        }
    }
}

std::int64_t resident(pid_t process) { return 1024 * sum_of(folder_of(process) + "/smaps_rollup", {"Rss:"}); }

std::int64_t resident_alone(pid_t process) {
    return 1024 * sum_of(folder_of(process) + "/smaps_rollup", {"Private_Clean:", "Private_Dirty:"});
}

std::int64_t context_switches(pid_t process) {
    std::int64_t sum = 0;
    for (const pid_t thread : threads_of(process)) {
        sum += sum_of(folder_of(process) + "/task/" + std::to_string(thread) + "/status",
                      {"voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"});
    }
    return sum;
}

}  // namespace andon::bench
