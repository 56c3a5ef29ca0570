#include "tools.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "andon/core/cancel_callback.hpp"
#include "now.hpp"

namespace demo {
namespace {

using namespace std::chrono_literals;

// Work that can be neither shortened nor left: what a cancel can do nothing about.
void busy_elsewhere(andon::duration time) { std::this_thread::sleep_for(time); }

// The peer cancels this request then.
void let_peer_cancel(const call& c, surroundings& at, andon::time_point when, std::string_view why) {
    at.peer.add(when, [&table = at.table, session = c.request.session(), id = andon::request_id(c.request.id()), why] {
        table.cancel({session, andon::direction::incoming, id}, andon::cancel_cause::peer, why, now());
    });
}

// Each tool says whether it did all of its work; false, or a cancelled_error: it stopped because it was asked to.

// Computes, and polls in the innermost loop: the poll is one load.
bool hash_files(call& c) {
    const auto token = c.request.token();
    const auto end = now() + c.plan.work;
    auto digest = static_cast<std::uint64_t>(end.time_since_epoch().count());
    while (now() < end) {
        const auto block_end = now() + std::min<andon::duration>(100us, c.plan.work / 40);
        while (now() < block_end) {
            for (int i = 0; i < 1'000; ++i) {
                digest = (digest ^ (digest >> 29U)) * 0x9E3779B97F4A7C15U;
                token.throw_if_cancelled();
            }
        }
        busy_elsewhere(std::min<andon::duration>(2ms, c.plan.work / 8));  // the next block comes from the disk
    }
    return digest != 0;
}

bool fetch_page(call& c) { return !c.request.token().wait_until(now() + c.plan.work); }

// A driver that knows nothing of tokens: it blocks, and another thread can interrupt it.
class database {
public:
    bool execute(andon::time_point ready) {
        std::unique_lock hold(mutex_);
        return !changed_.wait_until(hold, ready, [this] { return interrupted_; });
    }
    void interrupt() {
        const std::scoped_lock hold(mutex_);
        interrupted_ = true;
        changed_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool interrupted_ = false;
};

bool query_database(call& c) {
    database db;
    const andon::cancel_callback on_cancel(c.request.token(), [&] {
        c.request.notice(now());
        db.interrupt();
    });
    return db.execute(now() + c.plan.work);
}

// A question to the peer that is part of `c`: a cancel of `c` reaches it by itself.
struct question {
    andon::active_request request;
    ledger::entry* entry;
};

std::optional<question> ask_user(call& c, surroundings& at) {
    if (!at.book.take_place()) return std::nullopt;
    auto begun = at.table.begin(c.request, andon::direction::outgoing, at.next_outgoing_id.fetch_add(1), now(),
                                {.label = "elicitation/create"});
    if (!begun) {  // the session is closed, and this call is cancelled with it
        at.book.give_back_place();
        return std::nullopt;
    }
    auto& entry = at.book.begun(begun.request, andon::direction::outgoing);
    entry.started = true;
    return question{std::move(begun.request), &entry};
}

bool await_reply(question& q, surroundings& at, andon::time_point reply) {
    const bool replied = !q.request.token().wait_until(reply) && q.request.begin_response();
    if (replied) {
        at.book.answered(*q.entry);
    } else {
        q.request.notice(now());
    }
    at.book.end(q.request);
    return replied;
}

bool plan_trip(call& c, surroundings& at) {
    const auto start = now();
    auto where = ask_user(c, at);
    auto when = ask_user(c, at);
    bool replied = true;
    if (where) replied = await_reply(*where, at, start + c.plan.work / 2);
    if (when) replied = await_reply(*when, at, start + c.plan.work * 3 / 4) && replied;
    return replied && !c.request.token().wait_until(start + c.plan.work);
}

bool tail_log(call& c) {
    const auto token = c.request.token();
    constexpr int parts = 5;
    for (int i = 0; i < parts; ++i) {
        if (c.plan.stalls && i == 2) token.wait();  // the log has gone silent: the idle limit will tell us
        if (token.wait_until(now() + c.plan.work / parts)) return false;
        c.request.progress(now());
    }
    return true;
}

bool commit_order(call& c, surroundings& at) {
    const auto token = c.request.token();
    {
        const andon::uninterrupted_section whole_or_not_at_all(token);
        let_peer_cancel(c, at, now() + c.plan.work / 4, "user pressed Stop");
        busy_elsewhere(c.plan.work);
    }
    return !token.cancelled();
}

// Never asks whether it was cancelled. Whoever writes its messages does, and keeps them back.
bool legacy_export(call& c, surroundings& at) {
    constexpr int parts = 12;
    let_peer_cancel(c, at, now() + c.plan.work / parts * 2, "user pressed Stop, twice, loudly");
    for (int i = 0; i < parts; ++i) {
        busy_elsewhere(c.plan.work / parts);
        if (c.request.state() == andon::request_state::cancelled) c.request.count_discarded(1);
    }
    return true;
}

bool work(call& c, surroundings& at) {
    switch (c.plan.what) {
        case tool::hash_files: return hash_files(c);
        case tool::query_database: return query_database(c);
        case tool::plan_trip: return plan_trip(c, at);
        case tool::tail_log: return tail_log(c);
        case tool::commit_order: return commit_order(c, at);
        case tool::legacy_export: return legacy_export(c, at);
        case tool::initialize:
        case tool::fetch_page:
        case tool::render_report: break;
    }
    return fetch_page(c);
}

void write_response(call& c, surroundings& at) {
    if (c.plan.writing) {
        let_peer_cancel(c, at, now(), "too late");
        busy_elsewhere(*c.plan.writing);
    }
    at.book.answered(*c.entry);
}

}  // namespace

void handle(call& c, surroundings& at) {
    c.entry->started = true;
    bool finished = false;
    try {
        finished = work(c, at);
    } catch (const andon::cancelled_error&) {
    }

    if (finished && c.request.begin_response()) {
        write_response(c, at);
    } else {
        if (finished) c.request.count_discarded(1);
        if (c.plan.what != tool::legacy_export) c.request.notice(now());
        busy_elsewhere(c.plan.wind_down);
    }
    at.book.end(c.request);
}

void drop(call& c, surroundings& at) {
    c.request.notice(now());
    at.book.end(c.request);
}

}  // namespace demo
