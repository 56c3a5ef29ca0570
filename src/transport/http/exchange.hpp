// One HTTP request, and what comes back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "andon/core/time.hpp"
#include "transport/http/response_reader.hpp"

namespace andon::detail {

class client_connection;
class connection_pool;

/// On the loop's thread, all of it.
///
///     queued ──a connection is free──► connecting ──► sending ──► sent ──► over: on_end() or on_lost()
///        ▲                                               │
///        └── the connection was stale ───────────────────┘ once, see connection_pool
///     any state ──abandon()──► over, and not a word more
///
/// abandon() in `queued` and `connecting` means that the server never hears of it; later the connection is closed,
/// which is how a 2026-07-28 server is told.
class exchange : public std::enable_shared_from_this<exchange> {
public:
    /// What is called may abandon this or any other exchange, and start new ones.
    class listener {
    public:
        listener() = default;
        listener(const listener&) = delete;
        listener& operator=(const listener&) = delete;
        /// The server's system has all of it. May come from inside start(), and does nothing of the above.
        virtual void on_sent() {}
        virtual void on_head(const response_reader& response) = 0;
        virtual void on_body(std::string_view piece) = 0;
        /// The response is whole. The last call.
        virtual void on_end() = 0;
        /// It never will be. The last call.
        virtual void on_lost(std::string_view why) = 0;

    protected:
        ~listener() = default;
    };

    enum class lane : std::uint8_t {
        call,    ///< may take its time, and waits its turn
        brief,   ///< somebody waits for what it says, and its response is short: it waits for no call
        cancel,  ///< waits for neither of them
        apart,   ///< stays as long as the client, and counts for nothing
    };

    struct request {
        std::string bytes;       ///< head and body
        lane in = lane::call;    ///<
        bool repeatable = true;  ///< to do it twice does no harm
        bool first = false;      ///< before what is waiting
    };

    enum class phase : std::uint8_t { queued, connecting, sending, sent, over };

    exchange(connection_pool& pool, request what, listener& told) noexcept
        : pool_(&pool), request_(std::move(what)), listener_(&told) {}

    void abandon();
    [[nodiscard]] phase where() const noexcept { return phase_; }
    /// Once it is `sent`.
    [[nodiscard]] time_point sent_at() const noexcept { return sent_at_; }

private:
    friend class client_connection;
    friend class connection_pool;

    connection_pool* pool_;
    request request_;
    listener* listener_;
    phase phase_ = phase::queued;
    time_point sent_at_{};
    client_connection* connection_ = nullptr;
    bool repeated_ = false;
};

}  // namespace andon::detail
