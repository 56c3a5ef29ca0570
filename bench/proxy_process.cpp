#include "proxy_process.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "processes.hpp"

namespace andon::bench {
namespace {

std::string joined(const words& command) {
    std::string line;
    for (const auto& word : command) line += (line.empty() ? "" : " ") + word;
    return line;
}

}  // namespace

words proxy_command(const words& proxy, const words& server, std::uint16_t port) {
    words command;
    for (const auto& word : proxy) {
        if (word == "{port}") {
            command.push_back(std::to_string(port));
        } else if (word == "{server}") {
            command.push_back(joined(server));
        } else if (word == "{server...}") {
            command.insert(command.end(), server.begin(), server.end());
        } else {
            command.push_back(word);
        }
    }
    return command;
}

std::uint16_t free_port() {
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const bool known = ::bind(probe, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                       ::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    ::close(probe);
    if (!known) throw std::runtime_error("there is no free port");
    return ntohs(address.sin_port);
}

proxy_process::proxy_process(const words& proxy, const words& server, const placement& cores, std::uint16_t port)
    : server_(joined(server)), process_(proxy_command(proxy, server, port), false, cores) {}

proxy_process::~proxy_process() {
    const auto family = family_of(process_.pid());
    process_.ask_to_leave();
    for (const pid_t left : family) {
        if (left == process_.pid()) continue;
        ::kill(left, SIGKILL);
        // Ours once its parent is gone, and reaped by that if it is still there.
        const auto limit = now_ns() + 2'000'000'000;
        int status = 0;
        while (::waitpid(left, &status, WNOHANG) == 0 && now_ns() < limit) ::usleep(500);
    }
}

std::vector<pid_t> proxy_process::own_processes() const {
    auto family = family_of(process_.pid());
    std::erase_if(family, [&](pid_t each) { return command_line(each) == server_; });
    return family;
}

std::vector<pid_t> proxy_process::servers() const {
    auto family = family_of(process_.pid());
    std::erase_if(family, [&](pid_t each) { return command_line(each) != server_; });
    return family;
}

std::int64_t proxy_process::memory() const {
    std::int64_t bytes = 0;
    for (const pid_t each : own_processes()) bytes += resident(each);
    if (bytes == 0) throw std::runtime_error("/proc tells no memory of the proxy");
    return bytes;
}

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

}  // namespace andon::bench
