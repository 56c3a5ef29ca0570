// A connection, byte by byte: plain, or with TLS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "process/descriptor.hpp"
#include "transport/http/tls_context.hpp"

namespace andon::detail {

class tls_connection;

/// Never waits. Whoever owns it watches the socket:
///  - for reading always, and reads until read() says would_block: what is decrypted already makes no socket readable;
///  - for writing while wants_write(), and then calls flush().
/// What write() refused can be given again after either. A TLS handshake happens by the way, inside read(), write() and
/// flush(); a client begins it with the first of them, and until it is over write() takes nothing.
class byte_stream {
public:
    /// At most so much is taken by one write() with TLS.
    static constexpr std::size_t largest_record = std::size_t{16} << 10U;

    /// A client names the host: its certificate must be for this name or address (IPv6 without brackets). Throws
    /// std::invalid_argument where it does not.
    explicit byte_stream(descriptor socket, const std::shared_ptr<tls_context>& tls = nullptr, bool server = true,
                         const std::string& host = {});
    byte_stream(byte_stream&&) noexcept;
    byte_stream& operator=(byte_stream&&) noexcept;
    /// As close() does.
    ~byte_stream();

    enum class status : std::uint8_t {
        ok,           ///< some bytes went through
        would_block,  ///< none did, for now
        closed,       ///< the peer said that nothing more comes
        failed        ///< the connection is of no use any more: see error()
    };
    struct result {
        status what = status::ok;
        std::size_t bytes = 0;
    };

    [[nodiscard]] result read(std::span<char> into);
    /// What it says is written counts as handed to the kernel. That may be a part; nothing of the rest is remembered.
    [[nodiscard]] result write(std::string_view bytes);
    /// The socket was full when last tried: when it is writable, flush() goes on.
    [[nodiscard]] bool wants_write() const noexcept;
    /// ok: nothing is waiting to be sent. would_block with wants_write() false: the handshake waits for the peer.
    [[nodiscard]] result flush();

    [[nodiscard]] int fd() const noexcept { return socket_.get(); }
    /// Tells the peer that nothing more comes, after what is waiting; reading goes on.
    void shutdown_write();
    /// Tells the peer, if that can be done at once, and lets go of the socket.
    void close();
    /// After `failed`, until close(): what went wrong, fit for a log.
    [[nodiscard]] std::string_view error() const noexcept;
    /// Likewise: that the peer's system took nothing for as long as ours waits for it.
    [[nodiscard]] bool timed_out() const noexcept;

private:
    descriptor socket_;
    int failure_ = 0;       // errno; of a plain connection
    bool blocked_ = false;  // likewise: the socket was full
    std::unique_ptr<tls_connection> tls_;
};

}  // namespace andon::detail
