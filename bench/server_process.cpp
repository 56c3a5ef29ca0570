#include "server_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace andon::bench {
namespace {

[[noreturn]] void fail(const std::string& what, int error = errno) {
    throw std::runtime_error(what + ": " + std::strerror(error));
}

struct pipe_ends {
    int read = -1;
    int write = -1;
    pipe_ends() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
        read = ends[0];
        write = ends[1];
    }
    ~pipe_ends() {
        if (read >= 0) ::close(read);
        if (write >= 0) ::close(write);
    }
    pipe_ends(const pipe_ends&) = delete;
    pipe_ends& operator=(const pipe_ends&) = delete;
};

// Takes an end out of its pair, to be kept.
int keep(int& end) {
    const int kept = std::exchange(end, -1);
    if (::fcntl(kept, F_SETFL, ::fcntl(kept, F_GETFL) | O_NONBLOCK) != 0) fail("fcntl");
    return kept;
}

bool pin(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(core), &set);
    return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

// Between fork and exec, where only what is safe in a signal handler may be called. Returns when it failed.
void become(char* const* argv, char* const* environment, const pipe_ends& in, const pipe_ends& out,
            const pipe_ends& err, const placement& cores, pid_t parent) {
    ::setpgid(0, 0);
    // A driver that is killed takes its server with it.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) return;
    if (cores.server && !pin(*cores.server)) return;
    std::signal(SIGPIPE, SIG_DFL);
    if (::dup2(in.read, 0) < 0 || ::dup2(out.write, 1) < 0 || ::dup2(err.write, 2) < 0) return;
    ::execvpe(argv[0], argv, environment);
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    result.reserve(strings.size() + 1);
    for (auto& string : strings) result.push_back(string.data());
    result.push_back(nullptr);
    return result;
}

constexpr std::int64_t ms = 1'000'000;

}  // namespace

std::int64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

placement pin_driver() {
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) fail("sched_getaffinity");
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(static_cast<std::size_t>(core), &allowed)) cores.push_back(core);
    }
    if (cores.size() < 2) return {};
    if (!pin(cores[1])) fail("sched_setaffinity");
    return {.driver = cores[1], .server = cores[0]};
}

server_process::server_process(const std::vector<std::string>& command, bool marks, const placement& cores) {
    constexpr std::string_view marks_variable = "ANDON_MARKS=";
    auto arguments = command;
    std::vector<std::string> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        if (!std::string_view(*variable).starts_with(marks_variable)) variables.emplace_back(*variable);
    }
    if (marks) variables.push_back(std::string(marks_variable) + "1");
    const auto argv = pointers(arguments);
    const auto environment = pointers(variables);

    pipe_ends in;
    pipe_ends out;
    pipe_ends err;
    pipe_ends started;
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) fail("fork");
    if (pid_ == 0) {
        become(argv.data(), environment.data(), in, out, err, cores, parent);
        const int error = errno;
        [[maybe_unused]] const auto told = ::write(started.write, &error, sizeof error);
        ::_exit(127);
    }
    ::setpgid(pid_, pid_);  // the child does so too: whoever comes first
    ::close(std::exchange(started.write, -1));
    int error = 0;
    if (::read(started.read, &error, sizeof error) == sizeof error) {
        static_cast<void>(reap(1000 * ms));
        fail("cannot start " + command.front(), error);
    }
    input_ = keep(in.write);
    output_ = keep(out.read);
    errors_ = keep(err.read);
}

server_process::~server_process() {
    ::kill(-pid_, SIGKILL);  // what it left in its group, too
    for (const int end : {input_, output_, errors_}) ::close(end);
    if (!reap(10'000 * ms)) std::fprintf(stderr, "bench: process %d does not die\n", pid_);
}

bool server_process::reap(std::int64_t limit_ns) {
    const auto deadline = now_ns() + limit_ns;
    while (!reaped_) {
        reaped_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
        if (!reaped_) {
            if (now_ns() > deadline) return false;
            ::usleep(500);
        }
    }
    return true;
}

void server_process::ask_to_leave() {
    if (reaped_) return;
    ::kill(pid_, SIGTERM);
    static_cast<void>(reap(2000 * ms));
}

std::string server_process::how_it_ended() {
    if (!reap(300 * ms)) return "still running";
    if (WIFSIGNALED(status_)) return "killed by signal " + std::to_string(WTERMSIG(status_));
    return "exited with status " + std::to_string(WEXITSTATUS(status_));
}

std::int64_t server_process::memory() const {
    std::int64_t kilobytes = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
        const auto name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        std::ifstream stat(entry.path() / "stat");
        std::string line;
        // The name in parentheses may hold anything; the group is the third field behind it.
        if (!std::getline(stat, line) || line.rfind(')') == std::string::npos) continue;
        std::istringstream fields(line.substr(line.rfind(')') + 1));
        std::string state;
        pid_t above = 0;
        pid_t group = 0;
        if (!(fields >> state >> above >> group) || group != pid_) continue;
        std::ifstream rollup(entry.path() / "smaps_rollup");
        while (std::getline(rollup, line)) {
            if (line.starts_with("Rss:")) kilobytes += std::strtoll(line.c_str() + 4, nullptr, 10);
        }
    }
    if (kilobytes == 0) throw std::runtime_error("/proc tells no memory of process " + std::to_string(pid_));
    return kilobytes * 1024;
}

}  // namespace andon::bench
