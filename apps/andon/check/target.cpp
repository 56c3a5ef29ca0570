#include "check/target.hpp"

#include <netinet/in.h>
#include <stdexcept>
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
    if (!over_http()) return std::make_unique<stdio_session>(command, how);
    http_server where{.url = url, .headers = headers, .ca_file = ca_file, .argv = command, .pid = pid};
    if (starts()) {
        const std::string port = std::to_string(free_port());
        where.url = with_port(std::move(where.url), port);
        for (std::string& each : where.argv) each = with_port(std::move(each), port);
    }
    return std::make_unique<http_session>(where, how);
}

std::unique_ptr<session> target::open(session_options how) const {
    auto made = connect(how);
    made->open();
    return made;
}

bool is_url(std::string_view text) { return text.starts_with("http://") || text.starts_with("https://"); }

std::vector<std::string> split_words(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    bool inside = false;  // of a word, which may be empty: ''
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote != 0 && c == quote) {
            quote = 0;
        } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
            word += line[++i];
            inside = true;
        } else if (quote == 0 && (c == '"' || c == '\'')) {
            quote = c;
            inside = true;
        } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
            if (inside) words.push_back(std::move(word));
            word.clear();
            inside = false;
        } else {
            word += c;
            inside = true;
        }
    }
    if (quote != 0) throw std::invalid_argument("a quote is not closed in: " + std::string(line));
    if (inside) words.push_back(std::move(word));
    return words;
}

}  // namespace andon::check
