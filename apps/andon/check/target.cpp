#include "check/target.hpp"

#include <netinet/in.h>
#include <string_view>
#include <sys/socket.h>

#include "check/stdio_session.hpp"
#include "process/descriptor.hpp"

namespace andon::check {
namespace {

std::uint16_t free_port() {
    const detail::descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket.get(), any, size) != 0 || ::getsockname(socket.get(), any, &size) != 0) {
        throw server_gone("no port is free");
    }
    return ntohs(address.sin_port);
}

std::string with_port(std::string text, const std::string& port) {
    constexpr std::string_view mark = "{port}";
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += port.size()) {
        text.replace(at, mark.size(), port);
    }
    return text;
}

}  // namespace

std::string target::in_words() const {
    std::string words = url;
    for (const std::string& each : command) words += (words.empty() ? "" : " ") + each;
    return words;
}

std::unique_ptr<session> target::connect(session_options how) const {
    andon::command program{.argv = command, .environment = environment, .directory = directory};
    if (!over_http()) return std::make_unique<stdio_session>(program, how);
    http_server where{.url = url, .headers = headers, .ca_file = ca_file, .pid = pid};
    if (starts()) {
        const std::string port = std::to_string(free_port());
        where.url = with_port(std::move(where.url), port);
        for (std::string& each : program.argv) each = with_port(std::move(each), port);
        where.program = std::move(program);
    }
    return std::make_unique<http_session>(where, how);
}

std::unique_ptr<session> target::open(session_options how) const {
    auto made = connect(how);
    made->open();
    return made;
}

}  // namespace andon::check
