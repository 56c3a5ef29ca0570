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

const call_outcome& pending_call::get() const {
    if (!done() && state_->here()) {
        throw std::logic_error("pending_call.get() blocks: on the client's own thread, co_await it");
    }
    state_->wait();
    return state_->outcome();
}

const json::value& pending_call::value() const {
    const call_outcome& outcome = get();
    switch (outcome.status) {
        case call_status::completed: return outcome.result;
        case call_status::failed: throw rpc_error(outcome.code, outcome.message, outcome.data);
        case call_status::cancelled: throw cancelled_error(cancel_cause::peer, reason(outcome.message));
        case call_status::timed_out: throw std::runtime_error("timed out");
        case call_status::disconnected: break;
    }
    throw std::runtime_error("the server is gone: " + outcome.message);
}

bool pending_call::await_suspend(std::coroutine_handle<> waiting) const {
    return state_->then([waiting] { waiting.resume(); });
}

}  // namespace andon
