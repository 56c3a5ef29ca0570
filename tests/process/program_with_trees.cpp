// A program of its own for what a test cannot do to itself: be killed, or run without standard streams.
#include <fcntl.h>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>

#include "andon/process/process_tree.hpp"

namespace {

// Starts the line from a thread that ends at once: the tree is to live as long as the program, not as the thread.
int hold(const std::string& line) {
    std::thread([&line] {
        static const auto tree =
            andon::process_tree::start(andon::command::shell(line), {.out = andon::stdio::inherit});
    }).join();
    for (;;) ::pause();
}

// The exit code says which step went wrong.
int without_streams() {
    for (int fd = 0; fd < 3; ++fd) ::close(fd);
    auto what = andon::command::shell("read line && echo $line && echo to stderr >&2");
    auto tree = andon::process_tree::start(what, {andon::stdio::pipe, andon::stdio::pipe, andon::stdio::inherit});
    if (tree.in() < 3 || tree.out() < 3 || tree.report_fd() < 3) return 1;
    for (int fd = 0; fd < 3; ++fd) {
        if (::fcntl(fd, F_GETFD) >= 0) return 2;
    }
    constexpr std::string_view line = "through\n";
    if (::write(tree.in(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) return 3;
    if (!tree.wait()) return 4;
    if (tree.exited() != andon::exit_status{false, 0}) return 5;
    std::string text(64, '\0');
    const auto size = ::read(tree.out(), text.data(), text.size());
    if (size < 0 || std::string_view(text).substr(0, static_cast<std::size_t>(size)) != line) return 6;
    try {
        (void)andon::process_tree::start({.argv = {"/no/such/program"}});
    } catch (const std::exception&) {
        return 0;
    }
    return 7;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view what = argc > 1 ? argv[1] : "";
    if (what == "hold" && argc > 2) return hold(argv[2]);
    if (what == "without_streams") return without_streams();
    return 100;
}
