// The TLS half of a byte_stream.
#pragma once

#include <cerrno>
#include <memory>
#include <openssl/types.h>
#include <string>

#include "transport/http/byte_stream.hpp"

namespace andon::detail {

/// OpenSSL between the bytes and a socket that somebody else owns.
///
/// It wants a write that did not go through to be repeated with the same bytes; ours may have been taken back by then,
/// because a cancelled request says nothing more. So OpenSSL never gets to see a socket that is full: what it encrypts
/// and the socket does not take waits here, at most one record of ours, and until that has left nothing new is taken.
/// For the same reason it never sees that sending failed: what the peer sent before it went away can still be read.
class tls_connection {
public:
    using status = byte_stream::status;
    using result = byte_stream::result;

    tls_connection(const tls_context& context, int socket, bool server, const std::string& host);
    tls_connection(const tls_connection&) = delete;
    tls_connection& operator=(const tls_connection&) = delete;
    ~tls_connection();

    [[nodiscard]] result read(std::span<char> into);
    [[nodiscard]] result write(std::string_view bytes);
    [[nodiscard]] bool wants_write() const noexcept { return sent_ < waiting_.size(); }
    [[nodiscard]] result flush();
    void shutdown_write();
    /// Tells the peer that nothing more comes, if that can be done at once.
    void say_goodbye();
    [[nodiscard]] std::string_view error() const noexcept { return error_; }
    [[nodiscard]] bool timed_out() const noexcept { return receive_error_ == ETIMEDOUT || send_timed_out_; }

private:
    friend struct socket_bio;

    /// Far more than any handshake: a peer that makes us answer and does not read the answers.
    static constexpr std::size_t most_waiting = std::size_t{256} << 10U;

    void expect(const std::string& host);
    [[nodiscard]] status handshake();
    [[nodiscard]] status why_not(int returned);
    [[nodiscard]] std::string failure() const;
    void send(std::string_view encrypted);
    void send_waiting();
    [[nodiscard]] std::size_t send_some(std::string_view encrypted);

    int socket_;
    bool established_ = false;
    bool failed_ = false;  // reading has come to its end, see error_
    bool broken_ = false;  // sending has
    bool ending_ = false;  // nothing more is to be sent but what waits
    bool at_end_ = false;  // the socket is
    int receive_error_ = 0;
    bool send_timed_out_ = false;
    std::string waiting_;   // encrypted
    std::size_t sent_ = 0;  // of what is waiting
    std::string error_;
    std::unique_ptr<ssl_st, void (*)(ssl_st*)> ssl_;
};

}  // namespace andon::detail
