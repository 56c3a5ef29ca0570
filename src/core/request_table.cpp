#include "core/request_table.hpp"

#include <algorithm>
#include <iterator>
#include <random>

#include "core/hash.hpp"

namespace andon::detail {
namespace {

std::uint64_t random_seed() {
    std::random_device device;
    return std::uint64_t{device()} << 32U | device();
}

in_flight_limits sane(in_flight_limits limits) {
    limits.longest_id = std::min<std::size_t>(limits.longest_id, std::numeric_limits<std::uint16_t>::max());
    limits.max_per_session = std::min<std::size_t>(limits.max_per_session, std::numeric_limits<std::uint32_t>::max());
    return limits;
}

}  // namespace

request_table::request_table(const in_flight_limits& limits)
    : limits_(sane(limits)), seeds_{random_seed(), random_seed()}, outcomes_(limits.outcomes_kept) {}

request_table::~request_table() {
    for (auto& s : shards_) free({s.retired, s.retired_arrays});
}

std::uint64_t request_table::hash_of(const request_key& key) const noexcept {
    const auto scope = static_cast<std::uint64_t>(key.session) << 1U | static_cast<std::uint64_t>(key.way);
    if (key.id.is_string()) return key.id.hash(fold(scope ^ seeds_[0], seeds_[1]));
    // Peers number their requests in sequence. Four numbers in a row lie side by side in the index, each in a slot of
    // its own, so that three of four find their cache line warm; where the four lie is for the secret seeds to say, so
    // that nobody can crowd one place. Rows of eight would fill whole lines, and probes would have to get past them.
    const auto number = static_cast<std::uint64_t>(key.id.number());
    const auto in_row = number % 4;
    const auto row = fold(fold(number / 4 ^ seeds_[0], scope ^ seeds_[1]) ^ seeds_[1], odd_c);
    return (row & ~std::uint64_t{3}) ^ in_row ^ in_row << 62U;
}

session_record& request_table::open_session() {
    const std::scoped_lock hold(sessions_mutex_);
    const auto id = session_id(++sessions_opened_);
    auto record = std::make_unique<session_record>(id, static_cast<std::uint32_t>(limits_.max_per_session));
    sessions_.emplace(id, record.get());
    return *record.release();
}

void request_table::close(session_record& session, cancel_cause cause, std::string_view why, time_point now) noexcept {
    {
        const std::scoped_lock hold(sessions_mutex_);
        sessions_.erase(session.id);
    }
    const auto id = session.id;  // the session may be gone when its cancel was delivered
    session.cancel(cause, why, now);
    sweep(shard_of(id));
}

bool request_table::cancel_session(session_id id, cancel_cause cause, std::string_view why, time_point now) noexcept {
    cancel_token session;
    {
        const std::scoped_lock hold(sessions_mutex_);
        const auto found = sessions_.find(id);
        if (found == sessions_.end()) return false;
        session = cancel_token(*found->second);
    }
    session.state()->cancel_children(cause, reason(why), now);
    return true;
}

request_table::begun request_table::begin(session_record& in, request* parent, direction way, request_id_view id,
                                          time_point now, const begin_options& options) {
    if (id.text().size() > limits_.longest_id) return {nullptr, begin_refusal::id_too_long};
    if (in.cancel_accepted()) return {nullptr, begin_refusal::session_closed};

    const request_key key{in.id, way, id};
    const auto hash = hash_of(key);
    auto& s = shard_of(in.id);
    s.index.prefetch(hash);
    auto* r = request::make(in, key, hash, now, options);
    if (const auto refusal = join(in, parent, *r, now); refusal != begin_refusal::none) {
        abandon(*r, now);
        return {nullptr, refusal};
    }
    freed given_back;
    bool let_in = false;
    try {
        const std::scoped_lock hold(s.lock);
        let_in = s.index.find(key, hash) == nullptr;
        if (let_in) {
            if (r->due()) need_wheel(s, now);
            s.index.insert(*r, hash);
            arm(s, *r);
            if (s.index.has_unused() || s.retired_arrays != nullptr) given_back = reclaim(s);
        }
    } catch (...) {
        abandon(*r, now);
        throw;
    }
    free(given_back);
    if (let_in) return {r, begin_refusal::none};
    abandon(*r, now);
    return {nullptr, begin_refusal::duplicate_id};
}

// Makes it one of the session: below the session itself, or below a request of it and with a place in the session. From
// then on the session is there for as long as the request is.
begin_refusal request_table::join(session_record& in, request* parent, request& r, time_point now) noexcept {
    switch (parent == nullptr ? r.hang_below(in, now, in.most) : in.take_place(in.most)) {
        case cancel_state::admission::let_in: break;
        case cancel_state::admission::cancelled: return begin_refusal::session_closed;
        case cancel_state::admission::refused: return begin_refusal::too_many;
    }
    if (parent != nullptr) {
        r.has_place_in_session = true;
        r.hang_below(*parent, now);
    }
    return begin_refusal::none;
}

// Lets go of one that never came into the table.
void request_table::abandon(request& r, time_point now) noexcept {
    leave_session(r, now);
    r.release();
    r.release();
}

void request_table::leave_session(request& r, time_point now) noexcept {
    auto& session = r.session();
    r.end(now);
    if (r.has_place_in_session) session.give_place_back();
}

void request_table::finish(request& r, time_point now) noexcept {
    r.stopped = now;
    leave_session(r, now);

    auto& s = shard_of(r.in_session());
    freed given_back;
    {
        const std::scoped_lock hold(s.lock);
        s.index.erase(r);
        if (r.set()) disarm(s, r);
        deadline_hook& hook = r;  // free now: it carries the record through the retired list
        hook.tick = static_cast<std::int64_t>(grace_.current());
        *s.retired_end = &hook;
        s.retired_end = &hook.next;
        ++s.retired_count;
        given_back = reclaim(s);
    }
    if (r.cancel_accepted()) outcomes_.file(r);
    free(given_back);
    r.release();
}

// Takes out what no reader can be looking at any more: all of it when nobody is reading, which is the rule; else what
// has seen its grace period. Then a few wait for the next call, so that readers are not asked after for each.
request_table::freed request_table::reclaim(shard& s) noexcept {
    while (auto* array = s.index.take_unused()) {
        array->unlinked = grace_.current();
        array->next_unused = std::exchange(s.retired_arrays, array);
    }
    const bool quiet = grace_.quiet();
    if (!quiet && (s.retired_count < retired_at_once || !grace_.try_advance())) return {};
    const auto over = [&](grace_period::epoch unlinked) { return quiet || grace_.passed(unlinked); };

    freed given_back{s.retired, nullptr};
    deadline_hook** end = &s.retired;
    for (; *end != nullptr && over(static_cast<grace_period::epoch>((*end)->tick)); end = &(*end)->next) {
        --s.retired_count;
    }
    if (end == &s.retired) {
        given_back.records = nullptr;
    } else {
        s.retired = std::exchange(*end, nullptr);
        if (s.retired == nullptr) s.retired_end = &s.retired;
    }
    slot_array** array = &s.retired_arrays;
    while (*array != nullptr) {
        if (over((*array)->unlinked)) {
            auto* gone = std::exchange(*array, (*array)->next_unused);
            gone->next_unused = std::exchange(given_back.arrays, gone);
        } else {
            array = &(*array)->next_unused;
        }
    }
    return given_back;
}

void request_table::free(freed given_back) noexcept {
    while (given_back.records != nullptr) {
        auto* r = static_cast<request*>(std::exchange(given_back.records, given_back.records->next));
        r->release();
    }
    while (given_back.arrays != nullptr) {
        slot_array::destroy(std::exchange(given_back.arrays, given_back.arrays->next_unused));
    }
}

cancel_token request_table::find(const request_key& key, std::uint64_t hash) const noexcept {
    auto& s = shard_of(key.session);
    {
        const grace_period::reader reading(grace_);
        if (const auto found = s.index.try_find(key, hash)) {
            return *found != nullptr ? cancel_token(**found) : cancel_token();
        }
    }
    const std::scoped_lock hold(s.lock);
    auto* found = s.index.find(key, hash);
    return found != nullptr ? cancel_token(*found) : cancel_token();
}

cancel_result request_table::cancel(const request_key& key, cancel_cause cause, std::string_view why,
                                    time_point now) noexcept {
    const auto hash = hash_of(key);
    const auto found = find(key, hash);
    cancel_result result{cancel_result::verdict::unknown, cause};
    if (auto* r = static_cast<request*>(found.state())) {
        const bool allowed = cause != cancel_cause::peer || r->peer_may_cancel();
        result = allowed ? r->cancel(cause, why, now) : cancel_result{cancel_result::verdict::uncancellable, cause};
    }
    shard_of(key.session).verdicts[static_cast<std::size_t>(result.what)].fetch_add(1, std::memory_order_relaxed);
    return result;
}

bool request_table::is_cancelled(const request_key& key) const noexcept {
    const auto hash = hash_of(key);
    auto& s = shard_of(key.session);
    {
        const grace_period::reader reading(grace_);
        if (const auto found = s.index.try_find(key, hash)) return *found != nullptr && (*found)->cancelled();
    }
    const std::scoped_lock hold(s.lock);
    const auto* found = s.index.find(key, hash);
    return found != nullptr && found->cancelled();
}

void request_table::need_wheel(shard& s, time_point now) {
    if (s.wheel == nullptr) {
        s.wheel = std::make_unique<deadlines>(now);
    } else if (s.wheel->empty()) {
        s.wheel->restart(now);
    }
}

void request_table::arm(shard& s, request& r) noexcept {
    const auto due = r.due();
    if (!due) return;
    s.wheel->set(r, *due);
    if (due->time_since_epoch().count() < s.wake.load(std::memory_order_relaxed)) note_wake(s);
}

void request_table::disarm(shard& s, request& r) noexcept {
    s.wheel->clear(r);
    if (s.wheel->empty()) s.wake.store(never, std::memory_order_relaxed);
}

void request_table::note_wake(shard& s) noexcept {
    const auto next = s.wheel->next_wake();
    s.wake.store(next ? next->time_since_epoch().count() : never, std::memory_order_relaxed);
}

void request_table::limit(request& r, const time_limits& limits, time_point now) {
    auto& s = shard_of(r.in_session());
    const std::scoped_lock hold(s.lock);
    if (limits.any() && now != unknown_time) need_wheel(s, now);
    if (r.set()) disarm(s, r);
    r.set_limits(limits, now);
    arm(s, r);
}

std::optional<time_point> request_table::next_wake() const noexcept {
    auto earliest = never;
    for (const auto& s : shards_) earliest = std::min(earliest, s.wake.load(std::memory_order_relaxed));
    return earliest == never ? std::nullopt : std::optional(time_point(duration(earliest)));
}

std::size_t request_table::expire(time_point now) noexcept {
    std::size_t expired = 0;
    for (auto& s : shards_) {
        while (s.wake.load(std::memory_order_relaxed) <= now.time_since_epoch().count()) {
            if (!expire_some(s, now, expired)) break;
        }
        sweep(s);
    }
    return expired;
}

// A few at a time, so that the lock is never held for long. False: nothing is left to do.
bool request_table::expire_some(shard& s, time_point now, std::size_t& expired) noexcept {
    static const reason idle("no progress within the idle limit");
    static const reason maximum("the maximum time is over");
    constexpr std::size_t at_once = 32;
    std::array<cancel_token, at_once> due;
    std::size_t found = 0;
    bool more = false;
    {
        const std::scoped_lock hold(s.lock);
        if (s.wheel == nullptr) return false;
        deadline_hook* hook = nullptr;
        for (std::size_t taken = 0; taken < at_once && (hook = s.wheel->next_due(now)) != nullptr; ++taken) {
            auto& r = static_cast<request&>(*hook);
            const auto moved_to = r.due();
            if (!moved_to) continue;  // progress so late that it never comes
            // Another thread may have been here with a later time: what is past by that time is past.
            if (*moved_to > std::max(now, s.wheel->current())) {
                s.wheel->set(r, *moved_to);  // progress came since it was set
            } else {
                due[found++] = cancel_token(r);
            }
        }
        more = hook != nullptr || s.wheel->busy();
        note_wake(s);
    }
    for (std::size_t i = 0; i < found; ++i) {
        auto& r = static_cast<request&>(*due[i].state());
        if (r.cancel(cancel_cause::timeout, r.past_maximum(now) ? maximum : idle, now).accepted()) ++expired;
    }
    return more;
}

// Gives back what had to wait for readers, where no request comes or goes to do it.
void request_table::sweep(shard& s) noexcept {
    freed given_back;
    {
        const std::scoped_lock hold(s.lock);
        if (s.retired_count == 0 && s.retired_arrays == nullptr) return;
        given_back = reclaim(s);
    }
    free(given_back);
}

std::vector<request_info> request_table::list() const {
    constexpr std::size_t at_once = 16;
    std::vector<cancel_token> seen;
    std::vector<cancel_token> few;
    few.reserve(at_once);  // so that nothing is allocated under the lock
    for (auto& s : shards_) {
        request_index::cursor at;
        for (bool more = true; more;) {
            {
                const std::scoped_lock hold(s.lock);
                more = s.index.walk(at, at_once, [&](request& r) { few.emplace_back(r); });
            }
            seen.insert(seen.end(), std::make_move_iterator(few.begin()), std::make_move_iterator(few.end()));
            few.clear();
        }
    }
    // One that moved during the walk was seen twice.
    const auto by_record = [](const cancel_token& a, const cancel_token& b) { return a.state() < b.state(); };
    std::sort(seen.begin(), seen.end(), by_record);
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());

    std::vector<request_info> result;
    result.reserve(seen.size());
    for (const auto& token : seen) {
        const auto& r = static_cast<const request&>(*token.state());
        result.push_back({.session = r.in_session(),
                          .way = r.way(),
                          .id = request_id(r.id()),
                          .label = shown_label(r),
                          .state = r.state(),
                          .cause = r.cause(),
                          .why = r.why(),
                          .held = r.cancel_accepted() && !r.cancelled(),
                          .started = r.started(),
                          .asked = known(r.asked_at()),
                          .noticed = known(r.noticed())});
    }
    std::sort(result.begin(), result.end(),
              [](const request_info& a, const request_info& b) { return a.started < b.started; });
    return result;
}

std::size_t request_table::size() const noexcept {
    std::size_t all = 0;
    for (auto& s : shards_) {
        const std::scoped_lock hold(s.lock);
        all += s.index.size();
    }
    return all;
}

cancel_counters request_table::counters() const noexcept {
    cancel_counters counters;
    const auto sum = [&](cancel_result::verdict verdict) {
        std::uint64_t all = 0;
        for (const auto& s : shards_) {
            all += s.verdicts[static_cast<std::size_t>(verdict)].load(std::memory_order_relaxed);
        }
        return all;
    };
    counters.accepted = sum(cancel_result::verdict::accepted);
    counters.already_cancelled = sum(cancel_result::verdict::already_cancelled);
    counters.too_late = sum(cancel_result::verdict::too_late);
    counters.unknown = sum(cancel_result::verdict::unknown);
    counters.uncancellable = sum(cancel_result::verdict::uncancellable);
    outcomes_.add_to(counters);
    return counters;
}

}  // namespace andon::detail
