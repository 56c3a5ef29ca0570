// Streamable HTTP, both eras on one path: who a request belongs to, and whether it may pass.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "andon/server/http.hpp"
#include "andon/wire/envelope.hpp"
#include "server/http_guard.hpp"
#include "server/http_service.hpp"
#include "server/http_session.hpp"
#include "transport/http/http_connection.hpp"

namespace andon::detail {

/// A request that carries a modern version is served by itself: its scope is its connection, whose end is its cancel
/// (HTTP-1). A legacy one belongs to a session, which outlives connections (HTTP-2), or, without sessions, to nobody
/// but its principal (HTTP-4). On the loop's thread.
class http_endpoint {
public:
    /// The options live as long as it does.
    http_endpoint(http_service& with, const http_options& options, std::string path);
    ~http_endpoint();

    void start();
    [[nodiscard]] bool has(std::string_view path) const;
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// A request that passed the checks of its host and origin.
    void take(http_connection& from, http_request& request);
    /// Its sessions end.
    void leave(std::string_view why);
    /// And then what has none.
    void leave_rest(std::string_view why);

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
    [[nodiscard]] static std::shared_ptr<const claimant> claimant_of(const passing& one,
                                                                     const http_session* session = nullptr);
    void count_out(const counted& one);
    void end_session(std::shared_ptr<http_session> session, cancel_cause cause, std::string_view why);

    static void refuse(passing& one, int status, int code, std::string_view why, std::string_view raw_id = {},
                       std::string_view extra = {});
    [[nodiscard]] std::string metadata_url(const http_request& request) const;
    [[nodiscard]] std::string own_url(const http_request& request) const;

    http_service* service_;
    const http_options* options_;
    std::string path_;
    std::shared_ptr<kept_budget> kept_;
    envelope_reader reader_;
    std::shared_ptr<http_service::guest> stateless_;
    std::unordered_map<std::string, std::shared_ptr<http_session>> sessions_;
    std::unordered_map<std::string, load> clients_;
    /// Without sessions: the scope of each request, by principal and id (HTTP-4).
    std::unordered_multimap<std::string, const session*> alone_;
};

}  // namespace andon::detail
