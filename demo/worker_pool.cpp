#include "worker_pool.hpp"

namespace demo {

worker_pool::queued_call::queued_call(worker_pool& in, call c)
    : pool(in),
      what(std::move(c)),
      session(what.request.session()),
      id(what.request.id()),
      on_cancel(what.request.token(), drop_it{*this}) {}

bool worker_pool::queued_call::take() noexcept {
    if (taken.exchange(true)) return false;
    pool.waiting_.fetch_sub(1);
    return true;
}

void worker_pool::queued_call::drop_it::operator()() const noexcept {
    if (self.take()) drop(self.what, self.pool.at_);
}

worker_pool::worker_pool(std::size_t workers, surroundings& at) : at_(at) {
    workers_.reserve(workers);
    for (std::size_t i = 0; i < workers; ++i) {
        workers_.emplace_back([this](const std::stop_token& stop) { run(stop); });
    }
}

void worker_pool::submit(call c) {
    waiting_.fetch_add(1);
    auto queued = std::make_unique<queued_call>(*this, std::move(c));
    {
        const std::scoped_lock hold(mutex_);
        queue_.push_back(std::move(queued));
    }
    available_.notify_one();
}

std::vector<std::pair<andon::session_id, andon::request_id>> worker_pool::longest_waiting(std::size_t most) const {
    std::vector<std::pair<andon::session_id, andon::request_id>> found;
    const std::scoped_lock hold(mutex_);
    for (const auto& queued : queue_) {
        if (found.size() == most) break;
        if (!queued->taken.load()) found.emplace_back(queued->session, queued->id);
    }
    return found;
}

void worker_pool::run(const std::stop_token& stop) {
    std::unique_lock hold(mutex_);
    while (available_.wait(hold, stop, [this] { return !queue_.empty(); })) {
        auto next = std::move(queue_.front());
        queue_.pop_front();
        hold.unlock();
        if (next->take()) handle(next->what, at_);
        next.reset();  // waits for its callback if that runs now: not a thing to do under the lock
        hold.lock();
    }
}

}  // namespace demo
