// A server over Streamable HTTP: each message on a connection of its own, as fetch() would have it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "andon/process/process_tree.hpp"
#include "check/http_exchange.hpp"
#include "check/session.hpp"

namespace andon::check {

using header_list = std::vector<std::pair<std::string, std::string>>;

struct http_server {
    std::string url;
    header_list headers{};             ///< for every request, as Authorization
    std::string ca_file{};             ///< whose certificates are trusted; empty: the system's
    std::optional<command> program{};  ///< it is started for each session, and ended with it
    pid_t pid = 0;                     ///< not 0: a process of ours to look at, which runs the server
};

class http_session final : public session {
public:
    /// Starts the server where that is wanted, and waits until somebody listens. Throws server_gone.
    http_session(const http_server& where, session_options how);
    /// Ends the session on the server, as far as it takes no time.
    ~http_session() override;

    [[nodiscard]] bool over_http() const noexcept override { return true; }
    void write(const outgoing& message) override { post(message); }
    /// Legacy: the notification. Modern: closes the stream.
    void cancel(std::string_view raw_id, std::optional<std::string> reason = {}) override;
    [[nodiscard]] std::optional<process_view> processes() const override;
    [[nodiscard]] std::optional<std::string> log() const override;
    [[nodiscard]] bool stream_ended(std::string_view raw_id) const override;
    [[nodiscard]] std::string refusal(std::string_view raw_id) const override;

    /// Another client of the same server, which has said nothing yet. It must not outlive this one.
    [[nodiscard]] std::unique_ptr<http_session> beside() const;
    /// Away from that request's stream. Nothing where there is none.
    void drop(std::string_view raw_id);
    /// The request of the last exchange with that id.
    [[nodiscard]] const http_exchange* exchange(std::string_view raw_id) const;
    /// With these headers, and no other but those that HTTP needs and the user gave. Waits for the whole answer.
    const http_exchange& exchange_with(std::string_view method, const header_list& headers, std::string_view body);
    /// Legacy: picks up a stream where it was cut off. What comes counts as of `raw_id`.
    void resume(std::string_view raw_id, std::string_view last_event_id);
    /// The headers that the revision asks for.
    [[nodiscard]] header_list usual_headers(std::string_view method, std::string_view name) const;
    /// Empty: the server has none.
    [[nodiscard]] const std::string& session_id() const noexcept { return session_id_; }
    /// Answers to notifications and answers of ours that are no 202.
    [[nodiscard]] const std::vector<unsigned>& refused() const noexcept { return refused_; }

private:
    http_exchange& post(const outgoing& message);
    http_exchange& begin(std::string_view method, const header_list& headers, std::string_view body,
                         std::string raw_id);
    bool pump(milliseconds limit) override;
    [[nodiscard]] std::string why_gone() override;
    void take_in(http_exchange& from);
    void wait_for_listener();

    http_server where_;
    detail::endpoint to_;
    std::shared_ptr<detail::tls_context> tls_;
    std::string session_id_;
    std::deque<http_exchange> exchanges_;
    std::vector<unsigned> refused_;
    std::string log_;
    mutable std::optional<process_tree> process_;
};

}  // namespace andon::check
