// Streamable HTTP, both eras on one endpoint: who a request belongs to, and whether it may pass.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "andon/server/http.hpp"
#include "andon/wire/envelope.hpp"
#include "server/http_guard.hpp"
#include "server/http_listener.hpp"
#include "server/http_session.hpp"
#include "server/server_session.hpp"

namespace andon::detail {

/// A request that carries a modern version is served by itself: its scope is its connection, whose end is its cancel
/// (HTTP-1). A legacy one belongs to a session, which outlives connections (HTTP-2), or, without sessions, to nobody
/// but its principal (HTTP-4). On the loop's thread, but for open().
class http_front final : private http_connection::owner {
public:
    /// Opens a session of the server's on a transport.
    using session_opener = std::function<std::shared_ptr<server_session>(std::unique_ptr<transport>, bool stateless)>;

    http_front(std::shared_ptr<server_facilities> with, http_options options, session_opener open_session);
    ~http_front();

    /// On any thread, before start(). The port that it listens on.
    std::uint16_t open() { return listener_.open(); }
    void start();
    /// Serves a connection that somebody else accepted.
    void take(int socket, std::string address) { listener_.take(socket, std::move(address)); }
    /// No new connection; every request is told (cause "shutdown").
    void leave(std::string_view why);
    /// What was decided was written: the rest is cut off.
    void close_connections();
    [[nodiscard]] const http_options& options() const noexcept { return options_; }

private:
    /// One request on its way through the checks.
    struct passing {
        http_connection& from;
        http_request& request;
        std::string principal;  // empty: nobody in particular
        accepted_types takes{};
    };

    /// What a client has in flight: requests and streams, and the bytes that came with them.
    struct load {
        std::size_t requests = 0;
        std::size_t bytes = 0;
    };
    /// One of them.
    struct counted {
        std::string client;
        std::size_t bytes;
        std::size_t requests;
    };

    void on_request(http_connection& from, http_request request) override;
    void on_last_written(http_connection& from) override { written(&from); }
    void on_closed(http_connection& from) override;

    [[nodiscard]] bool let_in(passing& one);
    void post(passing& one);
    void post_batch(passing& one);
    void post_modern(passing& one, const envelope& message);
    void post_legacy(passing& one, const envelope& message);
    void post_in_session(passing& one, const std::shared_ptr<http_session>& session, const envelope& message,
                         std::string headers);
    void post_alone(passing& one, const envelope& message, revision speaks);
    [[nodiscard]] const session* scope_of_cancelled(const passing& one, const envelope& message) const;
    void begin_session(passing& one, const envelope& message);
    void get(passing& one);
    void remove(passing& one);
    [[nodiscard]] std::shared_ptr<http_session> session_of(passing& one);
    /// Empty: the headers say what the body says.
    [[nodiscard]] std::string header_mismatch(const passing& one, const envelope& message) const;
    [[nodiscard]] message_stream_settings settings_of(const passing& one, const envelope& message) const;
    [[nodiscard]] std::optional<revision> legacy_version(passing& one);
    /// Nothing: its client has too much in flight, and was told so.
    [[nodiscard]] std::optional<counted> count_in(passing& one, std::size_t requests = 1);
    /// Whose limits a request counts against: the principal's, or the address's.
    [[nodiscard]] static std::string counts_for(const passing& one);
    void count_out(const counted& one);
    void written(const http_connection* from);
    void all_written();
    void end_session(std::shared_ptr<http_session> session, cancel_cause cause, std::string_view why);

    static void refuse(passing& one, int status, int code, std::string_view why, std::string_view raw_id = {},
                       std::string_view extra = {});
    [[nodiscard]] std::string metadata_url(const http_request& request) const;
    [[nodiscard]] std::string own_url(const http_request& request) const;

    std::shared_ptr<server_facilities> facilities_;
    http_options options_;
    session_opener open_session_;
    http_listener listener_;
    event_loop::timer patience_;  // with clients that do not read their last answer
    std::shared_ptr<kept_budget> kept_;
    envelope_reader reader_;
    std::shared_ptr<server_session> stateless_;
    std::unordered_map<std::string, std::shared_ptr<http_session>> sessions_;
    std::unordered_map<std::string, load> clients_;
    /// Without sessions: the scope of each request, by principal and id (HTTP-4).
    std::unordered_multimap<std::string, const session*> alone_;
    std::unordered_set<const http_connection*> unwritten_;  // once it is leaving
    bool leaving_ = false;
};

}  // namespace andon::detail
