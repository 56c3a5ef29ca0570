#include "andon/transport/log.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <utility>

#include "transport/log_write.hpp"

namespace andon {
namespace detail {
namespace {

constexpr std::array<std::string_view, 5> names{"debug", "info", "warning", "error", "off"};

}  // namespace

std::string_view to_string(log_level level) noexcept { return names[static_cast<std::size_t>(level)]; }

std::optional<log_level> log_level_named(std::string_view name) noexcept {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (name == names[i]) return static_cast<log_level>(i);
    }
    return std::nullopt;
}

std::optional<log_level> log_level_of_environment() {
    const char* const asked = std::getenv("ANDON_LOG");  // NOLINT(concurrency-mt-unsafe): nobody sets it
    return asked == nullptr ? std::nullopt : log_level_named(asked);
}

void write_log(int descriptor, std::string_view lines) noexcept {
    if (lines.empty()) return;
    pollfd ready{descriptor, POLLOUT, 0};
    if (::poll(&ready, 1, 0) != 1) return;
    // On any thread, and standard error may be a pipe that nobody reads any more: that must not end the program.
    sigset_t pipe_signal;
    sigset_t before;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    const bool broken = ::write(descriptor, lines.data(), lines.size()) < 0 && errno == EPIPE;
    const timespec at_once{};
    if (broken && sigismember(&before, SIGPIPE) == 0) sigtimedwait(&pipe_signal, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace detail

namespace {

constexpr std::size_t longest_line = 2'048;

void append_line(std::string& to, log_level level, std::string_view text) {
    static const log_level from = detail::log_level_of_environment().value_or(log_level::info);
    if (level < from) return;
    const std::size_t begin = to.size();
    ((to += "andon: ") += detail::to_string(level)) += ": ";
    to += text;
    if (to.size() - begin > longest_line) to.resize(begin + longest_line);
    to += '\n';
}

void write_to_stderr(std::string_view lines) { detail::write_log(STDERR_FILENO, lines); }

}  // namespace

void log_to_stderr(log_level level, std::string_view text) {
    std::string line;
    append_line(line, level, text);
    write_to_stderr(line);
}

void log_sink::operator()(std::span<const log_line> lines) const noexcept try {
    const auto* const plain = sink_.target<void (*)(log_level, std::string_view)>();
    if (plain == nullptr || *plain != log_to_stderr) {
        for (const log_line& each : lines) (*this)(each.level, each.text);
        return;
    }
    std::string some;
    for (const log_line& each : lines) {
        if (some.size() + longest_line > detail::longest_log_write) write_to_stderr(std::exchange(some, {}));
        append_line(some, each.level, each.text);
    }
    write_to_stderr(some);
} catch (...) {  // NOLINT(bugprone-empty-catch)
}

}  // namespace andon
