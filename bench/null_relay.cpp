#include "null_relay.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <thread>
#include <unistd.h>

#include "http_null_peer.hpp"
#include "null_peer.hpp"

namespace andon::bench {
namespace {

using words = std::vector<std::string>;

struct pipes_to_server {
    int to = -1;
    int from = -1;
};

pipes_to_server start(words command) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) std::_Exit(1);
    if (::fork() == 0) {
        ::dup2(in[0], STDIN_FILENO);
        ::dup2(out[1], STDOUT_FILENO);
        std::vector<char*> pointers;
        for (auto& word : command) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        ::execvp(pointers.front(), pointers.data());
        std::_Exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    return {in[1], out[0]};
}

void copy(int from, int to) {
    std::array<char, 65536> buffer{};
    for (ssize_t got = 0; (got = ::read(from, buffer.data(), buffer.size())) > 0;) {
        write_all(to, {buffer.data(), static_cast<std::size_t>(got)});
    }
}

// A thread that sleeps in read() for either way: there is nothing shorter.
int wrap(const pipes_to_server& server) {
    std::thread([&] {
        copy(STDIN_FILENO, server.to);
        ::close(server.to);
    }).detach();
    copy(server.from, STDOUT_FILENO);
    std::_Exit(0);
}

// Answers are one line, and come before the next request is sent.
void ask(const pipes_to_server& server, std::string_view body, std::string& answer) {
    write_all(server.to, std::string(body).append("\n"));
    if (body.find("\"id\":") == std::string_view::npos) return;
    std::array<char, 65536> buffer{};
    while (answer.empty() || answer.back() != '\n') {
        const auto got = ::read(server.from, buffer.data(), buffer.size());
        if (got <= 0) std::_Exit(1);
        answer.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

}  // namespace

int run_null_relay(const words& arguments) {
    const auto separator = std::find(arguments.begin(), arguments.end(), "--");
    if (separator == arguments.end() || separator + 1 == arguments.end()) return 2;
    const auto server = start({separator + 1, arguments.end()});
    if (arguments.front() == "wrap") return wrap(server);
    const auto port = static_cast<std::uint16_t>(std::stoi(arguments.at(2)));
    return answer_http(port, [&](std::string_view body, std::string& answer) { ask(server, body, answer); });
}

}  // namespace andon::bench
