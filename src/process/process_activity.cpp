#include "process/process_activity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <unistd.h>

#include "process/descriptor.hpp"

namespace andon::detail {
namespace {

constexpr std::size_t most_processes = 4'096;  // of a tree that never stops forking

/// Of a file in /proc, whose process may be gone between the opening and the reading.
std::string text_of(const std::string& path) {
    std::string text;
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 4'096> bytes{};
    for (ssize_t got = 0; file.get() >= 0 && (got = ::read(file.get(), bytes.data(), bytes.size())) > 0;) {
        text.append(bytes.data(), static_cast<std::size_t>(got));
    }
    return text;
}

std::chrono::milliseconds from_ticks(std::uint64_t ticks) {
    static const auto per_second = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
    return std::chrono::milliseconds(ticks * 1'000 / per_second);
}

struct stat_line {
    pid_t parent = 0;
    std::chrono::milliseconds own_time{};     // on processors
    std::chrono::milliseconds reaped_time{};  // of children that it has waited for
    std::chrono::milliseconds started{};
};

std::optional<stat_line> stat_of(pid_t pid) {
    const std::string text = text_of("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name_end = text.rfind(')');  // the name may hold anything
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream fields(text.substr(name_end + 1));
    char state = 0;
    stat_line line;
    std::uint64_t ignored = 0;
    fields >> state >> line.parent;
    for (int field = 5; field <= 13; ++field) fields >> ignored;
    std::uint64_t user = 0;
    std::uint64_t system = 0;
    std::uint64_t reaped_user = 0;
    std::uint64_t reaped_system = 0;
    fields >> user >> system >> reaped_user >> reaped_system;
    for (int field = 18; field <= 21; ++field) fields >> ignored;
    std::uint64_t start = 0;
    fields >> start;
    if (!fields || state == 'Z') return std::nullopt;
    line.own_time = from_ticks(user + system);
    line.reaped_time = from_ticks(reaped_user + reaped_system);
    line.started = from_ticks(start);
    return line;
}

/// Ticks are too coarse for a look every 50 ms.
std::chrono::nanoseconds processor_time_of(pid_t pid, const stat_line& line) {
    clockid_t clock{};
    timespec spent{};
    if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &spent) != 0) return line.own_time;
    return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

constexpr int most_threads = 256;  // looked at, of one process: a look must not take long

/// Goes through its threads: whom they have started, whether they run, and how long they have waited for a processor.
void add_threads(pid_t pid, std::vector<pid_t>& children_too, process_activity& to) {
    const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(tasks.c_str()), ::closedir);
    if (!directory) return;
    int seen = 0;
    while (const dirent* const entry = ::readdir(directory.get())) {
        if (entry->d_name[0] == '.') continue;
        if (++seen > most_threads) return;
        const std::string task = tasks + '/' + entry->d_name;
        std::istringstream children(text_of(task + "/children"));
        for (pid_t child = 0; children >> child && children_too.size() < most_processes;) {
            children_too.push_back(child);
        }
        std::istringstream times(text_of(task + "/schedstat"));  // running, ready to run
        std::int64_t running = 0;
        std::int64_t ready = 0;
        if (times >> running >> ready) to.queued += std::chrono::nanoseconds(ready);
        const std::string stat = text_of(task + "/stat");
        const std::size_t name_end = stat.rfind(')');
        if (name_end != std::string::npos && stat.compare(name_end, 3, ") R") == 0) to.ready = true;
    }
}

}  // namespace

pid_t guardian_of(pid_t command) {
    const auto line = stat_of(command);
    return line ? line->parent : 0;
}

process_activity activity_below(pid_t guardian) {
    process_activity found;
    std::vector<pid_t> all;
    process_activity of_guardian;
    add_threads(guardian, all, of_guardian);
    for (std::size_t next = 0; next < all.size(); ++next) {
        const pid_t pid = all[next];
        const auto line = stat_of(pid);
        if (!line) continue;
        found.processor_time += processor_time_of(pid, *line) + line->reaped_time;
        found.processes.push_back({pid, line->started});
        add_threads(pid, all, found);
    }
    return found;
}

process_activity activity_of(pid_t command) {
    const pid_t guardian = guardian_of(command);
    return guardian == 0 ? process_activity() : activity_below(guardian);
}

std::chrono::milliseconds time_since_boot() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::milliseconds(now.tv_nsec / 1'000'000);
}

}  // namespace andon::detail
