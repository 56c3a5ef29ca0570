#include "andon/client/pending_task.hpp"

#include <stdexcept>

#include "client/pending_state.hpp"

namespace andon {

pending_task::~pending_task() {
    if (!state_ || state_->settled()) return;
    if (!state_->report().id.empty()) {
        state_->let_go();
    } else {
        state_->cancel(cancel_cause::peer, "nobody waits for it any more");
    }
}

std::string pending_task::id() const {
    if (state_->here() && state_->report().id.empty() && !done()) {
        throw std::logic_error("pending_task.id() blocks: not on the client's own thread");
    }
    state_->wait_until_created();
    return state_->report().id;
}

task_report pending_task::report() const { return state_->report(); }

bool pending_task::cancel(std::string_view reason) { return state_->cancel(cancel_cause::peer, reason); }

bool pending_task::done() const noexcept { return state_->settled(); }

const call_outcome& pending_task::get() const { return detail::outcome_of(*state_, "pending_task"); }

const json::value& pending_task::value() const { return detail::value_of(get()); }

bool pending_task::await_suspend(std::coroutine_handle<> waiting) const {
    return state_->then([waiting] { waiting.resume(); });
}

}  // namespace andon
