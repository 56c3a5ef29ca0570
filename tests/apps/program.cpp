#include "apps/program.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <poll.h>
#include <stdexcept>
#include <unistd.h>

#include "process/process_watch.hpp"

namespace andon {
namespace {

process_tree start(std::vector<std::string> argv, environment_list environment) {
    static const auto ignored [[maybe_unused]] = ::signal(SIGPIPE, SIG_IGN);
    return process_tree::start({.argv = std::move(argv), .environment = std::move(environment)},
                               {.in = stdio::pipe, .out = stdio::pipe, .err = stdio::pipe});
}

/// False: nothing comes any more.
bool take(int fd, std::string& into) {
    std::array<char, 65'536> part;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
    const ssize_t got = ::read(fd, part.data(), part.size());
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    into.append(part.data(), static_cast<std::size_t>(got));
    return got > 0;
}

}  // namespace

program::program(std::vector<std::string> argv, environment_list environment)
    : tree_(start(std::move(argv), std::move(environment))) {}

void program::signal(int number) const { ::kill(tree_.pid(), number); }

void program::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(tree_.in(), bytes.data(), bytes.size());
        if (wrote <= 0) return;  // it left, which is seen elsewhere
        bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

void program::close_output() {
    tree_.close_out();
    out_open_ = false;
}

void program::wait_until(const std::function<bool()>& done, std::string_view what) {
    const auto limit = std::chrono::steady_clock::now() + patience;
    while (!done()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now());
        if (left.count() <= 0 || (!out_open_ && !err_open_ && tree_.finished())) {
            throw std::runtime_error("waited in vain for " + std::string(what) + "\nstandard output:\n" + out_ +
                                     "\nstandard error:\n" + err_);
        }
        std::array<pollfd, 3> all{{{out_open_ ? tree_.out() : -1, POLLIN, 0},
                                   {err_open_ ? tree_.err() : -1, POLLIN, 0},
                                   {tree_.finished() ? -1 : tree_.report_fd(), POLLIN, 0}}};
        if (::poll(all.data(), all.size(), static_cast<int>(left.count())) < 0) continue;
        if (all[0].revents != 0) out_open_ = take(tree_.out(), out_);
        if (all[1].revents != 0) err_open_ = take(tree_.err(), err_);
        if (all[2].revents != 0) tree_.poll();
    }
}

const std::string& program::until(std::string_view text) {
    wait_until([&] { return out_.find(text) != std::string::npos; }, text);
    return out_;
}

const std::string& program::until_error(std::string_view text) {
    wait_until([&] { return err_.find(text) != std::string::npos; }, text);
    return err_;
}

std::string program::line() {
    wait_until([&] { return !out_open_ || out_.find('\n', lines_taken_) != std::string::npos; }, "a line");
    const std::size_t end = out_.find('\n', lines_taken_);
    if (end == std::string::npos) return {};
    std::string found = out_.substr(lines_taken_, end - lines_taken_);
    lines_taken_ = end + 1;
    return found;
}

int program::end() {
    wait_until([this] { return !out_open_ && !err_open_ && tree_.finished(); }, "the end");
    const exit_status status = tree_.exited().value();
    return status.signalled ? 128 + status.code : status.code;
}

int program::errors_with(std::string_view text) const {
    int count = 0;
    for (std::size_t at = err_.find(text); at != std::string::npos; at = err_.find(text, at)) {
        ++count;
        at = std::min(err_.find('\n', at), err_.size());
    }
    return count;
}

}  // namespace andon
