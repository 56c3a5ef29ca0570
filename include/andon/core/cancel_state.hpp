// The cancel state of one piece of work: one atomic word that decides between the response and the cancel.
//
// THE STATES
//
//     running -> responding -> done     the handler won: exactly one response is written
//     running -> cancelled  -> done     the cancel won: not one more byte for this request
//
// Whoever moves the word out of `running` wins, by one compare-and-swap, and is told so; nobody else ever has to ask a
// second question. `done` is a flag beside the decision, so that a token that outlives the request still knows how it
// ended. Work may also end undecided (running -> done): then there is nothing left to answer or to cancel.
//
// A cancel that is accepted *takes effect* at once, or, while the work is inside an uninterrupted section (RCV-13),
// when the last section ends. Taking effect is the flag `told`: from then on every poll is true, the callbacks run, and
// the cancel goes down the tree. One thread sets `told`, and that thread delivers.
//
// THE LOCK
//
// `locked` is a bit of the same word. It guards the list of what hangs here (callbacks and children), the record of the
// delivery that is under way, and the writing of the reason. A canceller takes it *before* it decides, so that cause,
// reason and time are in place when the decision becomes visible, and two cancellers never write them at once. The
// responder does not take it: its compare-and-swap succeeds or fails against the canceller's on the same word. No
// callback, allocation or second lock ever happens under it.
//
// WHO LIVES HOW LONG
//
// A state is reference-counted; tokens, handles and the table hold references. A state that hangs below a parent has an
// owner (a cancel_source or an active_request), who calls end() before letting go: so whoever finds a child in its
// parent's list, under the parent's lock, may take a reference to it. A callback is owned by its registration; its
// destructor waits while the callback runs on another thread, and only then: model/cancel_state.pml checks that.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <thread>

#include "andon/core/cancel_cause.hpp"
#include "andon/core/reason.hpp"
#include "andon/core/time.hpp"

namespace andon {

enum class request_state : std::uint8_t { running, responding, cancelled, done };

[[nodiscard]] std::string_view to_string(request_state state) noexcept;

/// What became of an attempt to cancel.
struct cancel_result {
    enum class verdict : std::uint8_t {
        accepted,           ///< it stops now, and not one more byte is written for it
        already_cancelled,  ///< somebody was first; their cause and reason stand (RCV-7)
        too_late,           ///< the response has been or will be written, whole
        unknown,            ///< there is no such request (RCV-5)
        uncancellable,      ///< it is one that its peer may not cancel (DIR-4)
    };

    verdict what = verdict::unknown;
    cancel_cause by = cancel_cause::peer;  ///< whose cancel stands: with accepted and already_cancelled

    [[nodiscard]] bool accepted() const noexcept { return what == verdict::accepted; }
};

[[nodiscard]] std::string_view to_string(cancel_result::verdict verdict) noexcept;

namespace detail {

/// An entry in the list of what hangs below a state. Linked while `link` is set; guarded by that state's lock.
struct cancel_node {
    enum class kind : std::uint8_t { callback, child, bookmark };

    constexpr explicit cancel_node(kind k) noexcept : what(k) {}

    cancel_node* next = nullptr;
    cancel_node** link = nullptr;
    kind what;
};

struct callback_node : cancel_node {
    explicit callback_node(void (*f)(callback_node&) noexcept) noexcept : cancel_node(kind::callback), run(f) {}

    void (*run)(callback_node&) noexcept;
    bool awaited = false;               // a destructor waits for the end of this callback
    std::atomic<bool> finished{false};  // told to that destructor
};

}  // namespace detail

class cancel_state : private detail::cancel_node {
public:
    /// A piece of work hands its cancel down as "parent"; a scope (a session) hands its own cause down.
    enum class role : std::uint8_t { work, scope };
    static constexpr std::uint32_t no_limit = 0xFFFF'FFFF;

    /// Never cancelled, never ended: what a token made from nothing looks at, so that asking it needs no check.
    static cancel_state nobody;

    constexpr explicit cancel_state(role r = role::work, std::uint32_t references = 1) noexcept
        : cancel_node(kind::child), role_(r), references_(references) {}
    cancel_state(const cancel_state&) = delete;
    cancel_state& operator=(const cancel_state&) = delete;

    void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        // Whoever sees that its own reference is the only one left needs no atomic change to give it up.
        if (references_.load(std::memory_order_acquire) == 1 ||
            references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

    /// Whether the work should stop. One acquire load; true for ever once it was true.
    [[nodiscard]] bool cancelled() const noexcept { return (word_.load(std::memory_order_acquire) & told) != 0; }
    /// Both are set and final once cancelled() was true.
    [[nodiscard]] cancel_cause cause() const noexcept { return cause_in(word_.load(std::memory_order_acquire)); }
    [[nodiscard]] reason why() const noexcept;

    [[nodiscard]] request_state state() const noexcept;
    /// Whether a cancel has won, also one that still waits for the end of an uninterrupted section.
    [[nodiscard]] bool cancel_accepted() const noexcept;
    [[nodiscard]] time_point asked_at() const noexcept;

    /// Asks the work to stop. Callbacks and children are served on this thread, before it returns.
    cancel_result cancel(cancel_cause cause, const reason& why, time_point now) noexcept;
    cancel_result cancel(cancel_cause cause, std::string_view why, time_point now) noexcept;

    /// Claims the right to write the response. False: a cancel won, or somebody has claimed it already; write nothing.
    [[nodiscard]] bool begin_response() noexcept;

    /// The work is over. Children still below are cancelled; it leaves its parent. Says whether this was the first
    /// call.
    bool end(time_point now) noexcept;

    enum class admission : std::uint8_t {
        let_in,     ///< it has a place there until it ends
        cancelled,  ///< a cancel took effect there, or the work has ended: no place is taken
        refused,    ///< `most` places are taken already, and nothing happened
    };
    /// Hangs this state below `parent`. Where that is cancelled, this one is cancelled at birth, and hangs nowhere.
    admission hang_below(cancel_state& parent, time_point now, std::uint32_t most = no_limit) noexcept;
    /// Takes a place here without hanging below.
    [[nodiscard]] admission take_place(std::uint32_t most) noexcept;
    void give_place_back() noexcept;
    /// How many hang here or have taken a place, until they end.
    [[nodiscard]] std::uint32_t places_taken() noexcept;

    /// Cancels everything that hangs here now, and leaves this state as it is.
    void cancel_children(cancel_cause cause, const reason& why, time_point now) noexcept;

    /// An uninterrupted section. False: a cancel took effect before, the section protects from nothing.
    [[nodiscard]] bool enter_section() noexcept;
    void leave_section() noexcept;

    /// False: the cancel took effect already; the caller runs the callback itself.
    [[nodiscard]] bool add_callback(detail::callback_node& callback) noexcept;
    void remove_callback(detail::callback_node& callback) noexcept;

protected:
    virtual ~cancel_state();

private:
    static constexpr std::uint32_t responding = 1U << 0U;
    static constexpr std::uint32_t cancelled_bit = 1U << 1U;
    static constexpr std::uint32_t told = 1U << 2U;
    static constexpr std::uint32_t done = 1U << 3U;
    static constexpr std::uint32_t locked = 1U << 4U;
    static constexpr std::uint32_t hung = 1U << 5U;  // something was hung here at some time
    static constexpr std::uint32_t cause_shift = 8;
    static constexpr std::uint32_t cause_mask = 7U << cause_shift;
    static constexpr std::uint32_t one_section = 1U << 16U;
    static constexpr std::uint32_t sections_mask = 0xFFFFU << 16U;
    static constexpr std::uint32_t decided = responding | cancelled_bit | done;

    // The callback that is running now, and where. Lives on the stack of the thread that delivers.
    struct delivery {
        std::thread::id thread;
        detail::callback_node* running = nullptr;
    };

    static cancel_cause cause_in(std::uint32_t word) noexcept {
        return static_cast<cancel_cause>((word & cause_mask) >> cause_shift);
    }
    static cancel_result lost_to(std::uint32_t word) noexcept;

    std::uint32_t lock(std::uint32_t also_set = 0) noexcept;
    void unlock() noexcept { word_.fetch_and(~locked, std::memory_order_release); }
    void deliver() noexcept;
    /// What a state that stands at `word` hands down to what hangs below it.
    [[nodiscard]] cancel_cause cause_left_below(std::uint32_t word) const noexcept {
        return role_ == role::scope && (word & cancelled_bit) != 0 ? cause_in(word) : cancel_cause::parent;
    }

    static void cancel_subtree(cancel_state& root, cancel_cause cause, const reason& why, time_point now) noexcept;
    void take_place_locked() noexcept;
    void leave_place_and_unlock() noexcept;
    static void insert(cancel_node& node, cancel_node*& place) noexcept;
    static void remove(cancel_node& node) noexcept;

    role role_;
    std::atomic<std::uint32_t> word_{0};
    std::atomic<std::uint32_t> references_;
    std::uint32_t places_ = 0;         // taken here; while there is one, the state keeps itself alive
    cancel_node* first_ = nullptr;     // what hangs here, newest first
    delivery* delivery_ = nullptr;     // set while a cancel is being delivered
    cancel_state* parent_ = nullptr;   // only the owner reads and writes it
    reason reason_;                    // set before the word says cancelled
    time_point asked_ = unknown_time;  // likewise
};

}  // namespace andon
