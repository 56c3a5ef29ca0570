#include "transport/http/message_stream.hpp"

#include <algorithm>
#include <chrono>

#include "andon/wire/error.hpp"
#include "andon/wire/message.hpp"
#include "transport/http/sse.hpp"

namespace andon::detail {
namespace {

bool is_cancelled(const cancel_token* owner) noexcept {
    return owner != nullptr && owner->state() != nullptr && owner->state()->cancel_accepted();
}

constexpr std::string_view json_type = "application/json";
constexpr std::string_view comment = ":\n\n";

}  // namespace

message_stream::message_stream(event_loop& loop, message_stream_settings settings)
    : loop_(&loop), settings_(std::move(settings)), phase_(settings_.of_session ? phase::events : phase::undecided) {
    if (!settings_.kept_by_all) settings_.kept_by_all = std::make_shared<kept_budget>();
}

message_stream::~message_stream() {
    while (!kept_.empty()) forget_oldest();
}

void kept_budget::add(message_stream& by, std::size_t bytes) {
    if (by.kept_bytes_ == 0) by.in_budget_ = those_like(by).insert(those_like(by).end(), &by);
    by.kept_bytes_ += bytes;
    used_ += bytes;
    while (used_ > most_) (sent_.empty() ? owed_ : sent_).front()->forget_kept();
}

void kept_budget::owes(message_stream& by, bool owes) noexcept {
    auto& from = those_like(by);
    by.owes_ = owes;
    auto& to = those_like(by);
    if (&from != &to && by.kept_bytes_ != 0) to.splice(to.end(), from, by.in_budget_);
}

std::list<message_stream*>& kept_budget::those_like(const message_stream& by) noexcept {
    return by.owes_ ? owed_ : sent_;
}

void kept_budget::remove(message_stream& by, std::size_t bytes) noexcept {
    by.kept_bytes_ -= bytes;
    used_ -= bytes;
    if (by.kept_bytes_ == 0) those_like(by).erase(by.in_budget_);
}

std::shared_ptr<message_stream> message_stream::make(event_loop& loop, message_stream_settings settings) {
    return {new message_stream(loop, std::move(settings)), [&loop](message_stream* gone) {
                if (loop.here()) {
                    delete gone;
                } else {
                    loop.post([held = std::unique_ptr<message_stream>(gone)] {});
                }
            }};
}

void message_stream::request_began(const cancel_token& request) {
    if (abandoned_after_) requests_.push_back(request);
}

// From any thread.

bool message_stream::send(std::string_view line, const cancel_token* owner) {
    {
        const std::lock_guard lock(mutex_);
        if (closed_to_send_) return false;
        if (!loop_->here() || told_) {
            return queue(
                {what::message, std::string(line), owner != nullptr ? *owner : cancel_token(), owner != nullptr, 0});
        }
    }
    return deliver(line, owner);
}

void message_stream::answer(std::string_view line, int code) {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(closed_to_send_, true)) return;
        if (!loop_->here() || told_) {
            queue({what::answer, std::string(line), cancel_token(), false, code});
            return;
        }
    }
    deliver_answer(line, code);
}

void message_stream::refuse(std::string_view line, int code) {
    settings_.headers.clear();  // of a session that was refused with its first request
    // Under the modern revisions a request that could not even be dispatched is a bad one.
    answer(line, settings_.modern && code == error_code::invalid_params ? error_code::invalid_request : code);
}

void message_stream::no_answer() {
    // Twice later: what the request started is told of its cancel by work that is posted now, and tells the client so
    // on this stream (RCV-12).
    loop_->post([self = shared_from_this()] {
        self->loop_->post([self] {
            {
                const std::lock_guard lock(self->mutex_);
                if (std::exchange(self->closed_to_send_, true)) return;
            }
            self->empty_queue();
            self->deliver_nothing();
        });
    });
}

void message_stream::let_go_of_connection() {
    loop_->post([self = shared_from_this()] {
        self->empty_queue();
        // Only a client that has an event id can come back.
        if (!self->settings_.event_prefix.empty() && self->settings_.primed && self->become_events()) {
            self->disconnect_listener();
            self->wait_for_return();
        }
    });
}

/// A handler can say more than the loop can pass on, whether or not the client reads it.
bool message_stream::queue(item next) {
    if (next.has_owner && queued_bytes_ > 0 && queued_bytes_ + next.line.size() > settings_.queue_bytes) return false;
    queued_bytes_ += next.line.size();
    queue_.push_back(std::move(next));
    if (!std::exchange(told_, true)) loop_->post([self = shared_from_this()] { self->empty_queue(); });
    return true;
}

void message_stream::empty_queue() {
    std::vector<item> all;
    {
        const std::lock_guard lock(mutex_);
        all.swap(queue_);
        queued_bytes_ = 0;
        told_ = false;
    }
    for (const item& each : all) {
        if (each.kind == what::message) {
            deliver(each.line, each.has_owner ? &each.owner : nullptr);
        } else {
            deliver_answer(each.line, each.code);
        }
    }
}

// On the loop.

std::string message_stream::event_id(std::uint64_t number) const {
    return settings_.event_prefix + std::to_string(number);
}

/// What cannot be kept within the bound is forgotten, the oldest first: so much that what the client was sent and has
/// perhaps not got is there still, and behind it what it was not sent.
void message_stream::keep_event(std::string_view line, const cancel_token* owner) {
    if (settings_.event_prefix.empty()) return;
    // Without what is gone, and was sent to nobody, nobody can come back for this.
    if (listener_ == nullptr && !settings_.of_session && unsent_ > kept_bytes_) return forget_kept();
    const std::size_t unsent = listener_ != nullptr ? listener_->unwritten() : unsent_;
    const std::size_t enough = settings_.keep_bytes + std::min(unsent, settings_.keep_bytes) + line.size();
    kept_.push_back({last_number_, std::string(line), owner != nullptr ? *owner : cancel_token(), owner != nullptr});
    if (listener_ == nullptr) settings_.kept_by_all->owes(*this, true);
    settings_.kept_by_all->add(*this, line.size());
    while (kept_.size() > 1 && kept_bytes_ - kept_.front().line.size() >= enough) forget_oldest();
}

void message_stream::forget_oldest() {
    settings_.kept_by_all->remove(*this, kept_.front().line.size());
    kept_.pop_front();
}

void message_stream::forget_kept() {
    while (!kept_.empty()) forget_oldest();
    if (listener_ == nullptr) look_for_absence();
}

bool message_stream::become_events() {
    if (phase_ == phase::events) return true;
    if (phase_ == phase::over || listener_ == nullptr || !settings_.wants_events) return false;
    phase_ = phase::events;
    listener_->begin_events(settings_.headers);
    if (listener_ != nullptr && !settings_.event_prefix.empty() && settings_.primed) {
        listener_->event(sse_event({}, event_id(++last_number_), settings_.retry), nullptr);
    }
    return true;
}

bool message_stream::deliver(std::string_view line, const cancel_token* owner) {
    if (is_cancelled(owner) || !become_events()) return false;
    ++last_number_;
    keep_event(line, owner);
    if (listener_ == nullptr) {
        if (settings_.event_prefix.empty()) return false;
        unsent_ += line.size();
        look_for_absence();
        return true;
    }
    handed_out_ = last_number_;
    const std::string id = settings_.event_prefix.empty() ? std::string() : event_id(last_number_);
    return listener_->event(sse_event(line, id), owner);
}

/// The statuses of the transport page: only for faults that the protocol names (HTTP-5).
int message_stream::status_of(int code) const noexcept {
    switch (code) {
        case error_code::parse_error:
        case error_code::invalid_request: return 400;
        case error_code::method_not_found: return settings_.modern ? 404 : 200;
        case error_code::header_mismatch:
        case error_code::missing_client_capability:
        case error_code::unsupported_version: return 400;
        default: return 200;
    }
}

void message_stream::deliver_answer(std::string_view line, int code) {
    if (phase_ == phase::over) return;
    if (phase_ == phase::undecided && !settings_.wants_json) static_cast<void>(become_events());
    if (phase_ == phase::events) {
        deliver(line, nullptr);
        if (listener_ != nullptr) listener_->end_events();
    } else if (listener_ != nullptr) {
        listener_->respond(status_of(code), json_type, line, settings_.headers);
    }
    finish();
}

/// To all requests; empty where there are none.
std::string message_stream::cancelled_answer() const {
    std::string all;
    for (const std::string& each : settings_.raw_ids) {
        if (!all.empty()) all += ',';
        all += error_message(each, error_code::request_cancelled, "Request cancelled");
    }
    return settings_.batch && !all.empty() ? '[' + all + ']' : all;
}

void message_stream::deliver_nothing() {
    if (phase_ == phase::over) return;
    if (phase_ == phase::undecided && !settings_.wants_json && !settings_.modern && !settings_.raw_ids.empty()) {
        static_cast<void>(become_events());
    }
    const bool in_events = phase_ == phase::events;
    const std::string cancelled = settings_.modern ? std::string() : cancelled_answer();
    if (in_events && !settings_.event_prefix.empty() && !cancelled.empty()) deliver(cancelled, nullptr);
    if (listener_ != nullptr) {
        if (in_events) {
            listener_->end_events();
        } else if (settings_.raw_ids.empty()) {
            listener_->respond(202, {}, {}, settings_.headers);
        } else if (settings_.modern) {
            std::exchange(listener_, nullptr)->close("the request was cancelled");
        } else {
            listener_->respond(200, json_type, cancelled, settings_.headers);
        }
    }
    finish();
}

void message_stream::finish() {
    phase_ = phase::over;
    listener_ = nullptr;
    on_crowded(false);
    abandoned_.reset();
    requests_.clear();
    if (const auto work = std::exchange(when_over_, {})) work();
}

void message_stream::attach(http_connection& listener) {
    listener_ = &listener;
    abandoned_.reset();
    listener.answered_by(shared_from_this());
}

bool message_stream::resume(http_connection& listener, std::uint64_t last_seen) {
    // Before its first event the stream has no id that anybody could have been given.
    if (phase_ == phase::undecided || last_seen > last_number_) return false;
    const std::uint64_t oldest = kept_.empty() ? last_number_ + 1 : kept_.front().number;
    if (last_seen + 1 < oldest) {
        came_in_vain_ = listener_ == nullptr;
        if (came_in_vain_) look_for_absence();
        return false;
    }
    replay(listener, last_seen);
    return true;
}

void message_stream::listen(http_connection& listener) { replay(listener, handed_out_); }

void message_stream::replay(http_connection& listener, std::uint64_t last_seen) {
    // What waits there is sent here. Who comes again and again and never reads has it waiting once.
    if (listener_ != nullptr && listener_->unwritten() != 0) {
        std::exchange(listener_, nullptr)->close("the client has come back on another connection");
    }
    disconnect_listener();
    listener.answered_by(shared_from_this());
    listener.begin_events(settings_.headers);
    abandoned_.reset();
    came_in_vain_ = false;
    listener_ = &listener;
    for (const kept_event& each : kept_) {
        const cancel_token* const owner = each.has_owner ? &each.owner : nullptr;
        if (each.number <= last_seen || is_cancelled(owner)) continue;
        // With a gap it would believe that it has everything. Where there is more than may wait at all, it is cut off,
        // and comes back for the rest.
        if (!listener.event(sse_event(each.line, event_id(each.number)), owner, outbox::loss::forbidden)) return;
    }
    handed_out_ = last_number_;
    settings_.kept_by_all->owes(*this, false);
    if (!over()) return;
    listener_ = nullptr;
    listener.end_events();
}

void message_stream::disconnect_listener() {
    if (http_connection* const listener = listener_; listener != nullptr) {
        listener_left();
        listener->end_events();
    }
    on_crowded(false);
}

void message_stream::listener_left() {
    // More than what is kept and the frames of events and of an answer: some of what it was not sent is forgotten.
    constexpr std::size_t frame = 64;
    constexpr std::size_t head = 1'024;
    const std::size_t unwritten = listener_->unwritten();
    unsent_ = unwritten > kept_bytes_ + frame * kept_.size() + head ? unwritten : std::min(unwritten, kept_bytes_);
    settings_.kept_by_all->owes(*this, unsent_ != 0);
    listener_ = nullptr;
}

void message_stream::on_crowded(bool crowded) {
    if (std::exchange(crowded_, crowded) != crowded && when_crowded_) when_crowded_(crowded);
}

void message_stream::on_quiet() {
    if (become_events() && listener_ != nullptr) listener_->event(comment, nullptr);
}

void message_stream::on_disconnected() {
    if (listener_ != nullptr) listener_left();
    if (settings_.modern) {
        {
            const std::lock_guard lock(mutex_);
            closed_to_send_ = true;
        }
        return finish();
    }
    wait_for_return();
}

/// Whether whoever fills the stream is to wait for the client, which is away: only as long as there is an end to it,
/// and the client would miss nothing.
void message_stream::look_for_absence() {
    const bool expected = abandoned_ != nullptr && !came_in_vain_ && unsent_ <= kept_bytes_;
    on_crowded(expected && unsent_ > settings_.keep_bytes / 2);
}

/// Nobody listens any more, and somebody may come back.
void message_stream::wait_for_return() {
    if (over() || requests_.empty()) return on_crowded(false);
    abandoned_ = std::make_unique<event_loop::timer>(*loop_);
    abandoned_->set(std::chrono::steady_clock::now() + *abandoned_after_, [this] {
        const auto self = shared_from_this();
        for (const cancel_token& each : std::exchange(requests_, {})) {
            each.state()->cancel(cancel_cause::disconnect, "the client did not come back",
                                 std::chrono::steady_clock::now());
        }
    });
    look_for_absence();
}

}  // namespace andon::detail
