#include "check/plain_http.hpp"

#include <arpa/inet.h>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <condition_variable>
#include <iostream>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace broken {
namespace {

using namespace std::chrono_literals;

struct http_request {
    std::string method;
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;
};

std::string lower(std::string text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
}

bool read_request(int fd, http_request& into) {
    std::string bytes;
    std::size_t head = 0;
    std::array<char, 65536> piece{};
    const auto more = [&] {
        const ssize_t got = ::read(fd, piece.data(), piece.size());
        if (got > 0) bytes.append(piece.data(), static_cast<std::size_t>(got));
        return got > 0;
    };
    while ((head = bytes.find("\r\n\r\n")) == std::string::npos) {
        if (!more()) return false;
    }
    into.method = bytes.substr(0, bytes.find(' '));
    for (std::size_t at = bytes.find("\r\n") + 2; at < head + 2;) {
        const std::size_t end = bytes.find("\r\n", at);
        const std::size_t colon = bytes.find(':', at);
        into.headers[lower(bytes.substr(at, colon - at))] =
            bytes.substr(bytes.find_first_not_of(' ', colon + 1), end - bytes.find_first_not_of(' ', colon + 1));
        at = end + 2;
    }
    const std::size_t length = into.headers.contains("content-length") ? std::stoul(into.headers["content-length"]) : 0;
    while (bytes.size() < head + 4 + length) {
        if (!more()) return false;
    }
    into.body = bytes.substr(head + 4, length);
    return true;
}

void write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t wrote = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (wrote <= 0) return;
        bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

void write_whole(int fd, const std::string& status, const std::string& body, const std::string& headers = {}) {
    write_all(fd, "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nContent-Length: " +
                      std::to_string(body.size()) + "\r\nConnection: close\r\n" + headers + "\r\n" + body);
}

/// The stream of one request, in events.
struct event_stream final : channel {
    explicit event_stream(int socket) : fd(socket) {}

    void send(const json::object& message) override {
        const std::lock_guard lock(mutex);
        if (over) return;
        write_all(fd, "data: " + json::serialize(message) + "\n\n");
    }
    void end() override {
        const std::lock_guard lock(mutex);
        over = true;
        changed.notify_all();
    }

    int fd;
    std::mutex mutex;
    std::condition_variable changed;
    bool over = false;
};

std::string fault_of(const http_request& request, const json::object& message) {
    const auto header = [&](const char* name) {
        const auto found = request.headers.find(name);
        return found == request.headers.end() ? std::string() : found->second;
    };
    const auto* const params = message.if_contains("params");
    const auto* const meta =
        params != nullptr && params->is_object() ? params->get_object().if_contains("_meta") : nullptr;
    const auto* const version = meta != nullptr && meta->is_object()
                                    ? meta->get_object().if_contains("io.modelcontextprotocol/protocolVersion")
                                    : nullptr;
    if (version == nullptr || header("mcp-protocol-version") != std::string(version->get_string())) return "-32020";
    if (std::string(version->get_string()) != "2026-07-28") return "-32022";
    if (header("mcp-method") != std::string(message.at("method").get_string())) return "-32020";
    return "";
}

void serve(plain_server& server, int fd, bool sessions) {
    http_request request;
    if (!read_request(fd, request)) return;
    if (request.method != "POST") return write_whole(fd, "405 Method Not Allowed", "");
    const json::object message = json::parse(request.body).as_object();
    const auto stream = std::make_shared<event_stream>(fd);
    const auto* const params = message.if_contains("params");
    stream->modern = params != nullptr && params->is_object() &&
                     request.body.find("io.modelcontextprotocol/protocolVersion") != std::string::npos;
    stream->session = request.headers["mcp-session-id"];
    if (!message.contains("method") || !message.contains("id")) {
        server.take(message, stream);
        return write_whole(fd, "202 Accepted", "");
    }
    const std::string method(message.at("method").get_string());
    if (stream->modern) {
        const std::string fault = fault_of(request, message);
        const bool unknown = method.starts_with("andon/");
        if (!fault.empty() || unknown) {
            const std::string code = unknown && fault.empty() ? "-32601" : fault;
            const bool wrong = server.has("HTTP_5_says_200_to_everything");
            return write_whole(fd,
                               wrong                      ? "200 OK"
                               : unknown && fault.empty() ? "404 Not Found"
                                                          : "400 Bad Request",
                               R"({"jsonrpc":"2.0","id":1,"error":{"code":)" + code + R"(,"message":"no"}})");
        }
    }
    std::string session;
    if (method == "initialize" && sessions) {
        static std::atomic<int> count{0};
        session = "Mcp-Session-Id: session-" + std::to_string(++count) + "\r\n";
    }
    write_all(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n" + session + "\r\n");
    server.take(message, stream);
    std::unique_lock lock(stream->mutex);
    while (!stream->over) {
        stream->changed.wait_for(lock, 20ms);
        pollfd gone{fd, POLLRDHUP, 0};
        if (::poll(&gone, 1, 0) > 0 && !stream->over) {
            stream->over = true;
            lock.unlock();
            server.left(stream);
            return;
        }
    }
}

}  // namespace

void serve_http(plain_server& server, std::uint16_t port, bool sessions) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int again = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener, 128) != 0) {
        std::cerr << "cannot listen on port " << port << '\n';
        std::exit(1);
    }
    for (;;) {
        const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) continue;
        std::thread([&server, fd, sessions] {
            try {
                serve(server, fd, sessions);
            } catch (const std::exception& error) {
                write_whole(fd, "400 Bad Request", "");
            }
            ::close(fd);
        }).detach();
    }
}

}  // namespace broken
