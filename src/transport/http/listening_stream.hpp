// The stream on which a legacy server speaks without being asked.
#pragma once

#include <memory>
#include <string_view>

#include "transport/event_loop.hpp"
#include "transport/http/event_cursor.hpp"
#include "transport/http/exchange.hpp"

namespace andon::detail {

class http_client_transport;

/// A GET that stays open; when it breaks it is opened again, after the time that the server asked for, from the last
/// event on, for as long as there is a session. A server that has no such stream says so with 405.
class listening_stream final : private exchange::listener {
public:
    explicit listening_stream(http_client_transport& over);
    ~listening_stream();
    listening_stream(const listening_stream&) = delete;
    listening_stream& operator=(const listening_stream&) = delete;

private:
    void on_head(const response_reader& response) override;
    void on_body(std::string_view piece) override;
    void on_end() override;
    void on_lost(std::string_view why) override;

    void connect();
    void pause();
    void stop(const std::string& why);
    void receive(std::string_view line);

    http_client_transport* over_;
    event_cursor cursor_;
    event_loop::timer timer_;
    std::shared_ptr<exchange> exchange_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace andon::detail
