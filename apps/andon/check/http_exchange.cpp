#include "check/http_exchange.hpp"

#include <array>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <span>
#include <sys/socket.h>
#include <system_error>

#include "check/session.hpp"

namespace andon::check {
namespace {

constexpr std::size_t longest_body = std::size_t{64} << 20U;
constexpr milliseconds connect_within{5000};

/// Connects before it returns: a server that is to be checked is near, and a probe has no use for half a connection.
detail::descriptor connected(const detail::endpoint& to) {
    int reason = ECONNREFUSED;
    for (const auto& address : to.addresses) {
        detail::descriptor socket(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (socket.get() < 0) {
            reason = errno;
            continue;
        }
        const int at_once = 1;
        ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
        if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address.bytes), address.size) == 0)
            return socket;
        reason = errno;
        if (reason != EINPROGRESS) continue;
        pollfd ready{socket.get(), POLLOUT, 0};
        if (::poll(&ready, 1, static_cast<int>(connect_within.count())) <= 0) {
            reason = ETIMEDOUT;
            continue;
        }
        socklen_t size = sizeof reason;
        ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &reason, &size);
        if (reason == 0) return socket;
    }
    throw server_gone("cannot connect to " + to.authority + ": " + std::generic_category().message(reason));
}

}  // namespace

http_exchange::http_exchange(const detail::endpoint& to, const std::shared_ptr<detail::tls_context>& tls,
                             std::string request, std::string raw_id)
    : raw_id_(std::move(raw_id)),
      stream_(connected(to), tls, false, to.host),
      unsent_(std::move(request)),
      response_(std::make_unique<detail::response_reader>()),
      events_(longest_body) {
    write_more();
}

short http_exchange::events() const noexcept {  // NOLINT(google-runtime-int): poll's own
    const bool writes = stream_.wants_write();
    return static_cast<short>(POLLIN | (writes ? POLLOUT : 0));  // NOLINT(google-runtime-int)
}

void http_exchange::go_on() {
    if (over_) return;
    if (stream_.wants_write() && stream_.flush().what == detail::byte_stream::status::failed) {
        end(std::string(stream_.error()));
        return;
    }
    write_more();
    read_more();
}

void http_exchange::drop() {
    if (over_) return;
    dropped_ = true;
    over_ = true;
    stream_.close();
}

void http_exchange::write_more() {
    while (!unsent_.empty()) {
        const auto wrote = stream_.write(unsent_);
        if (wrote.what != detail::byte_stream::status::ok) return;  // reading tells what is wrong
        unsent_.erase(0, wrote.bytes);
    }
}

void http_exchange::read_more() {
    std::array<char, 16384> bytes{};
    while (!over_) {
        const auto got = stream_.read(std::span(bytes));
        using status = detail::byte_stream::status;
        if (got.what == status::would_block) {
            write_more();  // a handshake may have ended
            return;
        }
        if (got.what == status::ok) {
            response_->add({bytes.data(), got.bytes});
            take_steps();
        } else if (got.what == status::closed) {
            const auto last = response_->finish();
            end(last == detail::response_reader::step::end ? "" : "the connection closed before the end of the answer");
        } else {
            end(std::string(stream_.error()));
        }
    }
}

void http_exchange::take_steps() {
    using step = detail::response_reader::step;
    for (step now = response_->next(); now != step::more; now = response_->next()) {
        if (now == step::head) {
            status_ = response_->status();
            in_events_ = response_->media_type() == "text/event-stream";
        } else if (now == step::body) {
            std::string_view piece = response_->piece();
            if (!in_events_) {
                body_ += piece;
                if (body_.size() > longest_body) return end("an endless body");
                continue;
            }
            while (auto event = events_.next(piece)) {
                if (event->id) last_event_id_ = *event->id;
                if (!event->data.empty()) messages.push_back(std::move(event->data));
            }
        } else {
            end(now == step::failed ? response_->error() : "");
            return;
        }
    }
}

void http_exchange::end(std::string why) {
    if (over_) return;
    over_ = true;
    error_ = std::move(why);
    if (!in_events_ && !body_.empty()) messages.push_back(body_);
    stream_.close();
}

}  // namespace andon::check
