// One shard's hash table: who writes holds the shard's lock, who reads needs none.
//
// Open addressing with linear probing. A slot is a pointer to a record with 16 bits of its hash above it, so that a
// probe touches one cache line of the array and no record but the right one: with a million in flight every other
// record is a trip to memory. An erased slot becomes a tombstone unless the probe ends right behind it.
//
// The array grows, shrinks and is swept of tombstones a few slots with every change, while both arrays are in use: no
// single request ever pays for all the others. A reader that looks while records move may miss one that is neither here
// any more nor there yet; it sees from `moves_` that this may have happened, and then asks again under the lock. A
// record that a reader finds is the right one: its key never changes, and its memory stays until the reader has left
// (grace_period.hpp).
//
// All accesses to the slots are sequentially consistent, but for the insertion, which only has to be seen some time:
// the readers' promise to the grace period rests on it, and on common processors it costs the readers nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>

#include "core/grace_period.hpp"
#include "core/request.hpp"

namespace andon::detail {

struct alignas(64) slot_array {
    using slot = std::uint64_t;
    static constexpr slot empty = 0;
    static constexpr slot tombstone = 1;

    std::uint64_t generation = 0;
    std::size_t size = 0;  // a power of two
    slot_array* next_unused = nullptr;
    grace_period::epoch unlinked = 0;

    void* allocation = nullptr;

    /// Null without memory. On cache lines of its own, so that shards do not meet there; from calloc(), so that a large
    /// array comes from the kernel zeroed, and costs what is touched of it.
    static slot_array* make(std::size_t size, std::uint64_t generation) noexcept {
        std::size_t bytes = sizeof(slot_array) + size * sizeof(slot);
        std::size_t room = bytes + alignof(slot_array);
        void* allocation = std::calloc(1, room);
        if (allocation == nullptr) return nullptr;
        void* memory = allocation;
        std::align(alignof(slot_array), bytes, memory, room);
        return new (memory) slot_array{generation, size, nullptr, 0, allocation};
    }
    static void destroy(slot_array* array) noexcept {
        if (array != nullptr) std::free(array->allocation);
    }

    [[nodiscard]] slot* slots() noexcept { return reinterpret_cast<slot*>(this + 1); }
    [[nodiscard]] std::atomic_ref<slot> operator[](std::size_t place) noexcept {
        return std::atomic_ref(slots()[place & (size - 1)]);
    }
};

class request_index {
public:
    request_index();
    request_index(const request_index&) = delete;
    request_index& operator=(const request_index&) = delete;
    ~request_index();

    /// Brings the slot near, ahead of the work that needs it. Any thread, no lock.
    void prefetch(std::uint64_t hash) const noexcept {
        __builtin_prefetch(
            first_slot_.load(std::memory_order_relaxed) + (hash & last_slot_.load(std::memory_order_relaxed)), 1);
    }

    /// Without the lock, inside a grace_period::reader. Empty: records were moving; ask find().
    [[nodiscard]] std::optional<request*> try_find(const request_key& key, std::uint64_t hash) const noexcept;

    // Under the lock.
    [[nodiscard]] request* find(const request_key& key, std::uint64_t hash) const noexcept;
    /// Throws std::bad_alloc, with nothing changed, when there is no room and no memory for more.
    void insert(request& r, std::uint64_t hash);
    void erase(request& r) noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    /// An array that is no longer reached; the caller destroys it when all readers are gone.
    [[nodiscard]] slot_array* take_unused() noexcept;
    [[nodiscard]] bool has_unused() const noexcept { return unused_ != nullptr; }

    /// Where a walk stands. Every record that is here from its start to its end is seen at least once.
    struct cursor {
        std::uint64_t generation = 0;
        std::size_t slot = 0;
    };
    /// Calls `f` for the records of the next few slots; false when the walk is over. Under the lock.
    template <class F>
    bool walk(cursor& at, std::size_t slots, F f) const {
        slot_array* array = draining_.load();
        if (array == nullptr || at.generation > array->generation) array = current_.load();
        if (at.generation != array->generation) at = {array->generation, 0};
        for (; slots > 0 && at.slot < array->size; --slots, ++at.slot) {
            if (auto* r = record_in((*array)[at.slot].load())) f(*r);
        }
        if (at.slot < array->size) return true;
        at = {array->generation + 1, 0};
        return array != current_.load();
    }

private:
    using slot = slot_array::slot;
    static constexpr std::size_t smallest = 16;
    static constexpr std::size_t moved_at_once = 16;
    static constexpr unsigned tag_shift = 48;
    static constexpr slot pointer_mask = (slot{1} << tag_shift) - 1;

    static request* record_in(slot s) noexcept {
        return s <= slot_array::tombstone ? nullptr : reinterpret_cast<request*>(s & pointer_mask);
    }
    static request* find_in(slot_array& array, const request_key& key, std::uint64_t hash) noexcept;
    static std::optional<std::size_t> place_in(slot_array& array, const request& r) noexcept;
    static std::size_t put(slot_array& array, slot s, std::uint32_t hash, std::memory_order order) noexcept;
    void make_room();
    bool begin_resize(std::size_t size) noexcept;
    void move_some() noexcept;

    std::atomic<slot_array*> current_;
    std::atomic<slot_array*> draining_{nullptr};
    std::atomic<std::uint32_t> moves_{0};  // odd while records move
    std::atomic<slot*> first_slot_;        // of current_, for prefetch()
    std::atomic<std::size_t> last_slot_;
    std::size_t used_ = 0;     // slots of current_ that are not empty, tombstones included
    std::size_t drained_ = 0;  // slots of draining_ that were moved
    std::size_t count_ = 0;    // records in both
    std::uint64_t generations_ = 1;
    slot_array* unused_ = nullptr;
};

// The look-up is all there is to is_cancelled(): it is inlined there.

// There is always an empty slot to end a probe: insert() sees to it.
inline request* request_index::find_in(slot_array& array, const request_key& key, std::uint64_t hash) noexcept {
    const auto tag = hash >> tag_shift;
    for (std::size_t place = static_cast<std::uint32_t>(hash);; ++place) {
        const slot s = array[place].load();
        if (s == slot_array::empty) return nullptr;
        if (s >> tag_shift != tag) continue;
        auto* r = record_in(s);
        if (r != nullptr && r->is(key, static_cast<std::uint32_t>(hash))) return r;
    }
}

inline request* request_index::find(const request_key& key, std::uint64_t hash) const noexcept {
    if (auto* r = find_in(*current_.load(), key, hash)) return r;
    auto* draining = draining_.load();
    return draining == nullptr ? nullptr : find_in(*draining, key, hash);
}

inline std::optional<request*> request_index::try_find(const request_key& key, std::uint64_t hash) const noexcept {
    const auto before = moves_.load();
    if (auto* r = find(key, hash)) return r;
    if (before % 2 != 0 || moves_.load() != before) return std::nullopt;
    return nullptr;
}

}  // namespace andon::detail
