#include "check/process_view.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

namespace andon::check {
namespace {

struct process_line {
    pid_t parent = 0;
    char state = '?';
    std::chrono::milliseconds processor{};
    std::size_t threads = 0;
};

/// The fields behind the name, which may itself hold blanks and brackets.
std::optional<process_line> read_stat(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text, '\0');  // not by the buffer itself, which throws where the process is gone by now
    const std::size_t bracket = text.rfind(')');
    if (bracket == std::string::npos) return std::nullopt;
    std::vector<std::string> fields;
    for (std::size_t at = bracket + 2; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        fields.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    constexpr std::size_t utime = 11;
    constexpr std::size_t stime = 12;
    constexpr std::size_t threads = 17;
    if (fields.size() <= threads) return std::nullopt;
    const auto number = [&](std::size_t at) {
        std::int64_t value = 0;
        std::from_chars(fields[at].data(), fields[at].data() + fields[at].size(), value);
        return value;
    };
    static const std::int64_t ticks_per_second = std::max<std::int64_t>(::sysconf(_SC_CLK_TCK), 1);
    process_line line;
    line.state = fields[0].empty() ? '?' : fields[0].front();
    line.parent = static_cast<pid_t>(number(1));
    line.processor = std::chrono::milliseconds((number(utime) + number(stime)) * 1000 / ticks_per_second);
    line.threads = static_cast<std::size_t>(number(threads));
    return line;
}

std::size_t open_files(pid_t pid) {
    std::error_code failed;
    std::size_t count = 0;
    for (std::filesystem::directory_iterator at("/proc/" + std::to_string(pid) + "/fd", failed), end;
         !failed && at != end; at.increment(failed)) {
        ++count;
    }
    return count;
}

std::map<pid_t, process_line> all_processes() {
    std::map<pid_t, process_line> all;
    std::error_code failed;
    for (std::filesystem::directory_iterator at("/proc", failed), end; !failed && at != end; at.increment(failed)) {
        const std::string name = at->path().filename();
        pid_t pid = 0;
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) continue;
        if (const auto line = read_stat(pid)) all.emplace(pid, *line);
    }
    return all;
}

}  // namespace

std::chrono::milliseconds process_view::used_since(const process_view& earlier) const {
    std::chrono::milliseconds used{};
    for (const auto& [pid, now] : processor) {
        const auto then = earlier.processor.find(pid);
        used += then == earlier.processor.end() ? now : std::max(now - then->second, std::chrono::milliseconds());
    }
    return used;
}

process_view process_view::below(pid_t root, bool itself) {
    const auto all = all_processes();
    std::set<pid_t> tree{root};
    for (bool grew = true; grew;) {
        grew = false;
        for (const auto& [pid, line] : all) {
            grew = (tree.contains(line.parent) && tree.insert(pid).second) || grew;
        }
    }
    if (!itself) tree.erase(root);
    process_view view;
    for (const pid_t pid : tree) {
        const auto found = all.find(pid);
        if (found == all.end() || found->second.state == 'Z' || found->second.state == 'X') continue;
        view.processor.emplace(pid, found->second.processor);
        view.threads += found->second.threads;
        view.files += open_files(pid);
    }
    return view;
}

process_view process_view::of_command(pid_t command) {
    const auto line = read_stat(command);
    return line && line->parent > 1 ? below(line->parent, false) : below(command, true);
}

}  // namespace andon::check
