#include "processes.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
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

std::multimap<pid_t, pid_t> children_by_parent() {
    std::multimap<pid_t, pid_t> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
        const auto name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        std::ifstream stat(entry.path() / "stat");
        std::string line;
        // The name in parentheses may hold anything; the parent is the second field behind it.
        if (!std::getline(stat, line) || line.rfind(')') == std::string::npos) continue;
        std::istringstream fields(line.substr(line.rfind(')') + 1));
        std::string state;
        pid_t parent = 0;
        if (fields >> state >> parent) found.emplace(parent, static_cast<pid_t>(std::stoi(name)));
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

std::int64_t resident(pid_t process) { return 1024 * sum_of(folder_of(process) + "/smaps_rollup", {"Rss:"}); }

std::int64_t resident_alone(pid_t process) {
    return 1024 * sum_of(folder_of(process) + "/smaps_rollup", {"Private_Clean:", "Private_Dirty:"});
}

std::int64_t context_switches(pid_t process) {
    std::int64_t sum = 0;
    std::error_code ignored;
    for (const auto& thread : std::filesystem::directory_iterator(folder_of(process) + "/task", ignored)) {
        sum += sum_of(thread.path() / "status", {"voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"});
    }
    return sum;
}

}  // namespace andon::bench
