#include "check/client_http.hpp"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>

#include "transport/http/request_reader.hpp"
#include "transport/http/sse.hpp"
#include "wire/unguessable.hpp"

namespace andon::check {
namespace {

constexpr std::size_t most_connections = 256;
constexpr std::size_t most_unsent = std::size_t{4} << 20U;

std::string whole(std::string_view status, std::string_view headers = {}, std::string_view body = {}) {
    return "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(headers) +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

std::string chunk(std::string_view bytes) {
    std::string size;
    for (std::size_t left = bytes.size(); left > 0; left /= 16)
        size.insert(size.begin(), "0123456789abcdef"[left % 16]);
    return size + "\r\n" + std::string(bytes) + "\r\n";
}

}  // namespace

class client_http::connection {
public:
    explicit connection(detail::descriptor socket) : socket_(std::move(socket)), reader_(make_reader()) {}

    [[nodiscard]] int fd() const noexcept { return socket_.get(); }
    [[nodiscard]] bool over() const noexcept { return over_; }
    [[nodiscard]] bool has_unsent() const noexcept { return !unsent_.empty(); }
    /// The request whose answer is being waited for; 0: none.
    [[nodiscard]] std::size_t stream() const noexcept { return stream_; }

    /// False: the client closed it.
    bool read(client_http& owner, time_point now) {
        std::array<char, 16384> bytes{};
        for (;;) {
            const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
            if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
            if (got <= 0) return false;
            input_.append(bytes.data(), static_cast<std::size_t>(got));
            if (input_.size() > most_unsent) return false;
        }
        // One request at a time: the next waits for the answer to this one.
        while (stream_ == 0 && !input_.empty() && !over_) {
            const auto fed = reader_->feed(input_);
            input_.erase(0, fed.used);
            if (fed.what == detail::request_reader::progress::more) break;
            if (fed.what == detail::request_reader::progress::failed) {
                send(whole("400 Bad Request", "Connection: close\r\n"));
                over_ = true;
                break;
            }
            const detail::http_request request = reader_->take();
            reader_ = make_reader();
            serve(owner, request, now);
        }
        return true;
    }

    void put(const client_watch::output& what) {
        if (!what.message.empty()) send(chunk(detail::sse_event(json::serialize(what.message))));
        if (!what.last) return;
        send("0\r\n\r\n");
        stream_ = 0;
    }

    void flush() {
        while (!unsent_.empty()) {
            const ssize_t wrote = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (wrote <= 0) return;
            unsent_.erase(0, static_cast<std::size_t>(wrote));
        }
    }

private:
    static std::unique_ptr<detail::request_reader> make_reader() {
        return std::make_unique<detail::request_reader>(detail::http_request_limits{});
    }

    void send(std::string_view bytes) {
        unsent_ += bytes;
        over_ = over_ || unsent_.size() > most_unsent;
        flush();
    }

    void serve(client_http& owner, const detail::http_request& request, time_point now) {
        if (request.target.substr(0, request.target.find('?')) != "/mcp") return send(whole("404 Not Found"));
        if (request.method == "DELETE") return send(whole("204 No Content"));
        if (request.method != "POST") return send(whole("405 Method Not Allowed", "Allow: POST, DELETE\r\n"));
        boost::system::error_code failed;
        const json::value message = json::parse(request.body, failed);
        if (failed || !message.is_object()) return send(whole("400 Bad Request"));
        owner.used_ = true;
        const bool asks = message.get_object().contains("id") && message.get_object().contains("method");
        if (!asks) {
            send(whole("202 Accepted"));
            owner.watch_.take(message.get_object(), 0, now);
            return;
        }
        stream_ = ++owner.streams_;
        const bool begins = text_at(message.get_object(), {"method"}) == "initialize";
        send(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
            "Transfer-Encoding: chunked\r\n" +
            (begins ? "Mcp-Session-Id: " + owner.session_ + "\r\n" : std::string()) + "\r\n");
        owner.watch_.take(message.get_object(), stream_, now);
    }

    detail::descriptor socket_;
    std::unique_ptr<detail::request_reader> reader_;
    std::string input_;
    std::string unsent_;
    std::size_t stream_ = 0;
    bool over_ = false;
};

client_http::client_http(client_watch& watch, std::uint16_t port)
    : watch_(watch),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      session_(detail::unguessable_name(16)) {
    const int again = 1;
    ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    if (::bind(listener_.get(), any, size) != 0 || ::listen(listener_.get(), 64) != 0 ||
        ::getsockname(listener_.get(), any, &size) != 0) {
        throw std::system_error(errno, std::generic_category(), "cannot listen on port " + std::to_string(port));
    }
    port_ = ntohs(address.sin_port);
}

client_http::~client_http() = default;

void client_http::add_to(std::vector<pollfd>& polled) const {
    polled.push_back({listener_.get(), POLLIN, 0});
    for (const auto& each : connections_) {
        polled.push_back({each->fd(), static_cast<short>(POLLIN | (each->has_unsent() ? POLLOUT : 0)), 0});
    }
}

void client_http::go_on(time_point now) {
    for (;;) {
        detail::descriptor made(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (made.get() < 0) break;
        if (connections_.size() < most_connections)
            connections_.push_back(std::make_unique<connection>(std::move(made)));
    }
    std::vector<const connection*> gone;
    for (const auto& each : connections_) {
        each->flush();
        if (each->read(*this, now) && !each->over()) continue;
        if (each->stream() != 0) watch_.left(each->stream(), now);
        gone.push_back(each.get());
    }
    std::erase_if(connections_,
                  [&](const auto& c) { return std::find(gone.begin(), gone.end(), c.get()) != gone.end(); });
    watch_.tick(now);
    for (const client_watch::output& each : watch_.outputs()) {
        const auto to = std::find_if(connections_.begin(), connections_.end(),
                                     [&](const auto& c) { return c->stream() == each.stream && each.stream != 0; });
        if (to != connections_.end()) (*to)->put(each);
    }
}

}  // namespace andon::check
