#include "terminal.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <locale.h>
#include <poll.h>
#include <sys/ioctl.h>

namespace andon::app {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// The C library knows how wide a character is, in a locale that has it: not the user's, since our text is UTF-8
/// whatever that is.
class wide_characters {
public:
    wide_characters() noexcept : before_(::uselocale(theirs())) {}
    wide_characters(const wide_characters&) = delete;
    wide_characters& operator=(const wide_characters&) = delete;
    ~wide_characters() { ::uselocale(before_); }

    struct character {
        std::size_t bytes = 1;
        std::size_t columns = 1;
    };
    [[nodiscard]] static character first_of(std::string_view text) noexcept {
        character found;
        wchar_t code = 0;
        std::mbstate_t state{};
        const std::size_t bytes = theirs() == nullptr ? 0 : std::mbrtowc(&code, text.data(), text.size(), &state);
        if (bytes == 0 || bytes > text.size()) {  // nobody knows, and one is shown for it
            while (found.bytes < text.size() && continues_character(text[found.bytes])) ++found.bytes;
            return found;
        }
        const int columns = ::wcwidth(code);  // below 0: it is newer than the C library
        return {bytes, columns < 0 ? 1 : static_cast<std::size_t>(columns)};
    }

private:
    static locale_t theirs() noexcept {
        static const locale_t found = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
        return found;
    }
    locale_t before_;
};

constexpr std::size_t widest_character = 2;

/// The longest beginning that fits: of whole characters, with the marks that stand on the last.
wide_characters::character beginning_of(std::string_view text, std::size_t columns) {
    const wide_characters here;
    wide_characters::character taken{0, 0};
    while (taken.bytes < text.size()) {
        const auto next = here.first_of(text.substr(taken.bytes));
        if (taken.columns + next.columns > columns) break;
        taken.bytes += next.bytes;
        taken.columns += next.columns;
    }
    return taken;
}

std::string printed(const char* format, double value) {
    std::array<char, 32> buffer{};
    std::snprintf(buffer.data(), buffer.size(), format, value);
    return buffer.data();
}

}  // namespace

std::string fit(std::string_view text, std::size_t columns, align side) {
    std::string shown(text);
    auto taken = beginning_of(text, columns);
    if (taken.bytes < text.size() && columns > 0) {
        taken = beginning_of(text, columns - 1);
        shown = std::string(text.substr(0, taken.bytes)) + "…";
        ++taken.columns;
    } else {
        shown.resize(taken.bytes);
    }
    const std::string padding(columns - taken.columns, ' ');
    return side == align::left ? shown + padding : padding + shown;
}

std::size_t width_of(std::string_view text) { return beginning_of(text, text.size() * widest_character).columns; }

std::vector<std::string> wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
    std::vector<std::string> lines;
    columns = std::max<std::size_t>(columns, 1);
    const std::string margin(std::min(indent, columns / 2), ' ');
    const auto room = [&] { return lines.empty() ? columns : columns - margin.size(); };
    const auto add = [&](std::string_view line) { lines.push_back((lines.empty() ? "" : margin) + std::string(line)); };
    while (width_of(text) > room()) {
        std::size_t end = beginning_of(text, room()).bytes;
        if (end == 0) end = beginning_of(text, widest_character).bytes;  // which does not fit into one column at all
        const std::size_t blank = text.rfind(' ', end);
        const bool at_blank = blank != std::string_view::npos && text.find_first_not_of(' ') < blank;
        const std::string_view line = text.substr(0, at_blank ? blank : end);
        add(line.substr(0, line.find_last_not_of(' ') + 1));
        text.remove_prefix(at_blank ? blank : end);
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    }
    if (!text.empty() || lines.empty()) add(text);
    return lines;
}

std::string show(duration d) {
    const auto ns = static_cast<double>(std::chrono::nanoseconds(d).count());
    if (ns < 1e3) return printed("%.0f ns", ns);
    if (ns < 1e6) return printed("%.0f µs", ns / 1e3);
    if (ns < 1e7) return printed("%.1f ms", ns / 1e6);
    if (ns < 1e9) return printed("%.0f ms", ns / 1e6);
    return printed("%.2f s", ns / 1e9);
}

std::string palette::operator()(colour c, std::string_view text) const {
    if (!on_ || c == colour::plain) return std::string(text);
    constexpr std::array<std::string_view, 6> codes{"0", "1", "2", "31", "32", "33"};
    return "\x1b[" + std::string(codes[static_cast<std::size_t>(c)]) + 'm' + std::string(text) + "\x1b[0m";
}

void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

bool all_was_printed() {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    return ::poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

bool on_terminal(int fd) {
    if (::isatty(fd) == 0) return false;
    const char* terminal = std::getenv("TERM");
    return terminal != nullptr && std::string_view(terminal) != "dumb" && *terminal != '\0';
}

window_size window_of(int fd) {
    winsize given{};
    if (::ioctl(fd, TIOCGWINSZ, &given) != 0 || given.ws_col == 0) return {};
    return {given.ws_col, given.ws_row == 0 ? window_size().lines : given.ws_row};
}

std::optional<std::size_t> output_width() {
    if (::isatty(STDOUT_FILENO) == 0) return std::nullopt;
    return window_of(STDOUT_FILENO).columns;
}

bool colours_wanted() {
    const char* no = std::getenv("NO_COLOR");
    return no == nullptr || *no == '\0';
}

}  // namespace andon::app
