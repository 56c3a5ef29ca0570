#include "process/orphans.hpp"

#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/proc_directory.hpp"

namespace andon::detail {
namespace {

bool is_orphan(pid_t pid) noexcept {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

}  // namespace

void adopt_orphans() noexcept { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::size_t end_orphans() noexcept {
    std::size_t found = 0;
    each_number_in(proc_path().add("/proc/self/task"), [&](pid_t thread, int) noexcept {
        const int fd = proc_path().add("/proc/self/task/").add(thread).add("/children").open(0);
        char text[4'096];
        pid_t child = 0;
        for (ssize_t size = 0; fd >= 0 && (size = ::read(fd, text, sizeof text)) > 0;) {
            for (ssize_t at = 0; at < size; ++at) {
                const bool digit = text[at] >= '0' && text[at] <= '9';
                if (digit) child = child * 10 + (text[at] - '0');
                if (digit) continue;
                if (child > 0 && is_orphan(child)) {
                    ++found;
                    ::kill(child, SIGKILL);
                }
                child = 0;
            }
        }
        if (fd >= 0) ::close(fd);
    });
    while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
    return found;
}

}  // namespace andon::detail
