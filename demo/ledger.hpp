// The books: what was really written for each request, kept apart from the table so that the one can check the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

#include "andon/core/in_flight.hpp"
#include "bell.hpp"

namespace demo {

class ledger {
public:
    struct entry {
        entry(andon::session_id in, andon::direction d, andon::request_id name, andon::cancel_token look)
            : session(in), way(d), id(std::move(name)), token(std::move(look)) {}

        andon::session_id session;
        andon::direction way;
        andon::request_id id;
        andon::cancel_token token;
        std::atomic<std::uint32_t> responses{0};
        std::atomic<bool> started{false};
    };

    struct audit {
        std::size_t requests = 0;
        std::size_t answered = 0;
        std::size_t cancelled = 0;
        std::size_t both = 0;
        std::size_t neither = 0;
        std::size_t twice = 0;          ///< answered more than once
        std::size_t never_started = 0;  ///< cancelled while they waited for a worker
    };

    ledger(std::size_t planned, bell& all_ended) : planned_(planned), all_ended_(all_ended) {}

    /// One of the planned requests, for whoever is about to begin it; false when all are taken.
    [[nodiscard]] bool take_place() noexcept;
    void give_back_place() noexcept { taken_.fetch_sub(1); }

    entry& begun(const andon::active_request& request, andon::direction way);
    void answered(entry& e) noexcept {
        e.responses.fetch_add(1);
        answered_.fetch_add(1);
    }
    /// Ends the request too: it is in the books as ended only after it left the table.
    void end(andon::active_request& request);

    [[nodiscard]] std::size_t planned() const noexcept { return planned_; }
    [[nodiscard]] std::size_t begun() const noexcept { return begun_.load(); }
    [[nodiscard]] std::size_t answered() const noexcept { return answered_.load(); }
    [[nodiscard]] std::size_t ended() const noexcept { return ended_.load(); }

    /// Once nothing is in flight any more.
    [[nodiscard]] audit check() const;
    /// Whether the handler of this request ever ran.
    [[nodiscard]] bool started(const andon::request_key& key) const;

private:
    const std::size_t planned_;
    bell& all_ended_;
    mutable std::mutex mutex_;
    std::deque<entry> entries_;  // a deque: entries never move
    std::atomic<std::size_t> taken_{0};
    std::atomic<std::size_t> begun_{0};
    std::atomic<std::size_t> answered_{0};
    std::atomic<std::size_t> ended_{0};
};

}  // namespace demo
