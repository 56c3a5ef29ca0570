// The records behind the handles: one allocation a request, its id and label included.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "andon/core/cancel_state.hpp"
#include "andon/core/deadlines.hpp"
#include "andon/core/in_flight.hpp"
#include "andon/core/request_key.hpp"
#include "andon/core/visible_text.hpp"

namespace andon::detail {

class alignas(128) session_record final : public cancel_state {
public:
    session_record(session_id name, std::uint32_t requests) noexcept
        : cancel_state(role::scope), id(name), most(requests) {}

    const session_id id;
    const std::uint32_t most;
};

inline std::optional<time_point> known(time_point t) noexcept {
    return t == unknown_time ? std::nullopt : std::optional(t);
}

class request final : public cancel_state, public deadline_hook {
public:
    static constexpr std::size_t longest_label = 127;

    /// Made with two references: the handle's and the table's.
    static request* make(session_record& in, const request_key& key, std::uint64_t hash, time_point now,
                         const begin_options& options) {
        const auto label = options.label.substr(0, longest_label);
        const auto text = key.id.text();
        void* memory = ::operator new(sizeof(request) + text.size() + label.size());
        return new (memory) request(in, key, static_cast<std::uint32_t>(hash), now, options, label);
    }
    static void operator delete(void* memory) { ::operator delete(memory); }

    [[nodiscard]] request_id_view id() const noexcept {
        if (string_id_) return std::string_view(trailing(), id_size_);
        return number_;
    }
    [[nodiscard]] std::string_view label() const noexcept { return {trailing() + id_size_, label_size_}; }
    /// Only while the request is in flight.
    [[nodiscard]] session_record& session() const noexcept { return *session_; }
    [[nodiscard]] session_id in_session() const noexcept { return session_id_; }
    [[nodiscard]] direction way() const noexcept { return way_; }
    [[nodiscard]] std::uint32_t hash() const noexcept { return hash_; }
    [[nodiscard]] bool peer_may_cancel() const noexcept { return peer_may_cancel_; }
    [[nodiscard]] time_point started() const noexcept { return started_; }

    [[nodiscard]] bool is(const request_key& key, std::uint32_t hash) const noexcept {
        return hash_ == hash && session_id_ == key.session && way_ == key.way && id() == key.id;
    }

    void notice(time_point now) noexcept {
        auto first = unknown_time.time_since_epoch().count();
        noticed_.compare_exchange_strong(first, now.time_since_epoch().count(), std::memory_order_relaxed);
    }
    [[nodiscard]] time_point noticed() const noexcept {
        return time_point(duration(noticed_.load(std::memory_order_relaxed)));
    }

    void progress(time_point now) noexcept {
        if (now != unknown_time) idle_since_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    }
    /// Under the lock of the table's shard.
    void set_limits(const time_limits& limits, time_point now) noexcept {
        const bool timed = now != unknown_time;
        idle_.store(timed && limits.idle ? limits.idle->count() : no_limit, std::memory_order_relaxed);
        progress(now);
        const bool ends = timed && limits.maximum;
        latest_.store(ends ? sum(now.time_since_epoch().count(), limits.maximum->count()) : no_limit,
                      std::memory_order_relaxed);
    }
    /// When it is due as things stand: the idle limit moves with progress, the maximum does not.
    [[nodiscard]] std::optional<time_point> due() const noexcept {
        auto at = latest_.load(std::memory_order_relaxed);
        if (const auto idle = idle_.load(std::memory_order_relaxed); idle != no_limit) {
            at = std::min(at, sum(idle_since_.load(std::memory_order_relaxed), idle));
        }
        return at == no_limit ? std::nullopt : std::optional(time_point(duration(at)));
    }
    [[nodiscard]] bool past_maximum(time_point now) const noexcept {
        return latest_.load(std::memory_order_relaxed) <= now.time_since_epoch().count();
    }

    // What the table keeps in the record.
    time_point stopped = unknown_time;  // written once, before the outcome is filed
    bool has_place_in_session = false;  // hangs below another request, and counts in its session all the same
    std::atomic<std::uint32_t> killed{0};
    std::atomic<std::uint32_t> discarded{0};

private:
    using count = duration::rep;
    static constexpr count no_limit = std::numeric_limits<count>::max();

    static count sum(count a, count b) noexcept {
        count result = 0;
        return __builtin_add_overflow(a, b, &result) ? no_limit : result;
    }

    request(session_record& in, const request_key& key, std::uint32_t hash, time_point now,
            const begin_options& options, std::string_view label) noexcept
        : cancel_state(role::work, 2),
          session_(&in),
          session_id_(key.session),
          number_(key.id.number()),
          hash_(hash),
          id_size_(static_cast<std::uint16_t>(key.id.text().size())),
          label_size_(static_cast<std::uint8_t>(label.size())),
          way_(key.way),
          string_id_(key.id.is_string()),
          peer_may_cancel_(options.peer_may_cancel),
          started_(now) {
        key.id.text().copy(trailing(), id_size_);
        label.copy(trailing() + id_size_, label_size_);
        set_limits(options.limits, now);
    }

    char* trailing() noexcept { return reinterpret_cast<char*>(this + 1); }
    [[nodiscard]] const char* trailing() const noexcept { return reinterpret_cast<const char*>(this + 1); }

    session_record* session_;
    session_id session_id_;
    std::int64_t number_;
    std::uint32_t hash_;
    std::uint16_t id_size_;
    std::uint8_t label_size_;
    direction way_ : 1;
    bool string_id_ : 1;
    bool peer_may_cancel_ : 1;
    time_point started_;
    std::atomic<count> noticed_{unknown_time.time_since_epoch().count()};
    std::atomic<count> idle_{no_limit};
    std::atomic<count> idle_since_{0};
    std::atomic<count> latest_{no_limit};
};

/// A label comes from a stranger too.
inline std::string shown_label(const request& r) { return visible_text(r.label(), request::longest_label); }

}  // namespace andon::detail
