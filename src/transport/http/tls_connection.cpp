#include "transport/http/tls_connection.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdexcept>
#include <sys/socket.h>

namespace andon::detail {

/// What OpenSSL takes for the socket.
struct socket_bio {
    static tls_connection& owner(BIO* bio) { return *static_cast<tls_connection*>(BIO_get_data(bio)); }

    static int read(BIO* bio, char* into, int size) {
        BIO_clear_retry_flags(bio);
        tls_connection& self = owner(bio);
        ssize_t got = 0;
        do {
            got = ::recv(self.socket_, into, static_cast<std::size_t>(size), MSG_DONTWAIT);
        } while (got < 0 && errno == EINTR);
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_read(bio);
        self.at_end_ = got == 0;
        self.receive_error_ = got < 0 ? errno : 0;
        return static_cast<int>(got);
    }

    static int write(BIO* bio, const char* bytes, int size) {
        BIO_clear_retry_flags(bio);
        owner(bio).send({bytes, static_cast<std::size_t>(size)});
        return size;
    }

    static long control(BIO* bio, int what, long /*number*/, void* /*pointer*/) {
        switch (what) {
            case BIO_CTRL_FLUSH: return 1;
            case BIO_CTRL_EOF: return owner(bio).at_end_ ? 1 : 0;
            default: return 0;
        }
    }

    static const BIO_METHOD* method() {
        static BIO_METHOD* const made = [] {
            BIO_METHOD* const fresh = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "andon socket");
            if (fresh == nullptr) throw std::bad_alloc();
            BIO_meth_set_read(fresh, read);
            BIO_meth_set_write(fresh, write);
            BIO_meth_set_ctrl(fresh, control);
            return fresh;
        }();
        return made;
    }
};

namespace {

bool is_address(const std::string& host) noexcept {
    std::array<unsigned char, sizeof(in6_addr)> address{};
    return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

std::string_view fault_words(int error) noexcept {
    const char* const text = error == 0 ? nullptr : ::strerrordesc_np(error);
    return text == nullptr ? "the connection broke" : text;
}

}  // namespace

tls_connection::tls_connection(const tls_context& context, int socket, bool server, const std::string& host)
    : socket_(socket), ssl_(SSL_new(context.get()), SSL_free) {
    BIO* const bio = ssl_ ? BIO_new(socket_bio::method()) : nullptr;
    if (bio == nullptr) throw std::bad_alloc();
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
    if (server) {
        SSL_set_accept_state(ssl_.get());
    } else {
        SSL_set_connect_state(ssl_.get());
        expect(host);
    }
}

tls_connection::~tls_connection() = default;

void tls_connection::expect(const std::string& host) {
    if (host.empty() || host.find('\0') != std::string::npos) {
        throw std::invalid_argument("a TLS connection needs the name of the host whose certificate it is to check");
    }
    X509_VERIFY_PARAM* const expected = SSL_get0_param(ssl_.get());
    std::string name = host;  // OpenSSL's own macro for it casts the constness away
    bool taken = false;
    if (is_address(host)) {
        taken = X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1;
    } else {
        X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        taken = X509_VERIFY_PARAM_set1_host(expected, host.c_str(), host.size()) == 1 &&
                SSL_ctrl(ssl_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) == 1;
    }
    if (!taken) throw std::invalid_argument("'" + host + "' cannot be the name of a host");
}

byte_stream::status tls_connection::handshake() {
    if (established_) return status::ok;
    ERR_clear_error();
    const int returned = SSL_do_handshake(ssl_.get());
    if (returned != 1) return why_not(returned);
    established_ = true;
    // One look at the socket for a record, not two. Not before: what came behind the handshake would lie here unread,
    // while everybody waits for the socket to become readable.
    SSL_set_read_ahead(ssl_.get(), 1);
    return status::ok;
}

byte_stream::result tls_connection::read(std::span<char> into) {
    std::size_t total = 0;
    status ended = failed_ ? status::failed : handshake();
    while (ended == status::ok && total < into.size()) {
        ERR_clear_error();
        std::size_t got = 0;
        const int returned = SSL_read_ex(ssl_.get(), into.data() + total, into.size() - total, &got);
        if (returned == 1) {
            total += got;
        } else {
            ended = why_not(returned);
        }
    }
    if (total > 0) return {status::ok, total};  // the rest is told next time
    return {ended, 0};
}

byte_stream::result tls_connection::write(std::string_view bytes) {
    const result before = flush();
    if (before.what != status::ok) return {before.what, 0};
    if (ending_) {
        error_ = "written after the end";
        return {status::failed, 0};
    }
    if (bytes.empty()) return {};
    ERR_clear_error();
    std::size_t taken = 0;
    const std::string_view record = bytes.substr(0, byte_stream::largest_record);
    const int returned = SSL_write_ex(ssl_.get(), record.data(), record.size(), &taken);
    if (returned != 1) return {why_not(returned), 0};
    if (broken_) return {status::failed, 0};
    return {status::ok, taken};
}

byte_stream::result tls_connection::flush() {
    const status shaken = failed_ ? status::failed : handshake();
    const std::size_t before = waiting_.size() - sent_;
    send_waiting();
    if (failed_ || broken_) return {status::failed, 0};
    if (wants_write()) return {status::would_block, 0};
    return {shaken, before};
}

void tls_connection::shutdown_write() {
    if (established_ && !failed_ && !ending_) {
        ERR_clear_error();
        SSL_shutdown(ssl_.get());
    }
    ending_ = true;
    send_waiting();
}

void tls_connection::say_goodbye() {
    if (!broken_ && !wants_write()) shutdown_write();
}

/// What a call of OpenSSL's that did not go through means.
byte_stream::status tls_connection::why_not(int returned) {
    switch (SSL_get_error(ssl_.get(), returned)) {
        case SSL_ERROR_WANT_READ:
        case SSL_ERROR_WANT_WRITE: return status::would_block;
        case SSL_ERROR_ZERO_RETURN: return status::closed;
        case SSL_ERROR_SYSCALL: error_ = fault_words(receive_error_); break;
        default: error_ = failure(); break;
    }
    failed_ = true;
    return status::failed;
}

std::string tls_connection::failure() const {
    const long verdict = SSL_get_verify_result(ssl_.get());
    if (verdict != X509_V_OK) {
        ERR_clear_error();
        return std::string("the certificate was refused: ") + X509_verify_cert_error_string(verdict);
    }
    if (at_end_) {
        ERR_clear_error();
        return established_ ? "the peer closed the connection without a word" : "the peer left during the handshake";
    }
    return "TLS: " + openssl_error();
}

void tls_connection::send(std::string_view encrypted) {
    if (broken_) return;
    if (!wants_write()) encrypted.remove_prefix(send_some(encrypted));
    if (broken_ || encrypted.empty()) return;
    if (waiting_.size() - sent_ + encrypted.size() > most_waiting) {
        broken_ = true;
        error_ = "the peer does not read";
        waiting_ = {};
        sent_ = 0;
        return;
    }
    waiting_.erase(0, sent_);
    sent_ = 0;
    waiting_ += encrypted;
}

void tls_connection::send_waiting() {
    if (wants_write() && !broken_) {
        sent_ += send_some(std::string_view(waiting_).substr(sent_));
        if (sent_ == waiting_.size() || broken_) {
            waiting_ = {};
            sent_ = 0;
        }
    }
    if (ending_ && !wants_write()) ::shutdown(socket_, SHUT_WR);
}

std::size_t tls_connection::send_some(std::string_view encrypted) {
    std::size_t total = 0;
    while (total < encrypted.size()) {
        const ssize_t sent =
            ::send(socket_, encrypted.data() + total, encrypted.size() - total, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            total += static_cast<std::size_t>(sent);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            break;
        } else if (errno != EINTR) {
            send_timed_out_ = errno == ETIMEDOUT;
            error_ = fault_words(errno);
            broken_ = true;
            break;
        }
    }
    return total;
}

}  // namespace andon::detail
