#include "andon/client/pending_call.hpp"

#include <stdexcept>

#include "andon/core/cancel_token.hpp"
#include "client/pending_state.hpp"

namespace andon {

pending_call::~pending_call() {
    if (!state_ || state_->settled()) return;
    try {
        state_->cancel(cancel_cause::peer, "nobody waits for it any more");
    } catch (const std::exception&) {  // one that cannot be cancelled goes on without us
        state_.reset();
    }
}

bool pending_call::cancel(std::string_view reason) { return state_->cancel(cancel_cause::peer, reason); }

bool pending_call::done() const noexcept { return state_->settled(); }

const call_outcome& detail::outcome_of(pending_state& state, const char* whose) {
    if (!state.settled() && state.here()) {
        throw std::logic_error(std::string(whose) + ".get() blocks: on the client's own thread, co_await it");
    }
    state.wait();
    return state.outcome();
}

const json::value& detail::value_of(const call_outcome& outcome) {
    switch (outcome.status) {
        case call_status::completed: return outcome.result;
        case call_status::failed: throw rpc_error(outcome.code, outcome.message, outcome.data);
        case call_status::cancelled: throw cancelled_error(cancel_cause::peer, reason(outcome.message));
        case call_status::timed_out: throw std::runtime_error("timed out");
        case call_status::disconnected: break;
    }
    throw std::runtime_error("the server is gone: " + outcome.message);
}

const call_outcome& pending_call::get() const { return detail::outcome_of(*state_, "pending_call"); }

const json::value& pending_call::value() const { return detail::value_of(get()); }

bool pending_call::await_suspend(std::coroutine_handle<> waiting) const {
    return state_->then([waiting] { waiting.resume(); });
}

}  // namespace andon
