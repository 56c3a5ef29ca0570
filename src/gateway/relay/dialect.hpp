// How the messages of one host become those of its server, and back.
#pragma once

#include <memory>

#include "gateway/relay/lane.hpp"
#include "gateway/relay/relayed_call.hpp"
#include "transport/conversation.hpp"

namespace andon::gateway {

class call_desk;

/// What a dialect works with; all of it outlives it.
struct dialect_surroundings {
    std::shared_ptr<detail::conversation> host;
    lane& way;
    call_desk& desk;
    detail::event_loop& loop;
    bool stateless = false;  ///< the host is many: each request has a scope of its own
};

/// On the loop's thread.
class dialect {
public:
    dialect() = default;
    dialect(const dialect&) = delete;
    dialect& operator=(const dialect&) = delete;
    virtual ~dialect() = default;

    /// A request of the host's, which is in flight already.
    virtual void on_request(const std::shared_ptr<relayed_call>& call) = 0;
    virtual void on_notification(const envelope& message) = 0;
    virtual void on_server_request(upstream& from, detail::incoming_request request, const envelope& message) = 0;
    virtual void on_server_notification(upstream& from, const envelope& message) = 0;
    /// Before any call is sent there. `shared`: it is no process of one call.
    virtual void on_server_ready(upstream& which, bool shared) = 0;
};

}  // namespace andon::gateway
