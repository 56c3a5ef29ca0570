// everything_server over HTTP, and clients of it: each call on a connection of its own, as fetch() would have it.
#pragma once

#include <gtest/gtest.h>

#include "server/http_client.hpp"
#include "server/server_process.hpp"

namespace andon {

inline constexpr std::string_view takes_both = "application/json, text/event-stream";
inline constexpr std::string_view takes_json = "application/json";
inline constexpr std::string_view takes_events = "text/event-stream";

/// What a whole answer said, whichever way it came.
struct http_outcome {
    http_answer head;
    std::vector<http_event> events;         ///< where it came in events
    std::optional<json::object> message{};  ///< the last: the answer itself, if there is one
};

/// The rest of an answer, to its end.
[[nodiscard]] http_outcome outcome_of(http_client& connection);
/// Of an answer whose head was read already.
[[nodiscard]] http_outcome outcome_of(http_client& connection, http_answer head);

struct http_caller_options {
    std::string token{};  ///< for Authorization
    std::string accept{takes_both};
    http_socket_options connection{};
};

/// One client of one revision: a session under the legacy ones, with which it shakes hands first.
class http_caller {
public:
    http_caller(std::uint16_t port, revision speaks, http_caller_options how = {})
        : port_(port), speaks_(speaks), how_(std::move(how)) {}

    [[nodiscard]] revision speaks() const noexcept { return speaks_; }
    [[nodiscard]] bool modern() const noexcept { return era_of(speaks_) == era::modern; }
    [[nodiscard]] const std::string& session() const noexcept { return session_; }
    void use_session(std::string id) { session_ = std::move(id); }
    [[nodiscard]] http_caller_options& how() noexcept { return how_; }

    /// The handshake, where the revision has one.
    void open();

    // Requests as bytes.

    /// What every message carries: content type, accept, version, session, token.
    [[nodiscard]] http_headers headers() const;
    [[nodiscard]] std::string post(std::string_view body, std::string_view method = {},
                                   std::string_view name = {}) const;
    [[nodiscard]] std::string call_bytes(std::string_view raw_id, std::string_view tool,
                                         std::string_view raw_arguments = "{}", std::string_view raw_meta = {}) const;
    [[nodiscard]] std::string get_bytes(std::string_view last_event_id = {}) const;
    [[nodiscard]] std::string delete_bytes() const;

    // The same on a connection of its own.

    [[nodiscard]] http_client connection() const { return http_client(port_, how_.connection); }
    [[nodiscard]] http_client send(std::string_view bytes) const;
    [[nodiscard]] http_client call(std::string_view raw_id, std::string_view tool,
                                   std::string_view raw_arguments = "{}", std::string_view raw_meta = {}) const {
        return send(call_bytes(raw_id, tool, raw_arguments, raw_meta));
    }
    [[nodiscard]] http_client get(std::string_view last_event_id = {}) const { return send(get_bytes(last_event_id)); }
    /// Posts a notification or an answer. The status.
    [[nodiscard]] int tell(std::string_view body) const;
    /// When it returns the server has dealt with it.
    void cancel(std::string_view raw_id, std::string_view raw_reason = {}) const {
        EXPECT_EQ(tell(cancel_line(raw_id, raw_reason)), 202);
    }
    /// The answer to a call, on a connection of its own.
    [[nodiscard]] http_outcome answered(std::string_view raw_id, std::string_view tool,
                                        std::string_view raw_arguments = "{}", std::string_view raw_meta = {}) const;
    /// The server is alive, and has dealt with whatever it was sent before on any connection that it has read.
    void fence() const;
    /// In a session: uses the id again until it is let in. From then on the earlier request is over.
    void until_free(std::string_view raw_id) const;

private:
    std::uint16_t port_;
    revision speaks_;
    http_caller_options how_;
    std::string session_;
    bool opened_ = false;  // with a session, or with a server that has none
};

/// With `--http 0` and these arguments.
class http_process : public server_process {
public:
    explicit http_process(revision speaks, std::vector<std::string> arguments = {},
                          const std::vector<std::string>& environment = {});
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] http_caller caller(http_caller_options how = {}) const {
        return http_caller(port_, speaks(), std::move(how));
    }

private:
    std::uint16_t port_ = 0;
};

/// The revisions that have this transport.
inline constexpr std::array http_revisions{revision::v2025_03_26, revision::v2025_06_18, revision::v2025_11_25,
                                           revision::v2026_07_28};
inline constexpr std::array legacy_http_revisions{revision::v2025_03_26, revision::v2025_06_18, revision::v2025_11_25};

/// A server and a client that has shaken hands with it.
class http_served : public testing::TestWithParam<revision> {
protected:
    void SetUp() override { client.open(); }
    [[nodiscard]] static bool modern() { return era_of(GetParam()) == era::modern; }

    http_process server{GetParam()};
    http_caller client{server.caller()};
};

}  // namespace andon
