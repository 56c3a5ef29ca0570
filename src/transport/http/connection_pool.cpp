#include "transport/http/connection_pool.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <poll.h>

namespace andon::detail {

void exchange::abandon() {
    if (phase_ != phase::over) pool_->abandon(*this);
}

connection_pool::connection_pool(event_loop& loop, settings how)
    : loop_(&loop),
      settings_(std::move(how)),
      lanes_{lane{settings_.most}, lane{settings_.most}, lane{settings_.most},
             lane{std::numeric_limits<std::size_t>::max()}} {}

connection_pool::~connection_pool() { close(); }

std::shared_ptr<exchange> connection_pool::start(exchange::request what, exchange::listener& told) {
    auto made = std::make_shared<exchange>(*this, std::move(what), told);
    if (closed_) {
        made->phase_ = exchange::phase::over;
        return made;
    }
    auto& waiting = lane_of(*made).waiting;
    waiting.insert(made->request_.first ? waiting.begin() : waiting.end(), made);
    pump();
    return made;
}

void connection_pool::pump() {
    for (lane& each : lanes_) {
        while (each.under_way < each.most && !each.waiting.empty() && !closed_) {
            const auto next = std::move(each.waiting.front());
            each.waiting.pop_front();
            ++each.under_way;
            dispatch(next);
        }
    }
}

client_connection* connection_pool::rested() {
    while (!resting_.empty()) {
        client_connection* const newest = resting_.back();
        resting_.pop_back();
        if (newest->fresh()) return newest;
        newest->close();
        remove(*newest);
    }
    return nullptr;
}

void connection_pool::dispatch(const std::shared_ptr<exchange>& what, bool on_a_new_connection) {
    client_connection* on = on_a_new_connection ? nullptr : rested();
    if (on == nullptr) {
        auto made = std::make_shared<client_connection>(*this);
        on = made.get();
        connections_.emplace(on, std::move(made));
    }
    on->begin(what);
}

void connection_pool::done_with(exchange& what) {
    what.phase_ = exchange::phase::over;
    what.connection_ = nullptr;
    --lane_of(what).under_way;
    pump();
}

void connection_pool::abandon(exchange& what) {
    const auto kept = what.shared_from_this();
    if (what.phase_ == exchange::phase::queued) {
        auto& waiting = lane_of(what).waiting;
        waiting.erase(std::find(waiting.begin(), waiting.end(), kept));
        what.phase_ = exchange::phase::over;
        return;
    }
    const auto on = what.connection_->shared_from_this();
    on->close();
    remove(*on);
    done_with(what);
}

void connection_pool::rest(client_connection& which, duration at_most) {
    resting_.push_back(&which);
    which.rest(std::min(at_most, settings_.idle_timeout));
}

void connection_pool::remove(client_connection& which) {
    std::erase(resting_, &which);
    connections_.erase(&which);
}

void connection_pool::hold(bool wanted) {
    if (std::exchange(held_, wanted) == wanted || held_) return;
    for (const auto& [key, each] : connections_) {
        if (!each->idle()) each->read_later();
    }
}

void connection_pool::run_out(time_point until) {
    std::vector<pollfd> sockets;
    std::vector<std::shared_ptr<client_connection>> busy;
    for (;;) {
        sockets.clear();
        busy.clear();
        for (const auto& [key, each] : connections_) {
            if (each->idle()) continue;
            busy.push_back(each);
            sockets.push_back({each->fd(), each->wanted(), 0});
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        if (busy.empty() || left.count() <= 0) return;
        if (std::any_of(sockets.begin(), sockets.end(), [](const pollfd& each) { return each.fd < 0; })) {
            for (const auto& each : busy) each->ready(0);
            continue;
        }
        if (::poll(sockets.data(), sockets.size(), static_cast<int>(left.count())) == 0) return;
        for (std::size_t i = 0; i < busy.size(); ++i) busy[i]->ready(sockets[i].revents);
    }
}

void connection_pool::close() {
    closed_ = true;
    for (lane& each : lanes_) {
        for (const auto& waiting : std::exchange(each.waiting, {})) waiting->phase_ = exchange::phase::over;
    }
    const auto all = std::exchange(connections_, {});
    resting_.clear();
    for (const auto& [key, each] : all) each->close();
}

}  // namespace andon::detail
