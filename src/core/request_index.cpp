#include "core/request_index.hpp"

#include <algorithm>
#include <cassert>

namespace andon::detail {

request_index::request_index() : current_(slot_array::make(smallest, 1)) {
    auto* array = current_.load();
    if (array == nullptr) throw std::bad_alloc();
    first_slot_ = array->slots();
    last_slot_ = array->size - 1;
}

request_index::~request_index() {
    assert(count_ == 0 && "every active_request is gone before its table");
    while (auto* array = take_unused()) slot_array::destroy(array);
    slot_array::destroy(draining_.load());
    slot_array::destroy(current_.load());
}

std::size_t request_index::put(slot_array& array, slot s, std::uint32_t hash, std::memory_order order) noexcept {
    std::size_t place = hash;
    slot before = array[place].load(std::memory_order_relaxed);
    while (before > slot_array::tombstone) before = array[++place].load(std::memory_order_relaxed);
    array[place].store(s, order);
    return before == slot_array::empty ? 1 : 0;
}

void request_index::insert(request& r, std::uint64_t hash) {
    move_some();
    make_room();
    const auto address = reinterpret_cast<slot>(&r);
    assert((address & ~pointer_mask) == 0 && "an address has 48 bits");
    const slot s = address | (hash >> tag_shift << tag_shift);
    used_ += put(*current_.load(), s, r.hash(), std::memory_order_release);
    ++count_;
}

// Five eighths full, tombstones counted: twice the size, or the same again where half of it is tombstones.
void request_index::make_room() {
    const auto size = current_.load()->size;
    if (used_ < size / 8 * 5) return;
    while (draining_.load() != nullptr) move_some();
    if (!begin_resize(count_ < size / 16 * 5 ? size : size * 2) && used_ >= size - 1) throw std::bad_alloc();
}

std::optional<std::size_t> request_index::place_in(slot_array& array, const request& r) noexcept {
    for (std::size_t place = r.hash();; ++place) {
        const slot s = array[place].load(std::memory_order_relaxed);
        if (s == slot_array::empty) return std::nullopt;
        if (record_in(s) == &r) return place;
    }
}

void request_index::erase(request& r) noexcept {
    auto& array = *current_.load();
    if (const auto found = place_in(array, r)) {
        std::size_t place = *found;
        if (array[place + 1].load(std::memory_order_relaxed) == slot_array::empty) {
            // No probe goes on behind here: this slot and the tombstones before it can be empty again.
            do {
                array[place--].store(slot_array::empty);
                --used_;
            } while (array[place].load(std::memory_order_relaxed) == slot_array::tombstone);
        } else {
            array[place].store(slot_array::tombstone);
        }
    } else {
        auto& draining = *draining_.load();
        draining[*place_in(draining, r)].store(slot_array::tombstone);
    }
    --count_;
    move_some();
    if (draining_.load() != nullptr || array.size == smallest) return;
    if (count_ == 0) {
        begin_resize(smallest);
        move_some();  // nothing to move: the large array is given back at once
    } else if (count_ < array.size / 8) {
        begin_resize(array.size / 2);
    }
}

bool request_index::begin_resize(std::size_t size) noexcept {
    assert(draining_.load() == nullptr);
    auto* array = slot_array::make(std::max(size, smallest), generations_ + 1);
    if (array == nullptr) return false;
    ++generations_;
    moves_.fetch_add(1);
    draining_.store(current_.load());
    current_.store(array);
    moves_.fetch_add(1);
    first_slot_.store(array->slots(), std::memory_order_relaxed);
    last_slot_.store(array->size - 1, std::memory_order_relaxed);
    drained_ = 0;
    used_ = 0;
    return true;
}

void request_index::move_some() noexcept {
    auto* from = draining_.load();
    if (from == nullptr) return;
    auto& to = *current_.load();
    moves_.fetch_add(1);
    for (std::size_t n = 0; n < moved_at_once && drained_ < from->size; ++n, ++drained_) {
        const slot s = (*from)[drained_].load();
        const auto* r = record_in(s);
        if (r == nullptr) continue;
        used_ += put(to, s, r->hash(), std::memory_order_seq_cst);
        (*from)[drained_].store(slot_array::tombstone);
    }
    if (drained_ == from->size || count_ == 0) {
        draining_.store(nullptr);
        from->next_unused = unused_;
        unused_ = from;
    }
    moves_.fetch_add(1);
}

slot_array* request_index::take_unused() noexcept {
    auto* array = unused_;
    if (array != nullptr) unused_ = array->next_unused;
    return array;
}

}  // namespace andon::detail
