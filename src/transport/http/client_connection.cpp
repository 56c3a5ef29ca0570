#include "transport/http/client_connection.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>

#include "transport/clock.hpp"
#include "transport/http/connection_pool.hpp"

namespace andon::detail {
namespace {

using readiness = event_loop::readiness;

std::string words(int error) {
    const char* const text = ::strerrordesc_np(error);
    return text != nullptr ? text : "error " + std::to_string(error);
}

void set(int fd, int level, int option, int value) noexcept {
    static_cast<void>(::setsockopt(fd, level, option, &value, sizeof value));
}

descriptor tcp_socket(int family) {
    descriptor made(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (made.get() < 0) return made;
    set(made.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    // A host that vanishes says nothing, and a stream may be silent for hours.
    set(made.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
    set(made.get(), IPPROTO_TCP, TCP_KEEPIDLE, 30);
    set(made.get(), IPPROTO_TCP, TCP_KEEPINTVL, 10);
    set(made.get(), IPPROTO_TCP, TCP_KEEPCNT, 3);
    return made;
}

/// How long the server keeps a connection that nobody uses, less a second for the way there (`Keep-Alive: timeout=5`).
duration kept_by_server(std::string_view header) {
    constexpr std::string_view key = "timeout=";
    const std::size_t at = header.find(key);
    unsigned seconds = 0;
    if (at == std::string_view::npos) return duration::max();
    const std::string_view digits = header.substr(at + key.size());
    if (std::from_chars(digits.data(), digits.data() + digits.size(), seconds).ec != std::errc())
        return duration::max();
    return std::chrono::seconds(seconds == 0 ? 0 : seconds - 1);
}

}  // namespace

client_connection::client_connection(connection_pool& pool) : pool_(&pool), timer_(*pool.loop_) {}
client_connection::~client_connection() = default;

void client_connection::begin(std::shared_ptr<exchange> what) {
    exchange_ = std::move(what);
    exchange_->connection_ = this;
    exchange_->phase_ = exchange::phase::connecting;
    written_ = 0;
    timer_.clear();
    reader_.emplace(pool_->settings_.longest_head);
    if (!stream_) return connect_next();
    write();
    watch();
}

void client_connection::connect_next() {
    if (!addresses_) addresses_ = pool_->settings_.to->addresses();
    const std::string& authority = pool_->settings_.to->where().authority;
    while (next_address_ < addresses_->size()) {
        const endpoint::address& to = (*addresses_)[next_address_++];
        connecting_ = tcp_socket(to.bytes.ss_family);
        if (connecting_.get() >= 0 &&
            (::connect(connecting_.get(), reinterpret_cast<const sockaddr*>(&to.bytes), to.size) == 0 ||
             errno == EINPROGRESS)) {
            watch_ = std::make_unique<event_loop::watch>(*pool_->loop_, connecting_.get());
            await_writable_ = true;
            watch_->when(readiness::writable, [this] { connected(); });
            // The others are to have their turn in the same time.
            const auto share = pool_->settings_.connect_timeout / static_cast<int>(addresses_->size());
            timer_.set(now() + share, [this, &authority] {
                why_not_ = "it took too long";
                if (stream_) return lose("cannot connect to " + authority + ": " + why_not_, true);
                watch_.reset();
                connect_next();
            });
            return;
        }
        why_not_ = words(errno);
    }
    connecting_.close();
    pool_->settings_.to->unreachable();
    break_later("cannot connect to " + authority + ": " + why_not_);
}

void client_connection::connected() {
    const auto self = shared_from_this();
    await_writable_ = false;
    int failed = 0;
    socklen_t size = sizeof failed;
    if (::getsockopt(connecting_.get(), SOL_SOCKET, SO_ERROR, &failed, &size) != 0) failed = errno;
    if (failed != 0) {
        why_not_ = words(failed);
        watch_.reset();
        return connect_next();
    }
    try {
        stream_.emplace(std::move(connecting_), pool_->settings_.to->tls(), false, pool_->settings_.to->where().host);
    } catch (const std::invalid_argument& refused) {
        return lose(refused.what(), true);
    }
    write();
    watch();
}

void client_connection::write() {
    if (!stream_ || !exchange_ || write_failed_) return;
    const std::string& bytes = exchange_->request_.bytes;
    while (written_ < bytes.size()) {
        const auto wrote = stream_->write(std::string_view(bytes).substr(written_));
        if (wrote.what == byte_stream::status::would_block) break;
        if (wrote.what != byte_stream::status::ok) {
            write_failed_ = true;  // reading tells why, and whether there was an answer before that
            return;
        }
        if (written_ == 0) timer_.clear();  // we are connected
        written_ += wrote.bytes;
        exchange_->phase_ = exchange::phase::sending;
    }
    if (written_ < bytes.size() || exchange_->phase_ == exchange::phase::sent) return;
    exchange_->phase_ = exchange::phase::sent;
    exchange_->sent_at_ = now();
    exchange_->listener_->on_sent();
}

void client_connection::watch() {
    if (!watch_ || !stream_) return;
    if (write_failed_) return read_later();
    if (!held() && !std::exchange(await_readable_, true)) {
        watch_->when(readiness::readable, [this] {
            await_readable_ = false;
            read();
        });
    }
    if (stream_->wants_write() && !std::exchange(await_writable_, true)) {
        watch_->when(readiness::writable, [this] {
            await_writable_ = false;
            static_cast<void>(stream_->flush());
            write();
            watch();
        });
    }
}

void client_connection::read() {
    const auto self = shared_from_this();
    constexpr int at_once = 16;  // a server that never stops writing must not hold up the others
    for (int i = 0; i < at_once; ++i) {
        if (!stream_ || held()) return;
        // Not one for all: who is told of an answer may let another client run out, which reads as well.
        std::array<char, std::size_t{64} << 10U> bytes;
        const auto got = stream_->read(bytes);
        switch (got.what) {
            case byte_stream::status::ok: take({bytes.data(), got.bytes}); break;
            case byte_stream::status::would_block:
                if (write_failed_) return ended(stream_->error(), false, true);
                write();
                return watch();
            case byte_stream::status::closed: return ended("", true, write_failed_);
            case byte_stream::status::failed:
                return ended(stream_->error(), false, write_failed_ || stream_->error() == words(ECONNRESET));
        }
    }
    read_later();
}

/// What is brief, or says that a cancel has arrived, waits for nobody.
bool client_connection::held() const noexcept {
    return pool_->held_ && exchange_ &&
           (exchange_->request_.in == exchange::lane::call || exchange_->request_.in == exchange::lane::apart);
}

void client_connection::read_later() {
    pool_->loop_->post([kept = weak_from_this()] {
        if (const auto us = kept.lock()) us->read();
    });
}

void client_connection::take(std::string_view bytes) {
    if (!exchange_) return vanish();  // nobody asked
    const auto current = exchange_;
    reader_->add(bytes);
    while (exchange_ == current) {
        switch (reader_->next()) {
            case response_reader::step::more: return;
            case response_reader::step::head: current->listener_->on_head(*reader_); break;
            case response_reader::step::body: current->listener_->on_body(reader_->piece()); break;
            case response_reader::step::end: return complete();
            case response_reader::step::failed:
                return lose("the server's answer cannot be read: " + reader_->error(), false);
        }
    }
}

void client_connection::complete() {
    const auto self = shared_from_this();
    const auto current = std::move(exchange_);
    const bool reusable =
        reader_->reusable() && current->phase_ == exchange::phase::sent && stream_ && !stream_->wants_write();
    const duration kept = kept_by_server(reader_->header("keep-alive"));
    used_before_ = true;
    if (reusable && kept > duration::zero()) {
        pool_->rest(*this, kept);
    } else {
        vanish();
    }
    pool_->done_with(*current);
    current->listener_->on_end();
}

/// `clean`: the server said that nothing more comes.
void client_connection::ended(std::string_view why, bool clean, bool unread) {
    if (!exchange_) return vanish();
    const auto kept = exchange_;
    if (clean && reader_->begun() && reader_->finish() == response_reader::step::end) {
        watch_.reset();
        stream_.reset();
        return complete();
    }
    const bool stale = used_before_ && !reader_->begun();
    if (clean && stale && !unread && !kept->repeated_ && !kept->request_.repeatable) return await_refusal();
    const std::string said = !why.empty()        ? std::string(why)
                             : !reader_->begun() ? "the server closed the connection without an answer"
                                                 : reader_->error();
    lose(said.empty() ? "the connection broke" : said, unread);
}

/// A server that had closed the connection when our bytes came refuses them, and we hear of it right behind its end.
void client_connection::await_refusal() {
    constexpr auto refuses_within = std::chrono::milliseconds(100);
    const auto decide = [this] {
        int refused = 0;
        socklen_t size = sizeof refused;
        static_cast<void>(::getsockopt(stream_->fd(), SOL_SOCKET, SO_ERROR, &refused, &size));
        lose("the server closed the connection without an answer", refused != 0);
    };
    watch_->when(readiness::broken, decide);
    timer_.set(now() + refuses_within, decide);
}

void client_connection::lose(const std::string& why, bool unread) {
    const auto self = shared_from_this();
    const auto current = exchange_;
    const bool stale = used_before_ && !reader_->begun();
    vanish();
    if (!current) return;
    if (stale && !current->repeated_ && (unread || current->request_.repeatable)) {
        current->repeated_ = true;
        return pool_->dispatch(current, true);
    }
    pool_->done_with(*current);
    current->listener_->on_lost(why);
}

void client_connection::vanish() {
    const auto self = shared_from_this();
    close();
    pool_->remove(*this);
}

/// The reader stays: whoever closes us may be looking at what it has.
void client_connection::close() {
    timer_.clear();
    watch_.reset();
    connecting_.close();
    stream_.reset();
    broken_.reset();
    if (!exchange_) return;
    exchange_->phase_ = exchange::phase::over;
    exchange_->connection_ = nullptr;
    exchange_.reset();
}

bool client_connection::fresh() {
    std::array<char, 64> unasked;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
    return stream_ && stream_->read(unasked).what == byte_stream::status::would_block;
}

void client_connection::rest(duration at_most) {
    timer_.set(now() + at_most, [this] { vanish(); });
}

void client_connection::break_later(std::string why) {
    broken_ = std::move(why);
    pool_->loop_->post([kept = weak_from_this()] {
        if (const auto us = kept.lock()) us->settle_broken();
    });
}

void client_connection::settle_broken() {
    if (const auto why = std::exchange(broken_, {})) lose(*why, true);
}

int client_connection::fd() const noexcept { return stream_ ? stream_->fd() : connecting_.get(); }

short client_connection::wanted() const noexcept {
    if (!stream_) return POLLOUT;
    return static_cast<short>(stream_->wants_write() ? POLLIN | POLLOUT : POLLIN);
}

void client_connection::ready(short found) {
    if (broken_) return settle_broken();
    if (found == 0) return;
    if (!stream_) return connected();
    if ((found & POLLOUT) != 0) static_cast<void>(stream_->flush());
    write();
    read();
}

}  // namespace andon::detail
