#include "andon/transport/log.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <poll.h>
#include <string>
#include <unistd.h>

namespace andon {
namespace {

constexpr std::array<std::string_view, 5> names{"debug", "info", "warning", "error", "off"};

log_level level_of_environment() {
    const char* const asked = std::getenv("ANDON_LOG");  // NOLINT(concurrency-mt-unsafe): read once, nobody sets it
    for (std::size_t i = 0; asked != nullptr && i < names.size(); ++i) {
        if (asked == names[i]) return static_cast<log_level>(i);
    }
    return log_level::info;
}

}  // namespace

void log_to_stderr(log_level level, std::string_view text) {
    static const log_level from = level_of_environment();
    if (level < from) return;
    std::string line = "andon: ";
    line += names[static_cast<std::size_t>(level)];
    (line += ": ") += text;
    constexpr std::size_t longest = 2'048;  // less than a pipe takes in one piece
    if (line.size() > longest) line.resize(longest);
    line += '\n';
    pollfd ready{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&ready, 1, 0) != 1) return;
    // On any thread, and standard error may be a pipe that nobody reads any more: that must not end the program.
    sigset_t pipe_signal;
    sigset_t before;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    const bool broken = ::write(STDERR_FILENO, line.data(), line.size()) < 0 && errno == EPIPE;
    const timespec at_once{};
    if (broken && sigismember(&before, SIGPIPE) == 0) sigtimedwait(&pipe_signal, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace andon
