#include "transport/conversation.hpp"

#include <chrono>

#include "transport/clock.hpp"

namespace andon::detail {
conversation::conversation(std::shared_ptr<surroundings> around, peer_settings settings,
                           std::unique_ptr<transport> over, owner& told)
    : around_(std::move(around)),
      session_(around_->table.open_session()),
      peer_(std::move(settings), around_->table, session_),
      transport_(std::move(over)),
      owner_(&told),
      handshake_(around_->loop),
      remarks_(around_->loop, around_->log) {}

void conversation::open() {
    transport_->open(around_->loop, *this);
    if (peer_.settings().role == peer_role::client && !peer_.settings().relays) take(peer_.open(now()), {});
}

void conversation::close(cancel_cause cause, std::string_view why) {
    if (closed_) return;
    closed_ = true;
    const auto self = shared_from_this();
    handshake_.clear();
    remarks_.end();
    session_.close(cause, why, now());
    // What was passed on for a request of another session goes on without us.
    for (auto& [id, call] : outgoing_) {
        if (call->settings_.raw) call->cancel(cause, why);
    }
    // The cancel of each was posted to us and will find nobody to tell; the records end here.
    for (auto& [id, call] : outgoing_) call->request_.finish(now());
    outgoing_.clear();
    owner_->on_ended(why);
    transport_->close();
}

void conversation::log_soon(log_level level, std::string text) {
    if (!here()) return log(level, text);
    log_queue_.push_back({level, std::move(text)});
    if (log_queue_.size() > 1) return;
    // Twice: what is woken by the same event may be posted behind us.
    post([self = shared_from_this()] {
        self->post([self] { self->around_->log(std::exchange(self->log_queue_, {})); });
    });
}

void conversation::on_closed(std::string_view why) {
    const auto self = shared_from_this();
    left_ = left_ || !closed_;
    close(cancel_cause::disconnect, why);
}

void conversation::on_given_up(std::string_view why) {
    unread_ = !closed_;
    on_closed(why);
}

void conversation::on_crowded(bool crowded) {
    if (!closed_) owner_->on_crowded(crowded);
}

void conversation::on_request_lost(std::int64_t id, std::string_view why) {
    const auto found = outgoing_.find(id);
    if (found == outgoing_.end()) return take(peer_.lost(id, why, now()), {});
    peer_.forget(id);  // there is nobody to be told of it
    const auto call = found->second;
    call->cancel(cancel_cause::disconnect, why);
}

void conversation::on_remark(log_level level, std::string_view text) {
    if (level == log_level::warning) {
        remarks_.warn(text);
    } else {
        remarks_.say(level, text);
    }
}

void conversation::on_line(std::string_view line) {
    if (envelope_reader::looks_like_batch(line)) return receive_batch(line, {});
    take(peer_.receive(line, now()), {});
}

void conversation::receive(const envelope& message, const arrival& how) {
    take(peer_.receive(message, how.scope, now()), how);
}

void conversation::receive_batch(std::string_view line, const arrival& how) {
    peer_step refused;
    std::vector<std::int64_t> lost;
    const auto messages = peer_.split(line, refused, &lost);
    const std::string why = refused.note;
    if (messages.empty() || !why.empty()) take(std::move(refused), how);
    if (messages.empty()) return lose_answers(lost, why);
    const auto batch = std::make_shared<batch_answers>(messages.size());
    std::vector<peer_step> unreadable;
    for (const std::string_view message : messages) {
        peer_step step = peer_.receive_of_batch(message, batch, how.scope, now());
        const bool answered_later = step.what == next_step::handle_request;
        const bool answered_now = step.what == next_step::send;
        if (step.lost_answer) {  // whose it is may be seen from the others
            unreadable.push_back(std::move(step));
        } else {
            take(std::move(step), how);
        }
        if (!answered_later && !answered_now) answer({batch, how.reply}, {});
    }
    for (peer_step& each : unreadable) take(std::move(each), how);
    lose_answers(lost, why);
}

void conversation::lose_answers(const std::vector<std::int64_t>& ids, std::string_view why) {
    for (const std::int64_t id : ids) lose_answer(id, why);
}

void conversation::on_line_too_long(const skimmed_line& line) {
    const auto self = shared_from_this();
    const std::string why = "it is longer than " + std::to_string(line.longest) + " bytes";
    for (peer_step& step : peer_.line_too_long(line)) {
        if (std::exchange(step.lost_answer, false)) lose_answer(step.answered, why);
        take(std::move(step), {});
    }
}

/// Whoever waits for it is told now, and not when its time is over. Where it does not say whose it is, and only one
/// waits, it is that one's.
void conversation::lose_answer(std::optional<std::int64_t> id, std::string_view why) {
    if (closed_) return;
    if (!id && outgoing_.size() == 1) id = outgoing_.begin()->first;
    if (id) on_request_lost(*id, "the answer could not be read: " + std::string(why));
}

void conversation::watch_handshake() {
    const auto wake = peer_.next_wake();
    if (!wake) return handshake_.clear();
    handshake_.set(*wake, [this] { take(peer_.expire(now()), {}); });
}

void conversation::take(peer_step step, const arrival& how) {
    if (closed_) return;
    // What was posted may come from anybody; whoever posts is told by the response that it is no good.
    if (step.lost_answer && !how.reply) lose_answer(step.answered, step.note);
    if (!step.note.empty() && step.what != next_step::failed) {
        on_remark(step.malformed ? log_level::warning : log_level::debug, step.note);
    }
    switch (step.what) {
        case next_step::nothing:
            if (step.unclaimed) take_unclaimed(*step.message);
            break;
        case next_step::ended_by_peer: {
            const auto call = static_cast<outgoing_call*>(step.context)->shared_from_this();
            peer_.forget(call->id());
            outgoing_.erase(call->id());
            call->ended(*step.message);
            break;
        }
        case next_step::send:
            if (step.bytes.empty()) break;
            if (how.reply && !step.batch && step.code != 0) {
                how.reply->refuse(step.bytes, step.code);
            } else {
                answer({std::move(step.batch), how.reply}, step.bytes);
            }
            break;
        case next_step::handle_request:
            if (how.reply) how.reply->request_began(step.request.token());
            owner_->on_request({.request = std::move(step.request),
                                .speaks = step.speaks,
                                .to = {std::move(step.batch), how.reply},
                                .scope = how.scope.in != nullptr ? how.scope.in->id() : session_.id(),
                                .from = how.from},
                               *step.message);
            break;
        case next_step::handle_notification: owner_->on_notification(*step.message); break;
        case next_step::settle: {
            const auto call = static_cast<outgoing_call*>(step.context)->shared_from_this();
            outgoing_.erase(call->id());
            // Cancelled a moment ago, and not given up yet: what came may be a task that nobody would ever stop.
            const bool too_late = !call->answered(*step.message);
            if (too_late && step.message->kind == message_kind::result && call->settings_.method == "tools/call") {
                owner_->on_late_result(*step.message);
            }
            if (too_late && call->settings_.raw) owner_->on_unclaimed(*step.message);
            break;
        }
        case next_step::progress: {
            const auto call = static_cast<outgoing_call*>(step.context)->shared_from_this();
            call->progressed(*step.message);
            break;
        }
        case next_step::established:
            if (!step.bytes.empty()) answer({nullptr, how.reply}, step.bytes);
            owner_->on_established();
            break;
        case next_step::failed: close(cancel_cause::disconnect, step.note); return;
    }
    if (peer_.settings().role == peer_role::client && !peer_.established()) watch_handshake();
}

void conversation::take_unclaimed(const envelope& message) {
    owner_->on_unclaimed(message);
    if (message.kind == message_kind::result) {
        if (!message.id.is_string() && given_up_.erase(message.id.number()) != 0) owner_->on_late_result(message);
    } else if (message.kind == message_kind::notification) {
        std::string storage;
        const auto token = id_from_json(message.raw_progress_token, storage);
        const auto found =
            token && !token->is_string() ? progress_of_tasks_.find(token->number()) : progress_of_tasks_.end();
        if (found == progress_of_tasks_.end()) return;
        const auto told = found->second;  // it may take itself out
        tell_progress(message, told, around_->log);
    }
}

void conversation::last_words(std::string_view method, json::object params) {
    const std::int64_t id = next_id_.fetch_add(1, std::memory_order_relaxed);
    send(peer_.start(id, {.method = method, .params = std::move(params)}));
    peer_.forget(id);
}

void conversation::on_progress_of(std::int64_t id, std::function<void(const progress_update&)> told) {
    if (told) {
        progress_of_tasks_.insert_or_assign(id, std::move(told));
    } else {
        progress_of_tasks_.erase(id);
    }
}

/// The answer may be on its way, and may be a task that nobody would ever stop.
void conversation::remember(const outgoing_call& given_up) {
    constexpr std::size_t most = 1'024;
    if (given_up.settings_.method != "tools/call") return;
    given_up_.insert(given_up.id());
    given_up_first_.push_back(given_up.id());
    if (given_up_first_.size() <= most) return;
    given_up_.erase(given_up_first_.front());
    given_up_first_.pop_front();
}

void conversation::answer(const answer_path& to, std::string_view line, int code) {
    std::string whole;
    if (to.batch) {
        auto all = to.batch->add(line);
        if (!all) return;
        whole = std::move(*all);
        line = whole;
        code = 0;
    }
    if (!to.reply) {
        if (!line.empty()) send(line);
    } else if (line.empty()) {
        to.reply->no_answer();
    } else {
        to.reply->answer(line, code);
    }
}

void conversation::answer_last(const answer_path& to, std::string line) {
    if (!to.reply) return answer(to, line);
    // The answer ends the stream. What the request asked the client is taken back on it by work that is posted now
    // (RCV-12), so this comes twice later.
    post([self = shared_from_this(), last = std::make_pair(to, std::move(line))]() mutable {
        self->post([self, last = std::move(last)] { self->answer(last.first, last.second); });
    });
}

std::shared_ptr<outgoing_call> conversation::request(outgoing_call::settings what, const time_limits& limits,
                                                     const incoming_request* parent) {
    const std::int64_t id = what.id != 0 ? what.id : next_id_.fetch_add(1, std::memory_order_relaxed);
    const begin_options options{.label = what.method, .limits = limits};
    auto begun = parent != nullptr ? table().begin(parent->request, direction::outgoing, id, now(), options)
                                   : table().begin(session_, direction::outgoing, id, now(), options);
    return begin(std::move(what), id, std::move(begun), parent != nullptr ? parent->to.reply : nullptr);
}

std::shared_ptr<outgoing_call> conversation::pass_on(outgoing_call::settings what, const active_request& parent) {
    const std::int64_t id = what.id;
    auto begun = table().begin(parent, direction::outgoing, id, now(), {.label = what.method});
    auto via = std::move(what.via);
    return begin(std::move(what), id, std::move(begun), std::move(via));
}

std::shared_ptr<outgoing_call> conversation::begin(outgoing_call::settings what, std::int64_t id, begin_result begun,
                                                   std::shared_ptr<reply_path> via) {
    auto call = std::make_shared<outgoing_call>(shared_from_this(), std::move(what), id, std::move(begun.request),
                                                std::move(via));
    if (!begun) {
        const bool closed = begun.refusal == begin_refusal::session_closed;
        static_cast<void>(call->settle({.status = closed ? call_status::disconnected : call_status::failed,
                                        .code = error_code::internal_error,
                                        .message = std::string(to_string(begun.refusal))}));
        return call;
    }
    call->watch();
    if (call->settings_.at_once && here()) {
        start(*call);
    } else {
        post([call] { call->conversation_->start(*call); });
    }
    return call;
}

begin_result conversation::begin_own_work(std::string_view label, const time_limits& limits) {
    const std::int64_t id = next_id_.fetch_add(1, std::memory_order_relaxed);
    return table().begin(session_, direction::outgoing, id, now(), {.label = label, .limits = limits});
}

void conversation::start(outgoing_call& call) {
    if (call.settled()) {  // cancelled before it was sent: the peer never hears of it (DIR-3)
        call.request_.finish(now());
        return;
    }
    if (closed_) return;
    outgoing_.emplace(call.id(), call.shared_from_this());
    const auto& what = call.settings_;
    if (what.raw) {
        const std::string line =
            peer_.start(call.id(), {.method = what.method, .context = &call, .raw_params = what.raw_params});
        call.settings_.raw_params = {};
        return tell(call, line);
    }
    tell(call, peer_.start(call.id(), {.method = what.method,
                                       .params = std::move(call.settings_.params),
                                       .progress = static_cast<bool>(what.on_progress) || what.progress_restarts_idle,
                                       .log_level = what.log_level,
                                       .context = &call}));
}

/// On the stream of the request that it is part of; where that has ended, on the session's own.
void conversation::tell(const outgoing_call& call, std::string_view line) {
    if (!call.via_ || !call.via_->send(line, nullptr)) send(line);
}

/// On the wire. At once where the loop itself has cancelled: what it goes on to send comes behind that.
void conversation::take_back(const outgoing_call& call) {
    const reason why = call.token_.why();  // the outcome is the caller's by now
    const std::string bytes = peer_.cancel(call.id(), why.text());
    if (!bytes.empty() && !closed_) {
        const bool told = call.settings_.cancellable;
        if (!call.via_) {
            transport_->cancel_request(call.id(), told ? bytes : std::string());
        } else if (told) {
            tell(call, bytes);
        }
    }
    if (!bytes.empty()) remember(call);
}

void conversation::give_up(outgoing_call& call) {
    take_back(call);
    outgoing_.erase(call.id());
    call.request_.finish(now());
}

}  // namespace andon::detail
