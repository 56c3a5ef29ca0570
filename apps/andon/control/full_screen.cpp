#include "control/full_screen.hpp"

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace andon::app {
namespace {

// The alternate screen, the cursor, the wrapping of lines.
constexpr std::string_view enter_sequence = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr std::string_view leave_sequence = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

void write_all(std::string_view bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (wrote < 0 && errno != EINTR) return;
        bytes.remove_prefix(wrote > 0 ? static_cast<std::size_t>(wrote) : 0);
    }
}

}  // namespace

full_screen::full_screen() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) throw std::system_error(errno, std::generic_category(), "terminal");
    enter();
}

full_screen::~full_screen() { leave(); }

void full_screen::enter() {
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_iflag &= ~static_cast<tcflag_t>(IXON);
    keys.c_cc[VMIN] = 0;
    keys.c_cc[VTIME] = 0;
    entered_ = true;
    if (::tcsetattr(STDIN_FILENO, TCSANOW, &keys) != 0) {
        throw std::system_error(errno, std::generic_category(), "terminal");
    }
    write_all(enter_sequence);
}

void full_screen::leave() noexcept {
    if (!entered_) return;
    entered_ = false;
    write_all(leave_sequence);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void full_screen::show(const std::vector<std::string>& lines) {
    std::string bytes = "\x1b[H";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        // Cleared before it is written: behind a line of full width the cursor stands on its last character.
        bytes += i == 0 ? "\x1b[2K" : "\r\n\x1b[2K";
        bytes += lines[i];
    }
    write_all(bytes);
}

std::string full_screen::typed() {
    std::array<char, 256> bytes{};
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : std::string();
}

}  // namespace andon::app
