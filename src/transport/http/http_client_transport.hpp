// Streamable HTTP, from the client's side.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "andon/transport/http_client.hpp"
#include "transport/event_loop.hpp"
#include "transport/http/connection_pool.hpp"
#include "transport/http/listening_stream.hpp"
#include "transport/http/posted_message.hpp"
#include "transport/http/request_writer.hpp"
#include "transport/http/tool_headers.hpp"

namespace andon::detail {

/// Both eras: what a message is under is read from the message itself, so that the peer's finding out which one the
/// server speaks works here as it does on a stream of lines. Under legacy there is a session, and a gate before it:
///
///     open ──notifications/initialized is posted──► settling ──the server took it──► open
///     open ──404──► renewing ──initialize was answered──► settling
///
/// While the gate is shut whatever else is to be sent is held: two POSTs may overtake each other, and a server that has
/// not heard that the session began refuses what belongs to it. What is held and then cancelled is never sent.
///
/// send() may come from any thread and only puts the line into a queue. All else is on the loop's thread, and nothing
/// of it calls the owner from inside send(), cancel_request() or close().
///
/// What the server has not taken is counted from send() on, wherever it is: in the queue, before the gate, on its way.
/// A server that lets too much of it come together is taken for gone, as the peer on a stream is (see outbox).
class http_client_transport final : public transport {
public:
    /// The target's trust is what counts, and not the option's. Throws std::invalid_argument where an option cannot be
    /// used, std::runtime_error where the host is not known. Waits for nothing.
    http_client_transport(std::shared_ptr<const http_target> to, http_client_options options,
                          const transport_limits& limits);
    ~http_client_transport() override;

    void open(event_loop& loop, events& to) override;
    bool send(std::string_view line, const cancel_token* owner) override;
    void cancel_request(std::int64_t id, std::string_view line) override;
    void hold(bool wanted) override;
    void leave(const std::function<void()>& done) override;
    void close() override;

    // For the messages that are under way.

    [[nodiscard]] event_loop& loop() noexcept { return *loop_; }
    [[nodiscard]] connection_pool& pool() noexcept { return *pool_; }
    [[nodiscard]] envelope_reader& reader() noexcept { return reader_; }
    [[nodiscard]] tool_headers& tools() noexcept { return tools_; }
    [[nodiscard]] std::size_t longest_line() const noexcept { return limits_.longest_line; }
    [[nodiscard]] bool is_leaving() const noexcept { return leaving_ != nullptr; }
    [[nodiscard]] const session_headers& session() const noexcept { return session_; }
    [[nodiscard]] session_headers session_for(const outgoing_message& message) const;
    [[nodiscard]] const request_writer& writer() const noexcept { return writer_; }

    void hand_over(std::string_view line);
    void remark(log_level level, const std::string& text);
    void lost(const outgoing_message& message, std::string_view why);
    /// The server's answer to initialize, and the session that it came with.
    void agreed(const envelope& answer, std::string session_id);
    /// The server has taken something, or never will.
    void note_taken();
    /// The server has what it needs of it, or never will.
    void concluded(posted_message& which);
    void forget(posted_message& which);
    void post_line(std::string_view line) { begin(outgoing_message::from(line, reader_)); }
    /// A 404: `which` is posted again once there is a new session.
    void session_gone(const std::shared_ptr<posted_message>& which);
    /// Likewise, where there is nothing to be posted.
    void listening_refused();
    /// The server has answered whether it can be listened to, or never will.
    void listening_settled();
    void listening_works() noexcept { renewed_for_listening_ = false; }
    /// Asks for the tools anew; `then` hears whether that went well. What it does is in `owner`'s name.
    void list_tools(const std::weak_ptr<posted_message>& owner, std::function<void(bool)> then);

private:
    enum class gate : std::uint8_t { open, settling, listening, renewing };

    class farewell;

    struct queued_line {
        std::string line;
        waiting_part part;
    };

    void flush();
    [[nodiscard]] std::vector<outgoing_message> take_queue();
    void give_up_on_server();
    void handle(outgoing_message message);
    std::shared_ptr<posted_message> begin(outgoing_message message, posted_message::private_answer told = {});
    void list_page(const std::weak_ptr<posted_message>& owner, std::function<void(bool)> then, json::object params,
                   int page);
    void renew();
    void renewed(const envelope* answer);
    void settled();
    void open_gate();
    void renewal_failed(const std::string& why);
    /// Calls end here; a cancel or an answer that is on its way gets a moment to arrive.
    void end_calls();
    void abandon_all();

    transport_limits limits_;
    http_client_options options_;
    connection_pool::settings pool_settings_;
    request_writer writer_;
    event_loop* loop_ = nullptr;
    events* events_ = nullptr;
    std::shared_ptr<http_client_transport*> alive_;  // null inside: gone. For work that is posted

    std::mutex mutex_;
    std::vector<queued_line> queue_;  // under the mutex
    std::size_t largest_ = 0;         // under the mutex: line of those that came since nothing was waiting
    bool overflowed_ = false;         // under the mutex
    waiting_part::total waiting_bytes_ = std::make_shared<std::atomic<std::size_t>>(0);
    std::atomic<bool> crowded_ = false;
    std::atomic<bool> closed_ = false;
    bool given_up_ = false;  // the server does not read

    std::unique_ptr<connection_pool> pool_;
    envelope_reader reader_;
    tool_headers tools_;
    std::unordered_map<posted_message*, std::shared_ptr<posted_message>> posts_;
    std::unordered_map<std::int64_t, posted_message*> by_id_;  // those whose answer the peer waits for
    std::int64_t own_requests_ = 0;

    session_headers session_;
    std::string modern_version_;  // what the newest request said; empty: it was a legacy one
    std::string initialize_line_;
    std::string agreed_version_;
    gate gate_ = gate::open;
    std::unique_ptr<event_loop::timer> gate_timer_;
    posted_message* settling_ = nullptr;
    std::deque<outgoing_message> held_;
    std::vector<std::shared_ptr<posted_message>> waiting_;  // for a new session
    std::unique_ptr<listening_stream> listening_;
    std::unique_ptr<farewell> leaving_;
    bool renewed_for_listening_ = false;  // and the server has not taken it since
};

}  // namespace andon::detail
