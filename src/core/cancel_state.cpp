#include "andon/core/cancel_state.hpp"

#include <array>
#include <cassert>
#include <cstddef>

#include "core/backoff.hpp"

namespace andon {

using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;

std::string_view to_string(request_state state) noexcept {
    switch (state) {
        case request_state::running: return "running";
        case request_state::responding: return "responding";
        case request_state::cancelled: return "cancelled";
        case request_state::done: return "done";
    }
    return "?";
}

std::string_view to_string(cancel_result::verdict verdict) noexcept {
    switch (verdict) {
        case cancel_result::verdict::accepted: return "accepted";
        case cancel_result::verdict::already_cancelled: return "already cancelled";
        case cancel_result::verdict::too_late: return "too late";
        case cancel_result::verdict::unknown: return "unknown";
        case cancel_result::verdict::uncancellable: return "uncancellable";
    }
    return "?";
}

constinit cancel_state cancel_state::nobody;

cancel_state::~cancel_state() {
    assert(parent_ == nullptr && "a state that hangs below another is ended before it is let go");
    assert(first_ == nullptr && "a registration holds a reference, so none can be left");
}

request_state cancel_state::state() const noexcept {
    const auto word = word_.load(memory_order_acquire);
    if ((word & done) != 0) return request_state::done;
    if ((word & cancelled_bit) != 0) return request_state::cancelled;
    return (word & responding) != 0 ? request_state::responding : request_state::running;
}

bool cancel_state::cancel_accepted() const noexcept { return (word_.load(memory_order_acquire) & cancelled_bit) != 0; }

reason cancel_state::why() const noexcept { return cancel_accepted() ? reason_ : reason(); }

time_point cancel_state::asked_at() const noexcept { return cancel_accepted() ? asked_ : unknown_time; }

cancel_result cancel_state::lost_to(std::uint32_t word) noexcept {
    if ((word & cancelled_bit) != 0) return {cancel_result::verdict::already_cancelled, cause_in(word)};
    return {cancel_result::verdict::too_late, cancel_cause::peer};
}

std::uint32_t cancel_state::lock(std::uint32_t also_set) noexcept {
    detail::backoff wait;
    auto word = word_.load(memory_order_relaxed);
    for (;;) {
        if ((word & locked) != 0) {
            wait.pause();
            word = word_.load(memory_order_relaxed);
        } else if (word_.compare_exchange_weak(word, word | locked | also_set, memory_order_acquire,
                                               memory_order_relaxed)) {
            return word | locked | also_set;
        }
    }
}

cancel_result cancel_state::cancel(cancel_cause cause, std::string_view why, time_point now) noexcept {
    const auto word = word_.load(memory_order_acquire);
    if ((word & decided) != 0) return lost_to(word);
    return cancel(cause, reason(why), now);
}

cancel_result cancel_state::cancel(cancel_cause cause, const reason& why, time_point now) noexcept {
    detail::backoff wait;
    auto word = word_.load(memory_order_acquire);
    for (;;) {
        if ((word & decided) != 0) return lost_to(word);
        if ((word & locked) != 0) {
            wait.pause();
            word = word_.load(memory_order_acquire);
        } else if (word_.compare_exchange_weak(word, word | locked, memory_order_acquire, memory_order_acquire)) {
            break;
        }
    }
    reason_ = why;
    asked_ = now;

    word |= locked;
    std::uint32_t won = 0;
    do {
        if ((word & decided) != 0) {  // the response was claimed while we held the lock
            const reason unused = std::move(reason_);
            asked_ = unknown_time;
            unlock();
            return lost_to(word);
        }
        won = word | cancelled_bit | static_cast<std::uint32_t>(cause) << cause_shift;
        if ((word & sections_mask) == 0) won |= told;
    } while (!word_.compare_exchange_weak(word, won, memory_order_acq_rel, memory_order_acquire));

    if ((won & told) != 0) {
        retain();  // a callback may end the work and let go of the last reference, its canceller's included
        deliver();
        release();
    } else {
        unlock();  // whoever leaves the last section delivers
    }
    return {cancel_result::verdict::accepted, cause};
}

bool cancel_state::begin_response() noexcept {
    auto word = word_.load(memory_order_relaxed);
    do {
        if ((word & decided) != 0) return false;
    } while (!word_.compare_exchange_weak(word, word | responding, memory_order_acq_rel, memory_order_acquire));
    return true;
}

// Called with the lock held, by the one thread that set `told`; returns without it. No callback or child is added to
// the list any more: whoever comes now sees `told` and serves itself. So the list comes to an end.
void cancel_state::deliver() noexcept {
    delivery current{std::this_thread::get_id(), nullptr};
    delivery_ = &current;
    const auto cause = cause_left_below(word_.load(memory_order_relaxed));
    while (cancel_node* node = first_) {
        remove(*node);
        if (node->what == kind::child) {
            auto& child = static_cast<cancel_state&>(*node);
            child.retain();
            unlock();
            cancel_subtree(child, cause, reason_, asked_);
            child.release();
            lock();
        } else if (node->what == kind::callback) {
            auto& callback = static_cast<detail::callback_node&>(*node);
            current.running = &callback;
            unlock();
            callback.run(callback);
            lock();
            if (current.running != nullptr) {  // it still exists: it did not destroy itself
                current.running = nullptr;
                if (callback.awaited) {
                    callback.finished.store(true, memory_order_release);
                    callback.finished.notify_one();
                }
            }
        }
    }
    delivery_ = nullptr;
    unlock();
}

bool cancel_state::end(time_point now) noexcept {
    const auto before = word_.fetch_or(done, memory_order_acq_rel);
    if ((before & done) != 0) return false;
    if ((before & hung) != 0) cancel_children(cause_left_below(before), why(), now);
    if (parent_ != nullptr) {
        parent_->lock();
        if (link != nullptr) remove(*this);
        parent_->leave_place_and_unlock();
        parent_ = nullptr;
    }
    return true;
}

cancel_state::admission cancel_state::hang_below(cancel_state& parent, time_point now, std::uint32_t most) noexcept {
    assert(parent_ == nullptr);
    const auto word = parent.lock(hung);
    if ((word & (told | done)) != 0) {
        parent.unlock();
        cancel(parent.cause_left_below(word), parent.why(), now);
        return admission::cancelled;
    }
    const bool room = parent.places_ < most;
    if (room) {
        parent.take_place_locked();
        insert(*this, parent.first_);
        parent_ = &parent;
    }
    parent.unlock();
    return room ? admission::let_in : admission::refused;
}

// One reference for all who have a place here, not one each: a session's counter would be touched by every request.
void cancel_state::take_place_locked() noexcept {
    if (places_++ == 0) retain();
}

void cancel_state::leave_place_and_unlock() noexcept {
    const bool last = --places_ == 0;
    unlock();
    if (last) release();
}

cancel_state::admission cancel_state::take_place(std::uint32_t most) noexcept {
    const auto word = lock();
    auto result = places_ < most ? admission::let_in : admission::refused;
    if ((word & (told | done)) != 0) result = admission::cancelled;
    if (result == admission::let_in) take_place_locked();
    unlock();
    return result;
}

// What answers already is not cancelled any more; what it started is.
void cancel_state::cancel_subtree(cancel_state& root, cancel_cause cause, const reason& why, time_point now) noexcept {
    const auto result = root.cancel(cause, why, now);
    if (result.what == cancel_result::verdict::too_late) root.cancel_children(cancel_cause::parent, why, now);
}

void cancel_state::give_place_back() noexcept {
    lock();
    leave_place_and_unlock();
}

std::uint32_t cancel_state::places_taken() noexcept {
    lock();
    const auto taken = places_;
    unlock();
    return taken;
}

// Goes through the list with a bookmark in it, a few at a time, so that the lock is never held for long and never over
// a child's callbacks. What is hung up meanwhile comes in front of the bookmark and is not touched.
void cancel_state::cancel_children(cancel_cause cause, const reason& why, time_point now) noexcept {
    constexpr std::size_t at_once = 32;
    std::array<cancel_state*, at_once> children{};
    cancel_node bookmark(kind::bookmark);
    lock();
    insert(bookmark, first_);
    while (bookmark.link != nullptr) {  // else a delivery has taken over, and serves them all
        std::size_t found = 0;
        cancel_node** place = &bookmark.next;
        for (std::size_t seen = 0; seen < at_once && *place != nullptr; place = &(*place)->next) {
            if ((*place)->what == kind::bookmark) continue;  // not counted, or two of them could overtake each other
            ++seen;
            if ((*place)->what != kind::child) continue;
            children[found] = static_cast<cancel_state*>(*place);
            children[found++]->retain();
        }
        const bool last = *place == nullptr;
        remove(bookmark);
        if (!last) insert(bookmark, *place);
        unlock();
        for (std::size_t i = 0; i < found; ++i) {
            cancel_subtree(*children[i], cause, why, now);
            children[i]->release();
        }
        lock();
        if (last) break;
    }
    unlock();
}

bool cancel_state::enter_section() noexcept {
    auto word = word_.load(memory_order_relaxed);
    do {
        if ((word & told) != 0) return false;
        assert((word & sections_mask) != sections_mask && "65535 uninterrupted sections at once");
    } while (!word_.compare_exchange_weak(word, word + one_section, memory_order_acquire, memory_order_relaxed));
    return true;
}

void cancel_state::leave_section() noexcept {
    detail::backoff wait;
    auto word = word_.load(memory_order_relaxed);
    for (;;) {
        assert((word & sections_mask) != 0);
        const bool deliver_now = (word & cancelled_bit) != 0 && (word & sections_mask) == one_section;
        if (deliver_now && (word & locked) != 0) {
            wait.pause();
            word = word_.load(memory_order_relaxed);
            continue;
        }
        const auto left = (word - one_section) | (deliver_now ? told | locked : 0);
        if (!word_.compare_exchange_weak(word, left, memory_order_acq_rel, memory_order_relaxed)) continue;
        if (deliver_now) deliver();
        return;
    }
}

bool cancel_state::add_callback(detail::callback_node& callback) noexcept {
    const auto word = lock(hung);
    const bool added = (word & told) == 0;
    if (added) insert(callback, first_);
    unlock();
    return added;
}

void cancel_state::remove_callback(detail::callback_node& callback) noexcept {
    lock();
    if (callback.link != nullptr) {
        remove(callback);
    } else if (delivery_ != nullptr && delivery_->running == &callback) {
        if (delivery_->thread == std::this_thread::get_id()) {
            delivery_->running = nullptr;  // destroyed inside itself: nobody may touch it when it returns
        } else {
            callback.awaited = true;
            unlock();
            callback.finished.wait(false, memory_order_acquire);
            lock();  // whoever told us did so under the lock: now that thread has let go of the callback
        }
    }
    unlock();
}

void cancel_state::insert(cancel_node& node, cancel_node*& place) noexcept {
    node.next = place;
    node.link = &place;
    if (node.next != nullptr) node.next->link = &node.next;
    place = &node;
}

void cancel_state::remove(cancel_node& node) noexcept {
    *node.link = node.next;
    if (node.next != nullptr) node.next->link = node.link;
    node.next = nullptr;
    node.link = nullptr;
}

}  // namespace andon
