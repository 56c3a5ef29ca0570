#include "process/orphans.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "process/proc_directory.hpp"

namespace andon::detail {
namespace {

struct child {
    pid_t pid;
    std::uint64_t started;  // in ticks since the machine was: the pid may be another's later
    friend bool operator==(const child&, const child&) = default;
};

// Children are the process', and so is this.
std::vector<child> others;
bool ending = false;  // orphans of ours

bool is_guardian(pid_t pid) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0;
}

bool a_guardian_is_dead() {
    siginfo_t info{};
    constexpr int of_these_alone = static_cast<int>(__WCLONE);
    return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | of_these_alone) == 0 && info.si_pid != 0;
}

std::uint64_t start_of(pid_t pid) {
    const int fd = proc_path().add("/proc/").add(pid).add("/stat").open(0);
    if (fd < 0) return 0;
    char text[1'024];
    const ssize_t size = ::read(fd, text, sizeof text);
    ::close(fd);
    ssize_t at = size - 1;
    while (at >= 0 && text[at] != ')') --at;  // the name may hold anything
    for (int field = 2; field < 22 && at >= 0 && at < size; ++at) field += text[at] == ' ' ? 1 : 0;
    std::uint64_t ticks = 0;
    for (; at >= 0 && at < size && text[at] >= '0' && text[at] <= '9'; ++at) {
        ticks = ticks * 10 + static_cast<std::uint64_t>(text[at] - '0');
    }
    return ticks;
}

std::vector<child> children_but_guardians() {
    std::vector<child> all;
    each_number_in(proc_path().add("/proc/self/task"), [&](pid_t thread, int) {
        const int fd = proc_path().add("/proc/self/task/").add(thread).add("/children").open(0);
        char text[4'096];
        pid_t pid = 0;
        for (ssize_t size = 0; fd >= 0 && (size = ::read(fd, text, sizeof text)) > 0;) {
            for (ssize_t at = 0; at < size; ++at) {
                const bool digit = text[at] >= '0' && text[at] <= '9';
                if (digit) pid = pid * 10 + (text[at] - '0');
                if (digit) continue;
                if (pid > 0 && !is_guardian(pid)) all.push_back({pid, start_of(pid)});
                pid = 0;
            }
        }
        if (fd >= 0) ::close(fd);
    });
    return all;
}

void wait_for_the_dead() {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
}

}  // namespace

void adopt_orphans() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    others = children_but_guardians();
}

bool note_others() {
    wait_for_the_dead();
    auto there = children_but_guardians();
    // Asked after the look: who is among them because of a dead guardian came when it died.
    if (ending || a_guardian_is_dead()) return true;
    others = std::move(there);
    return !others.empty();
}

std::size_t end_orphans() {
    std::size_t found = 0;
    for (const child& each : children_but_guardians()) {
        if (std::find(others.begin(), others.end(), each) != others.end()) continue;
        ++found;
        ::kill(each.pid, SIGKILL);
    }
    wait_for_the_dead();
    ending = found != 0;
    return found;
}

}  // namespace andon::detail
