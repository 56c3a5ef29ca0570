#include "andon/core/in_flight.hpp"

#include "core/request_table.hpp"

namespace andon {

std::string_view to_string(begin_refusal refusal) noexcept {
    switch (refusal) {
        case begin_refusal::none: return "let in";
        case begin_refusal::duplicate_id: return "a request with this id is already in flight: use a new id";
        case begin_refusal::id_too_long: return "the request id is too long: use a shorter one";
        case begin_refusal::too_many: return "too many requests in flight in this session: wait for some to end";
        case begin_refusal::session_closed: return "the session is closed: open a new one";
    }
    return "?";
}

in_flight::in_flight(const in_flight_limits& limits) : table_(std::make_unique<detail::request_table>(limits)) {}
in_flight::~in_flight() = default;

session in_flight::open_session() { return {*table_, table_->open_session()}; }

begin_result in_flight::begin(const session& in, direction way, request_id_view id, time_point now,
                              const begin_options& options) {
    const auto [begun, refusal] = table_->begin(*in.record_, nullptr, way, id, now, options);
    return {begun != nullptr ? active_request(*table_, *begun) : active_request(), refusal};
}

begin_result in_flight::begin(const active_request& parent, direction way, request_id_view id, time_point now,
                              const begin_options& options) {
    auto& above = *parent.request_;
    const auto [begun, refusal] = table_->begin(above.session(), &above, way, id, now, options);
    return {begun != nullptr ? active_request(*table_, *begun) : active_request(), refusal};
}

cancel_result in_flight::cancel(const request_key& key, cancel_cause cause, std::string_view why,
                                time_point now) noexcept {
    return table_->cancel(key, cause, why, now);
}

bool in_flight::is_cancelled(const request_key& key) const noexcept { return table_->is_cancelled(key); }

bool in_flight::cancel_session(session_id session, cancel_cause cause, std::string_view why, time_point now) noexcept {
    return table_->cancel_session(session, cause, why, now);
}

std::optional<time_point> in_flight::next_wake() const noexcept { return table_->next_wake(); }
std::size_t in_flight::expire(time_point now) noexcept { return table_->expire(now); }
std::vector<request_info> in_flight::list() const { return table_->list(); }
std::size_t in_flight::size() const noexcept { return table_->size(); }
std::vector<outcome> in_flight::recent_outcomes() const { return table_->outcomes().newest_first(); }
cancel_counters in_flight::counters() const noexcept { return table_->counters(); }

session::~session() {
    if (record_ == nullptr) return;
    close(cancel_cause::disconnect, {}, unknown_time);
    record_->release();
}

session_id session::id() const noexcept { return record_->id; }
std::size_t session::size() const noexcept { return record_->places_taken(); }
cancel_token session::token() const noexcept { return cancel_token(*record_); }

void session::close(cancel_cause cause, std::string_view why, time_point now) noexcept {
    table_->close(*record_, cause, why, now);
}

request_key active_request::key() const noexcept { return {request_->in_session(), request_->way(), request_->id()}; }
std::string_view active_request::label() const noexcept { return request_->label(); }
request_state active_request::state() const noexcept { return request_->state(); }
cancel_token active_request::token() const noexcept { return cancel_token(*request_); }

cancel_result active_request::cancel(cancel_cause cause, std::string_view why, time_point now) noexcept {
    return request_->cancel(cause, why, now);
}

bool active_request::begin_response() noexcept { return request_->begin_response(); }
void active_request::progress(time_point now) noexcept { request_->progress(now); }
void active_request::limit(const time_limits& limits, time_point now) { table_->limit(*request_, limits, now); }
std::optional<time_point> active_request::deadline() const noexcept { return request_->due(); }
void active_request::notice(time_point now) noexcept { request_->notice(now); }

void active_request::count_killed(std::uint32_t processes) noexcept {
    request_->killed.fetch_add(processes, std::memory_order_relaxed);
}

void active_request::count_discarded(std::uint32_t messages) noexcept {
    request_->discarded.fetch_add(messages, std::memory_order_relaxed);
}

void active_request::finish(time_point now) noexcept {
    if (request_ == nullptr) return;
    table_->finish(*std::exchange(request_, nullptr), now);
    table_ = nullptr;
}

}  // namespace andon
