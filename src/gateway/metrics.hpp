// Figures of what is relayed, in the text form that Prometheus reads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "andon/core/cancel_cause.hpp"
#include "andon/core/time.hpp"
#include "gateway/relay/relayed_call_view.hpp"

namespace andon::gateway {

/// Counts durations up to certain limits, from any thread.
class duration_counts {
public:
    /// In milliseconds: from what a function call takes to what nobody waits for.
    static constexpr std::array<std::int64_t, 15> limits_ms{1,     5,     10,    25,     50,     100,    250,    500,
                                                            1'000, 2'500, 5'000, 10'000, 30'000, 60'000, 300'000};

    void add(duration took) noexcept;
    /// As the lines of one histogram; `labels` as `server="files"`.
    void append(std::string& to, std::string_view name, std::string_view labels) const;

private:
    std::array<std::atomic<std::uint64_t>, limits_ms.size() + 1> counts_{};
    std::atomic<std::uint64_t> sum_us_{0};
};

/// Of one server. Updated from any thread, for the price of an atomic addition.
class server_metrics {
public:
    void request_began() noexcept { add(requests_), add(in_flight_); }
    /// Of one that began, and was not cancelled.
    void request_ended(call_end end) noexcept {
        add(ends_.at(static_cast<std::size_t>(end)));
        subtract(in_flight_);
    }
    /// The host does not wait for it any more; its work may go on.
    void cancelled(cancel_cause cause) noexcept {
        add(cancels_.at(static_cast<std::size_t>(cause)));
        subtract(in_flight_);
        add(stopping_);
    }
    /// In place of request_ended(), for one that was cancelled.
    void cancelled_ended(call_end end) noexcept {
        add(ends_.at(static_cast<std::size_t>(end)));
        subtract(stopping_);
    }
    /// One that was counted as ended goes on; and has ended again.
    void cancelled_resumed() noexcept { add(stopping_); }
    void cancelled_ended_again() noexcept { subtract(stopping_); }
    void ignored() noexcept { add(ignored_); }
    /// From the cancel to the first sign that it was seen: the work was quiet, or an end was heard of.
    void noticed(duration after) noexcept { time_to_notice_.add(after); }
    void stopped(duration after) noexcept { time_to_stop_.add(after); }
    void late_dropped(std::uint64_t messages = 1) noexcept { add(late_, messages); }
    void restarted() noexcept { add(restarts_); }
    void killed(std::uint64_t processes = 1) noexcept { add(killed_, processes); }
    void session_began() noexcept { add(sessions_); }
    void session_ended() noexcept { subtract(sessions_); }

private:
    friend class relay_metrics;
    using counter = std::atomic<std::uint64_t>;
    using gauge = std::atomic<std::int64_t>;
    static void add(counter& to, std::uint64_t what = 1) noexcept { to.fetch_add(what, std::memory_order_relaxed); }
    static void add(gauge& to) noexcept { to.fetch_add(1, std::memory_order_relaxed); }
    static void subtract(gauge& from) noexcept { from.fetch_sub(1, std::memory_order_relaxed); }

    static constexpr std::size_t ends = static_cast<std::size_t>(call_end::refused) + 1;

    counter requests_{0};
    std::array<counter, ends> ends_{};
    std::array<counter, all_causes.size()> cancels_{};
    counter ignored_{0};
    counter late_{0};
    counter restarts_{0};
    counter killed_{0};
    gauge in_flight_{0};
    gauge stopping_{0};
    gauge sessions_{0};
    duration_counts time_to_notice_{};
    duration_counts time_to_stop_{};
};

class relay_metrics {
public:
    /// More servers than this share one set, named "other": labels come from configurations, but not without end.
    static constexpr std::size_t most_servers = 256;

    /// Look it up once and keep it: it lives as long as this object.
    [[nodiscard]] server_metrics& of(std::string_view server);
    /// Entries that the journal could not keep, until now.
    void journal_lost(std::uint64_t entries) noexcept { journal_lost_.store(entries, std::memory_order_relaxed); }

    /// For `content_type`.
    [[nodiscard]] std::string text() const;
    static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

private:
    mutable std::mutex mutex_;  // of the map; what is in it needs none
    std::map<std::string, std::unique_ptr<server_metrics>, std::less<>> servers_;
    std::atomic<std::uint64_t> journal_lost_{0};
};

}  // namespace andon::gateway
