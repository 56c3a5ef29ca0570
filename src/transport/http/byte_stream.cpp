#include "transport/http/byte_stream.hpp"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>

#include "transport/http/tls_connection.hpp"

namespace andon::detail {
namespace {

bool is_full_or_empty(int error) noexcept { return error == EAGAIN || error == EWOULDBLOCK; }

/// Again where a signal came in between.
template <class Call>
ssize_t repeated(const Call& call) {
    ssize_t done = 0;
    do {
        done = call();
    } while (done < 0 && errno == EINTR);
    return done;
}

}  // namespace

byte_stream::byte_stream(descriptor socket, const std::shared_ptr<tls_context>& tls, bool server,
                         const std::string& host)
    : socket_(std::move(socket)) {
    if (tls) tls_ = std::make_unique<tls_connection>(*tls, socket_.get(), server, host);
}

byte_stream::byte_stream(byte_stream&&) noexcept = default;
byte_stream& byte_stream::operator=(byte_stream&& other) noexcept {
    if (this != &other) {
        close();
        socket_ = std::move(other.socket_);
        failure_ = other.failure_;
        blocked_ = other.blocked_;
        tls_ = std::move(other.tls_);
    }
    return *this;
}
byte_stream::~byte_stream() { close(); }

byte_stream::result byte_stream::read(std::span<char> into) {
    if (tls_) return tls_->read(into);
    const ssize_t got = repeated([&] { return ::recv(fd(), into.data(), into.size(), MSG_DONTWAIT); });
    if (got > 0) return {status::ok, static_cast<std::size_t>(got)};
    if (got == 0) return {into.empty() ? status::ok : status::closed, 0};
    if (is_full_or_empty(errno)) return {status::would_block, 0};
    failure_ = errno;
    return {status::failed, 0};
}

byte_stream::result byte_stream::write(std::string_view bytes) {
    if (tls_) return tls_->write(bytes);
    blocked_ = false;
    if (bytes.empty()) return {};
    const ssize_t sent =
        repeated([&] { return ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT); });
    if (sent >= 0) {
        blocked_ = static_cast<std::size_t>(sent) < bytes.size();
        return {status::ok, static_cast<std::size_t>(sent)};
    }
    if (is_full_or_empty(errno)) {
        blocked_ = true;
        return {status::would_block, 0};
    }
    failure_ = errno;
    return {status::failed, 0};
}

bool byte_stream::wants_write() const noexcept { return tls_ ? tls_->wants_write() : blocked_; }

byte_stream::result byte_stream::flush() {
    if (tls_) return tls_->flush();
    blocked_ = false;
    return {};
}

void byte_stream::shutdown_write() {
    if (tls_) {
        tls_->shutdown_write();
    } else {
        ::shutdown(fd(), SHUT_WR);
    }
}

void byte_stream::close() {
    if (fd() < 0) return;
    if (tls_) {
        tls_->say_goodbye();
        tls_.reset();
    }
    blocked_ = false;
    socket_.close();
}

bool byte_stream::timed_out() const noexcept { return tls_ ? tls_->timed_out() : failure_ == ETIMEDOUT; }

std::string_view byte_stream::error() const noexcept {
    if (tls_) return tls_->error();
    const char* const text = ::strerrordesc_np(failure_);
    return failure_ == 0 || text == nullptr ? std::string_view{} : text;
}

}  // namespace andon::detail
