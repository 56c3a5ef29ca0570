// The whole demonstration at work: a server with six sessions, and the peer that keeps it busy.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "agenda.hpp"
#include "andon/core/in_flight.hpp"
#include "bell.hpp"
#include "ledger.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "tools.hpp"
#include "worker_pool.hpp"

namespace demo {

class workload {
public:
    /// Begins at once. `changed` rings when a deadline may have come nearer and when nothing is in flight any more.
    workload(const options& asked, bell& changed);
    workload(const workload&) = delete;
    workload& operator=(const workload&) = delete;
    ~workload();

    /// Whether all is done that will be done. Nothing is in flight then.
    [[nodiscard]] bool over() const noexcept;
    /// The program is to leave: no new requests, and what is in flight is cancelled.
    void interrupt();
    [[nodiscard]] bool interrupted() const noexcept { return interrupted_; }

    [[nodiscard]] andon::in_flight& table() noexcept { return table_; }
    [[nodiscard]] const andon::in_flight& table() const noexcept { return table_; }
    [[nodiscard]] const ledger& book() const noexcept { return book_; }
    [[nodiscard]] const worker_pool& pool() const noexcept { return pool_; }
    [[nodiscard]] std::size_t refused() const noexcept { return refused_.load(); }

private:
    struct connection {
        explicit connection(andon::session s) : session(std::move(s)) {}

        andon::session session;
        std::int64_t last_id = 0;
        bool open = true;
    };

    // Only on the peer's thread, but for the first call.
    void play();
    void arrive();
    bool send(connection& to, const request_plan& plan);
    void burst(connection& to);
    void cancel(const connection& in, const andon::request_id& id, std::string_view why);
    void disconnect(connection& gone);
    void stop_all(const connection& in);
    [[nodiscard]] connection& any_open();
    [[nodiscard]] andon::request_id next_id(connection& in) const;

    const options asked_;
    const pace pace_;
    bell& changed_;
    planner planner_;
    const andon::time_point start_;

    andon::in_flight table_;
    std::vector<connection> connections_;
    ledger book_;
    agenda peer_;
    surroundings surroundings_;
    worker_pool pool_;
    std::atomic<std::size_t> refused_{0};
    bool interrupted_ = false;
};

}  // namespace demo
