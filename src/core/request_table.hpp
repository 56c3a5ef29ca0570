// What in_flight is made of: shards, sessions, and what became of the cancelled.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "andon/core/deadlines.hpp"
#include "andon/core/in_flight.hpp"
#include "core/grace_period.hpp"
#include "core/outcome_ring.hpp"
#include "core/request.hpp"
#include "core/request_index.hpp"
#include "core/spin_lock.hpp"

namespace andon::detail {

class request_table {
public:
    explicit request_table(const in_flight_limits& limits);
    request_table(const request_table&) = delete;
    request_table& operator=(const request_table&) = delete;
    ~request_table();

    session_record& open_session();
    void close(session_record& session, cancel_cause cause, std::string_view why, time_point now) noexcept;

    struct begun {
        request* record;  // null where it was refused
        begin_refusal refusal;
    };
    [[nodiscard]] begun begin(session_record& in, request* parent, direction way, request_id_view id, time_point now,
                              const begin_options& options);
    void finish(request& r, time_point now) noexcept;

    cancel_result cancel(const request_key& key, cancel_cause cause, std::string_view why, time_point now) noexcept;
    [[nodiscard]] bool is_cancelled(const request_key& key) const noexcept;
    bool cancel_session(session_id id, cancel_cause cause, std::string_view why, time_point now) noexcept;

    void limit(request& r, const time_limits& limits, time_point now);
    [[nodiscard]] std::optional<time_point> next_wake() const noexcept;
    std::size_t expire(time_point now) noexcept;

    [[nodiscard]] std::vector<request_info> list() const;
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] const outcome_ring& outcomes() const noexcept { return outcomes_; }
    [[nodiscard]] cancel_counters counters() const noexcept;

private:
    static constexpr std::size_t shard_count = 32;

    struct alignas(128) shard {
        spin_lock lock;
        request_index index;
        std::unique_ptr<deadlines> wheel;  // made with the first deadline
        std::atomic<duration::rep> wake{never};
        // Ended records that a reader may still look at, oldest first; the table's reference to each.
        deadline_hook* retired = nullptr;
        deadline_hook** retired_end = &retired;
        std::size_t retired_count = 0;
        slot_array* retired_arrays = nullptr;
        std::array<std::atomic<std::uint64_t>, 5> verdicts{};
    };
    // What was given back under a lock and is freed outside of it.
    struct freed {
        deadline_hook* records = nullptr;
        slot_array* arrays = nullptr;
    };

    static constexpr duration::rep never = std::numeric_limits<duration::rep>::max();
    static constexpr std::size_t retired_at_once = 16;

    [[nodiscard]] std::uint64_t hash_of(const request_key& key) const noexcept;
    /// With a reference for the caller; null if there is none.
    [[nodiscard]] cancel_token find(const request_key& key, std::uint64_t hash) const noexcept;
    // By session and not by request: a session is served by one thread at a time, and whatever it touches here stays in
    // the cache of that thread's processor.
    [[nodiscard]] shard& shard_of(session_id session) const noexcept {
        return shards_[static_cast<std::uint64_t>(session) % shard_count];
    }
    static begin_refusal join(session_record& in, request* parent, request& r, time_point now) noexcept;
    static void abandon(request& r, time_point now) noexcept;
    static void leave_session(request& r, time_point now) noexcept;
    static void need_wheel(shard& s, time_point now);
    static void arm(shard& s, request& r) noexcept;
    static void disarm(shard& s, request& r) noexcept;
    static bool expire_some(shard& s, time_point now, std::size_t& expired) noexcept;
    void sweep(shard& s) noexcept;
    static void note_wake(shard& s) noexcept;
    [[nodiscard]] freed reclaim(shard& s) noexcept;
    static void free(freed given_back) noexcept;

    const in_flight_limits limits_;
    const std::array<std::uint64_t, 2> seeds_;
    mutable grace_period grace_;
    mutable std::array<shard, shard_count> shards_;
    outcome_ring outcomes_;
    mutable std::mutex sessions_mutex_;
    std::map<session_id, session_record*> sessions_;  // the open ones
    std::uint64_t sessions_opened_ = 0;
};

}  // namespace andon::detail
