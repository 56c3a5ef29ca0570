// One connection to a server, for one exchange after the other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/event_loop.hpp"
#include "transport/http/byte_stream.hpp"
#include "transport/http/endpoint.hpp"
#include "transport/http/exchange.hpp"

namespace andon::detail {

/// On the loop's thread. Connects when it has its first exchange, to one address after the other; while it waits for
/// the next one it listens for the server's leaving. Whatever goes wrong inside begin() is told later, so that nobody
/// hears of an exchange before start() has returned it.
class client_connection : public std::enable_shared_from_this<client_connection> {
public:
    explicit client_connection(connection_pool& pool);
    client_connection(const client_connection&) = delete;
    client_connection& operator=(const client_connection&) = delete;
    ~client_connection();

    void begin(std::shared_ptr<exchange> what);
    /// Without a word to anybody.
    void close();
    [[nodiscard]] bool idle() const noexcept { return exchange_ == nullptr && stream_; }
    /// Right before it is used again: whether the server has not closed it.
    [[nodiscard]] bool fresh();
    /// Until the next exchange, or until it is closed.
    void rest(duration at_most);
    /// After it could not be for a while.
    void read_later();

    // What the loop does, for whoever cannot wait for it any more.

    [[nodiscard]] int fd() const noexcept;
    [[nodiscard]] short wanted() const noexcept;
    void ready(short found);

private:
    void connect_next();
    void connected();
    void write();
    void read();
    [[nodiscard]] bool held() const noexcept;
    void take(std::string_view bytes);
    void ended(std::string_view why, bool clean, bool unread);
    void complete();
    void await_refusal();
    void watch();
    void break_later(std::string why);
    void settle_broken();
    void vanish();
    /// `unread`: the server cannot have read the request.
    void lose(const std::string& why, bool unread);

    connection_pool* pool_;
    std::shared_ptr<exchange> exchange_;
    std::shared_ptr<const std::vector<endpoint::address>> addresses_;
    std::size_t next_address_ = 0;  // of them
    descriptor connecting_;
    std::optional<byte_stream> stream_;
    std::optional<response_reader> reader_;
    std::unique_ptr<event_loop::watch> watch_;
    event_loop::timer timer_;
    std::size_t written_ = 0;  // of the request
    std::string why_not_;      // why an address did not take us
    std::optional<std::string> broken_;
    bool write_failed_ = false;
    bool used_before_ = false;
    bool await_readable_ = false;
    bool await_writable_ = false;
};

}  // namespace andon::detail
