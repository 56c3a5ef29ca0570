// The handlers: nine ways to work, and to learn that the work is no longer wanted.
#pragma once

#include <atomic>
#include <cstdint>

#include "agenda.hpp"
#include "andon/core/in_flight.hpp"
#include "ledger.hpp"
#include "plan.hpp"

namespace demo {

/// A request in the hands of the server.
struct call {
    andon::active_request request;
    const andon::session* session;
    request_plan plan;
    ledger::entry* entry;
};

/// What a handler works with.
struct surroundings {
    andon::in_flight& table;
    ledger& book;
    agenda& peer;
    std::atomic<std::int64_t> next_outgoing_id{1};
};

/// Does the work, writes the response unless a cancel was first, and ends the request.
void handle(call& c, surroundings& at);

/// For a request that was cancelled before any handler saw it.
void drop(call& c, surroundings& at);

}  // namespace demo
