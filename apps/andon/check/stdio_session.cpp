#include "check/stdio_session.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <system_error>
#include <unistd.h>

namespace andon::check {
namespace {

constexpr std::size_t longest_answer = std::size_t{64} << 20U;
constexpr std::size_t longest_log = std::size_t{512} << 10U;

}  // namespace

process_tree start_server(const command& what, process_stdio streams) try {
    return process_tree::start(what, streams);
} catch (const std::exception& error) {
    throw server_gone(std::string("the server cannot be started: ") + error.what());
}

bool read_log(int fd, std::string& log) {
    std::array<char, 16384> bytes{};
    for (;;) {
        const ssize_t got = ::read(fd, bytes.data(), bytes.size());
        if (got < 0) return errno == EAGAIN || errno == EINTR;
        if (got == 0) return false;
        log.append(bytes.data(), static_cast<std::size_t>(got));
        if (log.size() > longest_log) log.erase(0, log.size() - longest_log / 2);
    }
}

std::string in_words(const std::optional<exit_status>& ended) {
    if (!ended) return "it closed its standard output";
    if (!ended->signalled) return "it exited with " + std::to_string(ended->code);
    return "it was killed by signal " + std::to_string(ended->code) + " (" + ::strsignal(ended->code) + ")";
}

stdio_session::stdio_session(const command& what, session_options how)
    : session(how),
      process_(start_server(what, {.in = stdio::pipe, .out = stdio::pipe, .err = stdio::pipe})),
      lines_(longest_answer) {}

void stdio_session::write(const outgoing& message) {
    const std::string line = message.text + '\n';
    const auto until = std::chrono::steady_clock::now() + patience();
    for (std::string_view left = line; !left.empty();) {
        const ssize_t wrote = ::write(process_.in(), left.data(), left.size());
        if (wrote > 0) {
            left.remove_prefix(static_cast<std::size_t>(wrote));
            continue;
        }
        if (errno != EAGAIN && errno != EINTR) {
            const std::string gone = why_gone();
            throw server_gone((process_.exited() ? gone : "the server does not read any more") + last_words());
        }
        if (std::chrono::steady_clock::now() > until) throw server_hangs("reads nothing of its input" + last_words());
        pollfd room{process_.in(), POLLOUT, 0};
        ::poll(&room, 1, 20);
        pump(milliseconds(0));  // it may wait for us to read
    }
}

bool stdio_session::pump(milliseconds limit) {
    if (ended_) return false;
    std::array<pollfd, 2> ready{pollfd{process_.out(), POLLIN, 0}, pollfd{process_.err(), POLLIN, 0}};
    ::poll(ready.data(), ready.size(), static_cast<int>(limit.count()));
    take_log();
    const auto room = lines_.room();
    const ssize_t got = ::read(process_.out(), room.data(), room.size());
    if (got == 0) {
        ended_ = true;
        return false;
    }
    if (got > 0) {
        lines_.filled(static_cast<std::size_t>(got));
        while (const auto line = lines_.next()) {
            if (!line->too_long) take(line->text, {});
        }
    }
    return true;
}

void stdio_session::take_log() {
    if (process_.err() >= 0 && !read_log(process_.err(), log_)) process_.close_err();
}

std::string stdio_session::why_gone() {
    // The end of the output may be seen before that of the process.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    for (process_.poll(); !process_.exited() && std::chrono::steady_clock::now() < until; process_.poll()) {
        pollfd report{process_.report_fd(), POLLIN, 0};
        ::poll(&report, 1, 100);
    }
    take_log();
    return "the server is gone: " + in_words(process_.exited());
}

std::optional<process_view> stdio_session::processes() const { return process_view::of_command(process_.pid()); }

}  // namespace andon::check
