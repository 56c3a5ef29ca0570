#include "client/raw_http_server.hpp"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <fcntl.h>
#include <future>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include "andon/wire/message.hpp"

namespace andon {
namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

int checked(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
    return result;
}

std::string chunk(std::string_view data) {
    std::array<char, 32> size{};
    std::snprintf(size.data(), size.size(), "%zx\r\n", data.size());
    return std::string(size.data()) + std::string(data) + "\r\n";
}

}  // namespace

// A connection.

raw_http_connection::~raw_http_connection() {
    if (fd_ >= 0) ::close(fd_);
}

bool raw_http_connection::write(std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    while (fd_ >= 0 && !bytes.empty()) {
        const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return bytes.empty();
}

void raw_http_connection::close() {
    const std::lock_guard lock(mutex_);
    if (fd_ >= 0) ::shutdown(fd_, SHUT_RDWR);
}

void raw_http_connection::end() {
    const std::lock_guard lock(mutex_);
    if (fd_ >= 0) ::shutdown(fd_, SHUT_WR);
}

void raw_http_connection::reset() {
    const std::lock_guard lock(mutex_);
    sockaddr nobody{};
    nobody.sa_family = AF_UNSPEC;
    // Unlike close() at once, though the server's thread is looking at it. Not connect(): the thread sanitizer takes
    // that for a new descriptor.
    ::syscall(SYS_connect, fd_, &nobody, sizeof nobody);
}

bool raw_http_connection::closed_by_client() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return gone_; });
}

// A request.

std::string raw_http_request::header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
}

json::object raw_http_request::message() const { return body.empty() ? json::object() : json::parse(body).as_object(); }

std::string raw_http_request::rpc() const {
    const json::object parsed = message();
    const json::value* const name = parsed.if_contains("method");
    return name != nullptr ? std::string(name->as_string()) : std::string();
}

void raw_http_request::reply(std::string_view status, const std::string& text, const std::string& more_headers) const {
    on->write("HTTP/1.1 " + std::string(status) + "\r\n" + more_headers +
              "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
}

void raw_http_request::reply_json(const json::object& answer, std::string_view status,
                                  const std::string& more_headers) const {
    reply(status, json::serialize(answer), more_headers + "Content-Type: application/json\r\n");
}

void raw_http_request::answer(json::object result, const std::string& more_headers) const {
    reply_json({{"jsonrpc", "2.0"}, {"id", id()}, {"result", std::move(result)}}, "200 OK", more_headers);
}

json::object text_message(const json::value& id, std::string_view text) {
    return {{"jsonrpc", "2.0"},
            {"id", id},
            {"result", {{"resultType", "complete"}, {"content", {{{"type", "text"}, {"text", text}}}}}}};
}

void raw_http_request::answer_text(std::string_view text) const { reply_json(text_message(id(), text)); }

void raw_http_request::begin_events() const {
    on->write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
}

void raw_http_request::event(std::string_view data, std::string_view id, std::optional<int> retry) const {
    std::string text;
    if (!id.empty()) text += "id: " + std::string(id) + "\n";
    if (retry) text += "retry: " + std::to_string(*retry) + "\n";
    on->write(chunk(text + "data: " + std::string(data) + "\n\n"));
}

void raw_http_request::event(const json::object& message, std::string_view id) const {
    event(json::serialize(message), id);
}

void raw_http_request::progress(double done) const {
    const json::object asked = message();
    event({{"jsonrpc", "2.0"},
           {"method", "notifications/progress"},
           {"params", {{"progressToken", asked.at("params").at("_meta").at("progressToken")}, {"progress", done}}}});
}

void raw_http_request::end_events() const { on->write("0\r\n\r\n"); }

// The server.

raw_http_server::raw_http_server(int backlog) {
    listener_ = checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    checked(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), "bind");
    checked(::listen(listener_, backlog), "listen");
    checked(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
    port_ = ntohs(address.sin_port);
    std::array<int, 2> ends{};
    checked(::pipe2(ends.data(), O_CLOEXEC), "pipe");
    wake_read_ = ends[0];
    wake_write_ = ends[1];
    thread_ = std::thread([this] { run(); });
}

raw_http_server::~raw_http_server() {
    {
        const std::lock_guard lock(mutex_);
        leaving_ = true;
    }
    wake();
    thread_.join();
    for (const int fd : {listener_, wake_read_, wake_write_}) ::close(fd);
}

void raw_http_server::wake() const { EXPECT_EQ(::write(wake_write_, "x", 1), 1); }

void raw_http_server::stop_accepting() {
    std::unique_lock lock(mutex_);
    accepting_ = false;
    wake();
    changed_.wait(lock, [&] { return !looks_for_new_; });
}

void raw_http_server::go_on_accepting() {
    const std::lock_guard lock(mutex_);
    accepting_ = true;
    wake();
}

void raw_http_server::run() {
    std::vector<std::shared_ptr<raw_http_connection>> all;
    std::array<char, 65'536> buffer{};
    for (;;) {
        std::vector<pollfd> ready{{wake_read_, POLLIN, 0}};
        {
            const std::lock_guard lock(mutex_);
            if (leaving_) return;
            looks_for_new_ = accepting_;
            changed_.notify_all();
            ready.push_back({accepting_ ? listener_ : -1, POLLIN, 0});
        }
        for (const auto& each : all) {
            const std::lock_guard lock(each->mutex_);
            ready.push_back({each->gone_ ? -1 : each->fd_, POLLIN, 0});
        }
        if (::poll(ready.data(), ready.size(), -1) < 0) continue;
        if (ready[0].revents != 0) static_cast<void>(::read(wake_read_, buffer.data(), 1));
        const std::size_t known = all.size();
        if (ready[1].revents != 0) {
            const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (fd >= 0) {
                const int at_once = 1;
                ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
                const std::lock_guard lock(mutex_);
                all.push_back(std::make_shared<raw_http_connection>(fd, ++accepted_));
            }
        }
        for (std::size_t i = 0; i < known; ++i) {
            if (ready[i + 2].revents == 0) continue;
            const ssize_t got = ::recv(ready[i + 2].fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
            if (got > 0) {
                take(all[i], {buffer.data(), static_cast<std::size_t>(got)});
            } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
                const std::lock_guard lock(all[i]->mutex_);
                all[i]->gone_ = true;
                all[i]->changed_.notify_all();
            }
        }
    }
}

void raw_http_server::take(const std::shared_ptr<raw_http_connection>& on, std::string_view bytes) {
    on->buffer_ += bytes;
    for (;;) {
        const std::size_t end = on->buffer_.find("\r\n\r\n");
        if (end == std::string::npos) return;
        raw_http_request request;
        const std::string head = on->buffer_.substr(0, end + 2);
        const std::size_t first = head.find("\r\n");
        const std::string line = head.substr(0, first);
        request.method = line.substr(0, line.find(' '));
        request.target = line.substr(request.method.size() + 1, line.rfind(' ') - request.method.size() - 1);
        for (std::size_t at = first + 2; at < head.size();) {
            const std::size_t stop = head.find("\r\n", at);
            const std::string field = head.substr(at, stop - at);
            const std::size_t colon = field.find(':');
            request.headers[lower(field.substr(0, colon))] = field.substr(colon + 2);
            at = stop + 2;
        }
        const std::string length = request.header("content-length");
        const std::size_t size = length.empty() ? 0 : std::stoul(length);
        if (on->buffer_.size() < end + 4 + size) return;
        request.body = on->buffer_.substr(end + 4, size);
        on->buffer_.erase(0, end + 4 + size);
        request.on = on;
        request.when = std::chrono::steady_clock::now();
        dispatch(std::move(request));
    }
}

void raw_http_server::dispatch(raw_http_request request) {
    if (request.method == "GET" && request.header("last-event-id").empty() && !listened_to_) {
        return request.reply("405 Method Not Allowed");
    }
    const std::lock_guard lock(mutex_);
    if (request.method == "DELETE") {
        deleted_.push_back(request.header("mcp-session-id"));
        if (answers_deletes_) request.reply("200 OK");
    } else {
        requests_.push_back(std::move(request));
    }
    changed_.notify_all();
}

raw_http_request raw_http_server::next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, patience, [&] { return !requests_.empty(); })) {
        throw std::runtime_error("no request came");
    }
    auto first = std::move(requests_.front());
    requests_.pop_front();
    return first;
}

raw_http_request raw_http_server::next(std::string_view rpc) {
    auto came = next();
    EXPECT_EQ(came.rpc(), rpc) << came.method << ' ' << came.body;
    return came;
}

bool raw_http_server::nothing_came() {
    const std::lock_guard lock(mutex_);
    return requests_.empty();
}

std::vector<std::string> raw_http_server::deleted() {
    const std::lock_guard lock(mutex_);
    return deleted_;
}

int raw_http_server::connections() {
    const std::lock_guard lock(mutex_);
    return accepted_;
}

void raw_http_server::fence(client& client) {
    auto pending = client.request("prompts/list");
    next("prompts/list").answer({{"resultType", "complete"}, {"prompts", json::array()}});
    EXPECT_TRUE(pending.get().completed()) << pending.get().message;
}

client raw_http_server::connect(client_options options, http_client_options how, std::string session) {
    auto hands = std::async(std::launch::async, [&, newest = options.revisions.back()] { shake(newest, session); });
    auto made = client::connect_http(url(), std::move(how), std::move(options));
    hands.get();
    return made;
}

void raw_http_server::shake(revision speaks, const std::string& session) {
    if (era_of(speaks) == era::modern) {
        next("server/discover")
            .answer({{"resultType", "complete"},
                     {"supportedVersions", {to_string(speaks)}},
                     {"capabilities", json::object()}});
        return;
    }
    next("initialize")
        .answer({{"protocolVersion", to_string(speaks)},
                 {"capabilities", json::object()},
                 {"serverInfo", {{"name", "raw"}, {"version", "1"}}}},
                session.empty() ? "" : "Mcp-Session-Id: " + session + "\r\n");
    next("notifications/initialized").reply("202 Accepted");
}

}  // namespace andon
