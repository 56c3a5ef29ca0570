#include "workload.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "now.hpp"

namespace demo {
namespace {

using namespace std::chrono_literals;
using andon::cancel_cause;
using andon::direction;

constexpr std::size_t sessions = 6;
constexpr std::size_t disconnected = 4;
constexpr std::size_t stopped_by_operator = 5;

}  // namespace

workload::workload(const options& asked, bell& changed)
    : asked_(asked),
      pace_(asked),
      changed_(changed),
      planner_(asked.seed, pace_),
      start_(now()),
      table_({.outcomes_kept = asked.requests}),
      book_(asked.requests, changed),
      surroundings_{table_, book_, peer_},
      pool_(pace_.workers, surroundings_) {
    connections_.reserve(sessions);
    for (std::size_t i = 0; i < sessions; ++i) connections_.emplace_back(table_.open_session());
    play();
}

// The peer acts on the pool and the pool asks the peer to act: it falls silent before either goes.
workload::~workload() { peer_.stop(); }

bool workload::over() const noexcept {
    const auto ended = book_.ended();
    return ended == (interrupted_ ? book_.begun() : book_.planned());
}

void workload::interrupt() {
    peer_.stop();
    interrupted_ = true;
    for (auto& c : connections_) c.session.close(cancel_cause::shutdown, "the demonstration was interrupted", now());
}

void workload::play() {
    const auto at = [this](double share) {
        return start_ + std::chrono::duration_cast<andon::duration>(pace_.window * share);
    };
    peer_.add(start_, [this] {
        for (auto& c : connections_) send(c, planner_.special(tool::initialize, pace_.mean_work / 2));
        arrive();
    });
    peer_.add(at(0.1), [this] {
        send(connections_[0],
             planner_.special(tool::legacy_export, std::min<andon::duration>(1200ms, asked_.length / 3)));
    });
    peer_.add(at(0.2), [this] {
        send(connections_[1],
             planner_.special(tool::commit_order, std::min<andon::duration>(400ms, asked_.length / 10)));
    });
    peer_.add(at(0.4), [this] {
        burst(connections_[disconnected]);
        peer_.add(now() + pace_.mean_work / 4, [this] { disconnect(connections_[disconnected]); });
    });
    peer_.add(at(0.7), [this] {
        burst(connections_[stopped_by_operator]);
        peer_.add(now() + pace_.mean_work / 4, [this] { stop_all(connections_[stopped_by_operator]); });
    });
}

// Sends what is due by now, and comes back.
void workload::arrive() {
    const auto share = std::min(1.0, std::chrono::duration<double>(now() - start_) / pace_.window);
    const auto due = static_cast<std::size_t>(share * static_cast<double>(book_.planned()));
    while (book_.begun() < due) {
        auto& to = any_open();
        if (!send(to, planner_.next())) break;
        if (planner_.with_chance(0.8)) cancel(to, andon::request_id(-1 - to.last_id), "for an id that never was");
    }
    if (book_.begun() < book_.planned()) peer_.add(now() + 5ms, [this] { arrive(); });
}

bool workload::send(connection& to, const request_plan& plan) {
    if (!book_.take_place()) return false;
    const auto id = next_id(to);
    const bool peer_may_cancel = plan.what != tool::initialize;
    auto begun =
        table_.begin(to.session, direction::incoming, id, now(),
                     {.label = to_string(plan.what), .limits = plan.limits, .peer_may_cancel = peer_may_cancel});
    if (!begun) {
        book_.give_back_place();
        refused_.fetch_add(1);
        return false;
    }
    auto& entry = book_.begun(begun.request, direction::incoming);
    if (begun.request.deadline()) changed_.ring();
    pool_.submit({std::move(begun.request), &to.session, plan, &entry});

    if (!plan.cancel) return true;
    const auto ask = [this, &to, id, why = plan.cancel->why] { cancel(to, id, why); };
    const auto when = now() + plan.cancel->after;
    peer_.add(when, ask);
    if (plan.cancel->twice) peer_.add(when + 1ms, ask);
    return true;
}

// More than there are workers free: some wait in the queue when their session goes.
void workload::burst(connection& to) {
    for (std::size_t i = 0; i < book_.planned() / 10; ++i) send(to, planner_.next());
}

void workload::cancel(const connection& in, const andon::request_id& id, std::string_view why) {
    table_.cancel({in.session.id(), direction::incoming, id}, cancel_cause::peer, why, now());
}

void workload::disconnect(connection& gone) {
    gone.open = false;
    gone.session.close(cancel_cause::disconnect, "connection reset by peer", now());
    send(gone, planner_.next());  // one that was on its way: refused
}

void workload::stop_all(const connection& in) {
    table_.cancel_session(in.session.id(), cancel_cause::operator_, "stopped at the board", now());
}

workload::connection& workload::any_open() {
    for (;;) {
        auto& c = connections_[planner_.below(connections_.size())];
        if (c.open) return c;
    }
}

// Every other session numbers its requests, the rest name them: both are ids, and `1` is not `"1"`.
andon::request_id workload::next_id(connection& in) const {
    const auto n = ++in.last_id;
    if (static_cast<std::uint64_t>(in.session.id()) % 2 == 1) return n;
    return "req-" + std::to_string(n);
}

}  // namespace demo
