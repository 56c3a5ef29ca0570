#include "transport/http/posted_message.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "andon/core/visible_text.hpp"
#include "andon/wire/http_headers.hpp"
#include "andon/wire/message.hpp"
#include "transport/clock.hpp"
#include "transport/http/http_client_transport.hpp"
#include "wire/unreadable.hpp"

namespace andon::detail {
namespace {

constexpr auto drains_for = std::chrono::seconds(1);
constexpr auto acknowledged_within = std::chrono::seconds(10);
constexpr auto straggles_for = std::chrono::milliseconds(250);
constexpr auto takes_back_within = std::chrono::seconds(2);
constexpr int most_failures = 5;                   // of resuming, in a row
constexpr std::size_t longest_error_text = 2'048;  // of what is no JSON

bool good(unsigned status) noexcept { return status >= 200 && status < 300; }

int code_of(const envelope& error) {
    const auto body = object_from_json(error.raw_error);
    const json::value* const code = body ? body->if_contains("code") : nullptr;
    return code != nullptr && code->is_int64() ? static_cast<int>(code->get_int64()) : 0;
}

}  // namespace

posted_message::posted_message(http_client_transport& over, outgoing_message what, private_answer told)
    : over_(&over),
      message_(std::move(what)),
      told_(std::move(told)),
      timer_(over.loop()),
      cursor_(over.longest_line()) {}

void posted_message::post() {
    const session_headers session = over_->session_for(message_);
    phase_ = phase::posting;
    content_ = content::none;
    body_.clear();
    session_id_ = session.id;
    const bool brief = !message_.is_request() || message_.method == "initialize";
    const auto lane = message_.method == "notifications/cancelled" ? exchange::lane::cancel
                      : brief                                      ? exchange::lane::brief
                                                                   : exchange::lane::call;
    exchange_ = over_->pool().start({.bytes = over_->writer().post(message_, session, over_->tools()),
                                     .in = lane,
                                     .repeatable = message_.method != "tools/call"},
                                    *this);
    // Nobody waits for the answer to it, and whatever else is brief waits for its place.
    if (!message_.is_request()) {
        timer_.set(now() + acknowledged_within, [this] { refuse("no answer came in time"); });
    }
}

void posted_message::abandon() {
    const auto self = shared_from_this();
    phase_ = phase::over;
    timer_.clear();
    if (exchange_) exchange_->abandon();
    if (const auto helper = helper_.lock()) helper->abandon();
    over_->forget(*this);
}

bool posted_message::cancel(std::string_view line) {
    const auto self = shared_from_this();
    // What was not written to the last byte cannot have been read.
    const bool unheard =
        phase_ == phase::waiting || (phase_ == phase::posting && exchange_->where() < exchange::phase::sent);
    const auto surely_read = phase_ == phase::posting && !unheard ? exchange_->sent_at() + straggles_for : time_point();
    if (now() < surely_read && !line.empty()) {
        phase_ = phase::straggling;
        cancelled_line_ = line;
        timer_.set(surely_read, [this] { cancel_again(); });
        over_->concluded(*this);
        return true;
    }
    if (phase_ == phase::reading && asked_ && !line.empty()) {
        phase_ = phase::taking_back;
        timer_.set(now() + takes_back_within, [this] { abandon(); });
        over_->concluded(*this);
        return true;
    }
    abandon();
    return !unheard && !line.empty();
}

void posted_message::cancel_again() {
    over_->post_line(cancelled_line_);
    abandon();
}

/// A call may take its time. Of the rest the server confirms that it has it.
void posted_message::on_sent() {
    if (!message_.is_request()) return;
    taken();
    over_->note_taken();
}

// What the server says.

void posted_message::on_head(const response_reader& response) {
    const auto self = shared_from_this();
    if (phase_ == phase::straggling) return cancel_again();
    if (phase_ == phase::resuming) return resumed(response);
    status_ = response.status_text();
    if (response.status() == 404 && !session_id_.empty() && wait_for_session()) return;
    phase_ = phase::reading;
    is_json_ = response.media_type() == "application/json";
    const std::string_view encoding = response.header("content-encoding");
    if (!encoding.empty() && encoding != "identity")
        return refuse("HTTP " + status_ + ", in an encoding that was not asked for");
    if (!good(response.status())) {
        content_ = content::error;
    } else if (message_.is_request()) {
        accept(response);
    } else {
        over_->concluded(*this);
        drain();
    }
}

void posted_message::accept(const response_reader& response) {
    const std::string type = response.media_type();
    if (message_.method == "initialize") session_id_ = response.header(header::session_id);
    if (type == "text/event-stream") {
        content_ = content::events;
        cursor_.connected();
    } else if (is_json_) {
        content_ = content::json;
    } else {
        refuse("HTTP " + status_ + ", and no message but " + (type.empty() ? "nothing" : visible_text(type, 64)));
    }
}

void posted_message::on_body(std::string_view piece) {
    const auto self = shared_from_this();
    if (!is_listening()) return;
    if (content_ == content::events) return read_events(piece);
    if (content_ == content::error && !is_json_) {
        body_ += piece.substr(0, longest_error_text - body_.size());
        if (body_.size() == longest_error_text) conclude_error();
        return;
    }
    if (piece.size() > over_->longest_line() - body_.size()) {
        return refuse("HTTP " + status_ + ", and an answer of more than " + std::to_string(over_->longest_line()) +
                      " bytes");
    }
    body_ += piece;
}

void posted_message::on_end() {
    const auto self = shared_from_this();
    if (phase_ != phase::reading) {
        if (is_left_over()) abandon();
        return;
    }
    switch (content_) {
        case content::none: return abandon();
        case content::events: return pause("the stream ended without the answer");
        case content::error: return conclude_error();
        case content::json:
            receive(std::exchange(body_, {}));
            if (phase_ == phase::draining) return abandon();
            if (phase_ == phase::reading) refuse("HTTP " + status_ + ", and a body that is no answer");
    }
}

void posted_message::on_lost(std::string_view why) {
    const auto self = shared_from_this();
    switch (phase_) {
        case phase::draining:
        case phase::straggling:
        case phase::taking_back: return abandon();
        case phase::resuming: cursor_.missed(); return cursor_.failures() < most_failures ? pause(why) : lose(why);
        default: break;
    }
    if (content_ == content::events) return pause(why);
    if (content_ == content::error) return conclude_error();
    lose(why);
}

void posted_message::conclude_error() {
    std::string text = "HTTP " + status_;
    int code = error_code::internal_error;
    json::value data = nullptr;
    if (is_json_) {
        const padded_line line(std::exchange(body_, {}));
        const envelope* const found = over_->reader().read(line.text());
        if (found != nullptr && found->kind == message_kind::error) {
            if (found->has_id && message_.id && found->id == message_.id->view()) {
                answer(*found, line.text());
                if (phase_ == phase::draining) abandon();
                return;
            }
            // One that has no id can be about nothing but this request.
            if (const auto body = object_from_json(found->raw_error); body && !found->has_id) {
                if (const int theirs = code_of(*found); theirs != 0) code = theirs;
                const json::value* const said = body->if_contains("message");
                if (said != nullptr && said->is_string()) text += ": " + visible_text(said->get_string(), 512);
                if (const json::value* const more = body->if_contains("data")) data = *more;
            }
        }
    } else if (body_.find_first_not_of(" \r\n\t") != std::string::npos && body_.front() != '<') {
        text += ": " + visible_text(body_, 256);
    }
    refuse_with(code, text, data);
}

// Its messages.

void posted_message::read_events(std::string_view piece) {
    while (auto data = cursor_.next(piece)) {
        receive(std::move(*data));
        if (!is_listening()) return;
    }
    if (!cursor_.failed()) return;
    if (phase_ == phase::taking_back) return abandon();
    refuse("an event of more than " + std::to_string(over_->longest_line()) + " bytes");
}

void posted_message::receive(std::string text) {
    const padded_line line(std::move(text));
    if (!envelope_reader::looks_like_batch(line.text())) return receive_one(line.text());
    const auto all = over_->reader().split_batch(line.text());
    batch_pieces pieces;
    if (all) {
        pieces.elements = *all;
    } else {
        over_->remark(log_level::warning, "not a message: a batch that cannot be read");
        pieces = pieces_of_batch(line.text());
    }
    for (const std::string_view each : pieces.elements) {
        receive_one(each);
        if (!is_listening()) return;
    }
    const bool ours = std::ranges::any_of(
        pieces.lost, [&](std::int64_t id) { return message_.id && message_.id->view() == request_id_view(id); });
    if (ours) lose("the answer could not be read: it is in a batch that is no JSON");
}

void posted_message::receive_one(std::string_view line) {
    const envelope* const found = over_->reader().read(line);
    const bool is_answer =
        found != nullptr && (found->kind == message_kind::result || found->kind == message_kind::error);
    if (phase_ == phase::taking_back) {
        if (is_answer) return abandon();
        if (found != nullptr && found->method == "notifications/cancelled") over_->hand_over(line);
        return;
    }
    if (found != nullptr && found->kind == message_kind::request) asked_ = true;
    if (found == nullptr && over_->reader().fault().answer) return lose_unreadable(over_->reader().fault());
    if (!is_answer) return over_->hand_over(line);  // what is no message is remarked upon there
    if (found->has_id && found->id == message_.id->view()) return answer(*found, line);
    over_->remark(log_level::debug, "an answer to another request came on the stream of " + message_.raw_id);
}

/// Where it is no JSON and does not say whose it is, its stream does. Any other that is not ours is stepped over: if
/// ours does not come behind it, the end of the stream tells.
void posted_message::lose_unreadable(const envelope_fault& fault) {
    const bool ours = fault.answered ? message_.id->view() == request_id_view(*fault.answered)
                                     : fault.code == error_code::parse_error;
    const std::string why = fault.message;
    over_->remark(log_level::warning, "not a message: " + why);
    if (ours) lose("the answer could not be read: " + why);
}

void posted_message::answer(const envelope& found, std::string_view line) {
    if (found.kind == message_kind::error && wait_for_tools(found, line)) return;
    phase_ = phase::draining;
    over_->concluded(*this);
    const bool result = found.kind == message_kind::result;
    if (result && message_.method == "initialize") over_->agreed(found, session_id_);
    std::optional<std::string> without_some;
    if (result && message_.method == "tools/list" && message_.is_modern()) {
        without_some =
            over_->tools().learn(found, [this](const std::string& text) { over_->remark(log_level::warning, text); });
    }
    if (told_) {
        told_(&found);
    } else if (without_some) {
        over_->hand_over(padded_line(*std::move(without_some)).text());
    } else {
        over_->hand_over(line);
    }
    if (phase_ == phase::draining) drain();
}

void posted_message::drain() {
    phase_ = phase::draining;
    timer_.set(now() + drains_for, [this] { abandon(); });
}

void posted_message::refuse(const std::string& why) { refuse_with(error_code::internal_error, why, nullptr); }

void posted_message::refuse_with(int code, const std::string& why, const json::value& data) {
    const auto self = shared_from_this();
    const std::string line = message_.is_request() ? error_message(message_.raw_id, code, why, data) : std::string();
    abandon();
    if (!message_.is_request()) {
        over_->remark(log_level::warning,
                      why + " to " + (message_.method.empty() ? "an answer" : visible_text(message_.method, 128)));
    } else if (told_) {
        told_(nullptr);
    } else {
        over_->hand_over(padded_line(line).text());
    }
}

void posted_message::lose(std::string_view why) {
    const auto self = shared_from_this();
    const std::string said(why);
    abandon();
    if (told_) {
        told_(nullptr);
    } else {
        over_->lost(message_, said);
    }
}

// Going on after a break.

void posted_message::pause(std::string_view why) {
    if (message_.is_modern() || !cursor_.resumable()) return lose(why);
    phase_ = phase::pausing;
    cursor_.ended();
    timer_.set(now() + cursor_.pause(), [this] { resume(); });
}

void posted_message::resume() {
    phase_ = phase::resuming;
    exchange_ =
        over_->pool().start({.bytes = over_->writer().get(over_->session(), cursor_.last_id()), .first = true}, *this);
}

void posted_message::resumed(const response_reader& response) {
    if (response.status() == 200 && response.media_type() == "text/event-stream") {
        phase_ = phase::reading;
        cursor_.connected();
        return;
    }
    exchange_->abandon();
    const std::string why = "the rest of its stream is not to be had: HTTP " + response.status_text();
    if (response.status() < 500) return lose(why);
    on_lost(why);
}

bool posted_message::wait_for_session() {
    // What was about the old session has no place in a new one.
    if (!message_.is_request() && (message_.method.empty() || message_.method == "notifications/cancelled" ||
                                   message_.method == "notifications/initialized")) {
        return false;
    }
    if (over_->is_leaving() || std::exchange(renewed_, true)) return false;
    exchange_->abandon();
    timer_.clear();
    phase_ = phase::waiting;
    over_->session_gone(shared_from_this());
    return true;
}

bool posted_message::wait_for_tools(const envelope& error, std::string_view line) {
    if (!message_.is_modern() || message_.method != "tools/call" || relisted_) return false;
    if (code_of(error) != error_code::header_mismatch) return false;
    relisted_ = true;
    exchange_->abandon();
    phase_ = phase::waiting;
    over_->list_tools(weak_from_this(), [this, self = weak_from_this(), kept = std::string(line)](bool listed) {
        const auto us = self.lock();
        if (!us || phase_ != phase::waiting) return;
        if (listed) return post();
        abandon();
        over_->hand_over(padded_line(kept).text());
    });
    return true;
}

}  // namespace andon::detail
