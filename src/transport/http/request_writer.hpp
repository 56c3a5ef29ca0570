// HTTP requests of an MCP client, as text.
#pragma once

#include <string>
#include <string_view>

#include "andon/transport/http_client.hpp"
#include "transport/http/endpoint.hpp"
#include "transport/http/outgoing_message.hpp"
#include "transport/http/tool_headers.hpp"

namespace andon::detail {

/// What headers say of the session; under a modern revision there is none, and every message speaks for itself.
struct session_headers {
    std::string id{};       ///< empty: the server keeps none
    std::string version{};  ///< empty: not yet
    bool mirrored = false;  ///< modern: headers repeat what the message says
};

class request_writer {
public:
    /// Throws std::invalid_argument where an option cannot stand in a header.
    request_writer(const endpoint& to, const http_client_options& options);

    [[nodiscard]] std::string post(const outgoing_message& message, const session_headers& session,
                                   const tool_headers& tools) const;
    [[nodiscard]] std::string get(const session_headers& session, std::string_view last_event_id) const;
    [[nodiscard]] std::string remove(const session_headers& session) const;

private:
    [[nodiscard]] std::string head(std::string_view method, std::string_view accept,
                                   const session_headers& session) const;

    std::string target_;
    std::string common_;  // the headers of every request
};

}  // namespace andon::detail
