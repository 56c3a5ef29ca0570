#include "apps/tmux_screen.hpp"

#include <atomic>
#include <chrono>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <unistd.h>

#include "process/process_watch.hpp"

namespace andon {
namespace {

std::string output_of(std::vector<std::string> argv) {
    process_tree tree = process_tree::start({.argv = std::move(argv)}, {.err = stdio::null});
    std::string text = read_all(tree.out());
    tree.wait();
    return text;
}

std::string shell_quoted(const std::string& text) {
    std::string safe = "'";
    for (const char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return safe + '\'';
}

std::string until(const std::function<std::string()>& look, const std::function<bool(const std::string&)>& found,
                  std::string_view what) {
    const auto limit = std::chrono::steady_clock::now() + patience;
    for (;;) {
        std::string seen = look();
        if (found(seen)) return seen;
        if (std::chrono::steady_clock::now() > limit) {
            throw std::runtime_error("waited in vain to see " + std::string(what) + "; the screen:\n" + seen);
        }
        // tmux tells nobody of what is drawn: looking again is all that one can do.
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

std::string unused_name() {
    static std::atomic<int> number = 0;
    return "andon-test-" + std::to_string(::getpid()) + '-' + std::to_string(++number);
}

}  // namespace

bool tmux_screen::there_is() {
    try {
        return !output_of({"tmux", "-V"}).empty();
    } catch (const std::exception&) {
        return false;
    }
}

// In the foreground, so that it ends with the test, however that ends.
tmux_screen::tmux_screen(int columns, int rows, const std::string& line,
                         const std::map<std::string, std::string>& environment)
    : socket_(unused_name()),
      server_(process_tree::start({.argv = {"tmux", "-u", "-D", "-L", socket_, "-f", "/dev/null"},
                                   .environment = {{"LC_ALL", "C.UTF-8"}, {"ENV", ""}}},
                                  {.out = stdio::null})) {
    std::string exports;
    for (const auto& [name, value] : environment) exports += "export " + name + '=' + shell_quoted(value) + "; ";
    static_cast<void>(until(
        [&] {
            return tmux({"new-session", "-d", "-P", "-x", std::to_string(columns), "-y", std::to_string(rows),
                         exports + line + "; echo \"[ended $?]\"; exec sleep 600"});
        },
        [](const std::string& made) { return !made.empty(); }, "a session of tmux"));
}

std::string tmux_screen::tmux(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"tmux", "-u", "-N", "-L", socket_});
    return output_of(std::move(arguments));
}

std::vector<std::string> tmux_screen::rows() const {
    std::istringstream from(glass());
    std::vector<std::string> all;
    for (std::string line; std::getline(from, line);) all.push_back(line);
    return all;
}

pid_t tmux_screen::running() const {
    const std::string in_window = shown("pane_pid");
    std::string below = output_of({"pgrep", "-P", in_window.substr(0, in_window.find('\n'))});
    // The window's shell runs the one that is typed into, and that one the program.
    if (const std::string next = output_of({"pgrep", "-P", below.substr(0, below.find('\n'))}); !next.empty())
        below = next;
    return std::stoi(below);
}

std::string tmux_screen::wait_for(std::string_view what) const {
    return until([this] { return text(); },
                 [&](const std::string& seen) { return seen.find(what) != std::string::npos; }, what);
}

std::string tmux_screen::wait_for_match(const std::string& pattern) const {
    const std::regex wanted(pattern);
    return until([this] { return text(); }, [&](const std::string& seen) { return std::regex_search(seen, wanted); },
                 pattern);
}

std::string tmux_screen::wait_until(const std::function<bool(const std::string&)>& found, std::string_view what) const {
    return until([this] { return glass(); }, found, what);
}

void tmux_screen::enter(const std::string& line) const {
    type(line);
    press("Enter");
}

void tmux_screen::resize(int columns, int rows) const {
    static_cast<void>(tmux({"resize-window", "-x", std::to_string(columns), "-y", std::to_string(rows)}));
}

}  // namespace andon
