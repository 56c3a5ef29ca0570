// What the tests of processes look at: lines that a command prints, and processes that are to be gone.
#pragma once

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <poll.h>
#include <string>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "andon/process/process_tree.hpp"

namespace andon {

/// So long that only a broken program reaches it, on a busy machine and with sanitizers.
inline constexpr std::chrono::seconds patience{60};

inline command shell(std::string line, duration grace = patience) {
    auto what = command::shell(std::move(line));
    what.grace = grace;
    return what;
}

/// Of any kind, running or zombie.
inline bool has_children() { return ::waitid(P_ALL, 0, nullptr, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0; }

inline bool readable(int fd) {
    pollfd ready{fd, POLLIN, 0};
    return ::poll(&ready, 1, static_cast<int>(std::chrono::milliseconds(patience).count())) == 1;
}

/// Everything up to the end of the file.
inline std::string read_all(int fd) {
    std::string all;
    std::vector<char> part(65536);
    while (readable(fd)) {
        const auto size = ::read(fd, part.data(), part.size());
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (size <= 0) return all;
        all.append(part.data(), static_cast<std::size_t>(size));
    }
    ADD_FAILURE() << "the pipe has no end; read so far: " << all;
    return all;
}

inline std::string read_line(int fd) {
    std::string line;
    while (readable(fd)) {
        char next = 0;
        const auto size = ::read(fd, &next, 1);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (size <= 0 || next == '\n') return line;
        line += next;
    }
    ADD_FAILURE() << "no whole line; read so far: " << line;
    return line;
}

/// The fields of /proc/<pid>/stat behind the name: the state, the parent, ...
inline std::pair<char, pid_t> state_and_parent(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    const auto at = text.rfind(") ");
    if (at == std::string::npos) return {'-', 0};
    return {text[at + 2], static_cast<pid_t>(std::stol(text.substr(at + 4)))};
}

/// Returns when it stands still.
inline void stop_process(pid_t pid) {
    ASSERT_GT(pid, 1);
    ASSERT_EQ(::kill(pid, SIGSTOP), 0);
    while (state_and_parent(pid).first != 'T') std::this_thread::yield();
}

/// Somebody stops the guardian above a command. Returns its pid.
inline pid_t stop_guardian(pid_t command) {
    const auto guardian = state_and_parent(command).second;
    stop_process(guardian);
    return guardian;
}

/// The same in a way in which SIGCONT does not wake it, as a debugger would. The calling thread is to stay.
inline pid_t hold_guardian(pid_t command) {
    const auto guardian = state_and_parent(command).second;
    EXPECT_EQ(::ptrace(PTRACE_SEIZE, guardian, nullptr, nullptr), 0);
    EXPECT_EQ(::ptrace(PTRACE_INTERRUPT, guardian, nullptr, nullptr), 0);
    while (state_and_parent(guardian).first != 't') std::this_thread::yield();
    return guardian;
}

/// One living process, whoever its parent is; told when it has ended.
class process_watch {
public:
    explicit process_watch(pid_t pid) : pid_(pid), fd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {
        EXPECT_GE(fd_, 0) << "there is no process " << pid;
    }
    process_watch(process_watch&& other) noexcept : pid_(other.pid_), fd_(std::exchange(other.fd_, -1)) {}
    process_watch& operator=(process_watch&&) = delete;
    ~process_watch() {
        if (fd_ >= 0) ::close(fd_);
    }

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] bool ended() const {
        pollfd ready{fd_, POLLIN, 0};
        return ::poll(&ready, 1, 0) == 1;
    }
    [[nodiscard]] bool wait_for_end() const { return readable(fd_); }

private:
    pid_t pid_;
    int fd_;
};

/// The command prints pids, one a line: watches as many of them.
inline std::vector<process_watch> watch_printed(int fd, int count) {
    std::vector<process_watch> all;
    for (int i = 0; i < count; ++i) all.emplace_back(static_cast<pid_t>(std::stol("0" + read_line(fd))));
    return all;
}

}  // namespace andon
