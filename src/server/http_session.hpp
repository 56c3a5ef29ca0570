// A legacy session over HTTP: what is known under one Mcp-Session-Id.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "andon/server/http.hpp"
#include "server/http_service.hpp"
#include "transport/http/message_stream.hpp"

namespace andon::detail {

/// Its messages come by POST, each with a stream of its own for the answer; what belongs to no request goes to the
/// stream of a GET, or waits for one. On the loop's thread.
class http_session : public std::enable_shared_from_this<http_session> {
public:
    http_session(event_loop& loop, std::string id, std::string principal, const http_options& options,
                 std::shared_ptr<kept_budget> kept);

    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] const std::string& principal() const noexcept { return principal_; }
    [[nodiscard]] http_service::guest& talk() const noexcept { return *talk_; }
    [[nodiscard]] const std::shared_ptr<message_stream>& own_stream() const noexcept { return own_; }
    /// What the server sends without being asked. To be given to the service.
    [[nodiscard]] std::unique_ptr<transport> outlet();
    void belongs_to(std::shared_ptr<http_service::guest> talk) { talk_ = std::move(talk); }

    /// For a POST: counted until it is over, and kept a while for a client that was cut off.
    [[nodiscard]] std::shared_ptr<message_stream> new_stream(message_stream_settings settings,
                                                             std::function<void()> when_over);
    /// Picks a stream up where an event id says. False: there is nothing of that left.
    [[nodiscard]] bool resume(http_connection& listener, std::string_view last_event_id);

    /// Its client did not read on a connection, which is closed for it: `how` it did not, for the log.
    void cut_off(std::string_view how) const;
    /// Something happened: it is not idle.
    void touch() noexcept;
    void expire_when_idle(std::function<void()> work);
    /// Ends every stream.
    void end();

private:
    /// How many of its streams have a listener that is too slow, and who is to know.
    struct crowd {
        std::size_t streams = 0;
        transport::events* told = nullptr;
        void change(bool crowded);
    };
    class outlet_transport;

    void watch_crowd(message_stream& stream) const;
    void look_for_idleness();
    void stream_over(std::uint64_t number);
    [[nodiscard]] message_stream_settings resumable(message_stream_settings settings, std::uint64_t number) const;

    event_loop* loop_;
    std::string id_;
    std::string principal_;
    const http_options* options_;
    std::shared_ptr<kept_budget> kept_;
    std::shared_ptr<crowd> crowd_ = std::make_shared<crowd>();  // streams outlive us
    std::shared_ptr<http_service::guest> talk_;
    std::shared_ptr<message_stream> own_;
    std::map<std::uint64_t, std::shared_ptr<message_stream>> streams_;
    std::deque<std::uint64_t> ended_;
    std::uint64_t next_ = 1;
    std::size_t live_ = 0;
    time_point active_;
    event_loop::timer idle_;
    std::function<void()> when_idle_;
};

/// That nobody can guess.
[[nodiscard]] std::string new_session_id();

}  // namespace andon::detail
