#include "gateway/relay/relayed_call.hpp"

#include <algorithm>
#include <utility>

#include "andon/core/visible_text.hpp"
#include "gateway/relay/call_desk.hpp"
#include "gateway/relay/relayed_question.hpp"
#include "gateway/relay/upstream.hpp"
#include "gateway/translation/raw_json.hpp"
#include "transport/clock.hpp"

namespace andon::gateway {
namespace {

constexpr std::size_t longest_progress = 4'096;  // of what a server says of its progress
constexpr int timed_out_code = -32001;           // what the official SDKs say of a request that took too long

std::string text_of(std::string_view raw, std::size_t most) {
    return raw.empty() ? std::string() : visible_text(string_from_json(raw).value_or(""), most);
}

/// To be shown; of a long one without its message.
std::string kept_progress(std::string_view raw_params) try {
    if (raw_params.size() <= longest_progress) return std::string(raw_params);
    constexpr std::size_t longest_number = 64;
    const raw_object params(raw_params, "params");
    raw_writer kept;
    for (const std::string_view name : {"progress", "total"}) {
        const std::string_view raw = params.at(name);
        if (!raw.empty() && raw.size() <= longest_number) kept.add(name, raw);
    }
    return kept.empty() ? std::string() : std::move(kept).done();
} catch (const translation_fault&) {
    return {};
}

/// A tool's result that is an error. Only looked at where it is cheap to: it is for the journal.
bool says_it_failed(std::string_view raw_result) {
    constexpr std::size_t near = 512;
    const auto has = [](std::string_view text) {
        // Not for its quotes: they are everywhere.
        constexpr std::string_view name = "isError\":";
        const std::size_t at = text.find(name);
        if (at == std::string_view::npos) return false;
        const std::string_view said = text.substr(at + name.size());
        return said.starts_with("true") || said.starts_with(" true");
    };
    if (raw_result.size() <= 2 * near) return has(raw_result);
    return has(raw_result.substr(0, near)) || has(raw_result.substr(raw_result.size() - near));
}

}  // namespace

int code_in(std::string_view raw_error) {
    const auto error = object_from_json(raw_error);
    const json::value* const code = error ? error->if_contains("code") : nullptr;
    if (code == nullptr || !code->is_int64()) return error_code::internal_error;
    return static_cast<int>(std::clamp<std::int64_t>(code->get_int64(), INT32_MIN, INT32_MAX));
}

namespace {

/// The completing result of a subscription says which one it was (2026-07-28); the server knows it by our id.
std::string with_subscription(std::string_view raw_result, std::string_view raw_id) {
    auto result = object_from_json(raw_result).value_or(json::object());
    if (!result.contains("resultType")) result["resultType"] = "complete";
    json::value& meta = result["_meta"];
    if (!meta.is_object()) meta = json::object();
    meta.get_object()["io.modelcontextprotocol/subscriptionId"] = value_from_json(raw_id).value_or(nullptr);
    return json_text(result);
}

call_end end_of(cancel_cause cause) noexcept {
    switch (cause) {
        case cancel_cause::timeout: return call_end::timed_out;
        case cancel_cause::operator_: return call_end::stopped;
        case cancel_cause::disconnect:
        case cancel_cause::shutdown: return call_end::disconnected;
        case cancel_cause::peer:
        case cancel_cause::parent: break;
    }
    return call_end::cancelled;
}

}  // namespace

bool asks_for_task(std::string_view raw_params) {
    // Only where the word is there at all: what else a call says is not ours to read.
    if (raw_params.find("\"task\"") == std::string_view::npos) return false;
    const auto params = object_from_json(raw_params);
    return params && params->contains("task");
}

std::string task_in(std::string_view raw_result) {
    if (raw_result.find("\"taskId\"") == std::string_view::npos) return {};
    const auto result = object_from_json(raw_result);
    if (!result) return {};
    const json::value* const inside = result->if_contains("task");  // 2025-11-25
    const json::object& task = inside != nullptr && inside->is_object() ? inside->get_object() : *result;
    const json::value* const id = task.if_contains("taskId");
    return id != nullptr && id->is_string() ? std::string(id->get_string()) : std::string();
}

std::string task_named_in(std::string_view raw_params) {
    const auto params = object_from_json(raw_params);
    const json::value* const id = params ? params->if_contains("taskId") : nullptr;
    return id != nullptr && id->is_string() ? std::string(id->get_string()) : std::string();
}

bool relayed_call::may_be_task() const {
    if (method_ != "tools/call") return false;
    if (era_of(in_.speaks) == era::legacy) return asks_for_task(raw_params_);
    return raw_params_.find("io.modelcontextprotocol/tasks") != std::string::npos;
}

std::string spliced(std::string_view text, std::string_view old, std::string_view by) {
    const auto at = static_cast<std::size_t>(old.data() - text.data());
    std::string made;
    made.reserve(text.size() - old.size() + by.size());
    made += text.substr(0, at);
    made += by;
    return made += text.substr(at + old.size());
}

std::string on_one_line(std::string text) {
    // Two searches for one character each are far quicker than one for either.
    if (text.find('\n') == std::string::npos && text.find('\r') == std::string::npos) return text;
    std::ranges::replace_if(
        text, [](char c) { return c == '\r' || c == '\n'; }, ' ');
    return text;
}

relayed_call::relayed_call(call_desk& desk, std::shared_ptr<detail::conversation> host,
                           detail::incoming_request request, const envelope& message,
                           std::shared_ptr<const call_origin> origin, const call_policy& policy)
    : desk_(&desk),
      host_(std::move(host)),
      in_(std::move(request)),
      token_(in_.request.token()),
      origin_(std::move(origin)),
      policy_(policy),
      number_(desk.next_number()),
      raw_id_(message.raw_id),
      raw_token_(message.raw_progress_token),
      method_(message.method),
      handshake_(message.method == "initialize"),
      tool_(text_of(message.raw_name.empty() ? message.raw_uri : message.raw_name, longest_tool_name)),
      traceparent_(text_of(message.raw_traceparent, 128)),
      raw_params_(on_one_line(raw_token_.empty()
                                  ? std::string(message.raw_params)
                                  : spliced(message.raw_params, message.raw_progress_token, std::to_string(number_)))),
      started_at_(std::chrono::system_clock::now()) {}

void relayed_call::on_host_cancel::operator()() const noexcept {
    const auto self = call->weak_from_this().lock();
    if (!self) return;
    // Its id is free at once: the host may use it in the next line that it has written. The rest comes when the tree
    // below was told, and, as it may be any thread that cancels, on the loop's.
    if (self->host_->here()) self->in_.request.finish(now());
    self->host_->post([self] { self->host_gave_up(); });
}

void relayed_call::begin() {
    desk_->begun(shared_from_this());
    callback_.emplace(token_, on_host_cancel{this});
}

void relayed_call::rewrite(std::string method, std::string raw_params) {
    method_ = std::move(method);
    raw_params_ = std::move(raw_params);
}

void relayed_call::send(const std::shared_ptr<upstream>& to) {
    if (over_for_host_ || token_.cancelled()) return;
    if (const auto last = std::exchange(prepare_, {}); last && !last(*this, *to)) return;
    via_ = to;
    sent_ = now();
    may_be_task_ = may_be_task();
    if (method_ == "tasks/result") awaited_task_ = task_named_in(raw_params_);
    pid_ = to->pid();
    to->began(*this);
    const auto sent =
        to->talk().pass_on({.method = method_,
                            .cancellable = method_ != "initialize" && method_ != "server/discover",  // DIR-4
                            .at_once = true,
                            .raw = shared_from_this(),
                            // That of a handshake may be needed again.
                            .raw_params = method_ == "initialize" ? raw_params_ : std::exchange(raw_params_, {}),
                            .id = wire_id()},
                           in_.request);
    if (sent->never_began()) {
        fail(error_code::internal_error, "the server is not there: " + sent->outcome().message, call_end::crashed);
    }
}

void relayed_call::task_goes_on() {
    if (policy_.progress_restarts_timeout && in_.request) in_.request.progress(now());
}

void relayed_call::tell_host(std::string_view line) { host_->send(in_.to, line, &token_); }

void relayed_call::on_progress(const envelope& message) {
    const time_point at = now();
    if (policy_.progress_restarts_timeout) in_.request.progress(at);
    cadence_ = at - std::max(std::exchange(progressed_, at), sent_);
    raw_progress_ = kept_progress(message.raw_params);
    if (raw_token_.empty() || message.raw_progress_token.empty()) return;
    tell_host(on_one_line(whole_notification_message(
        message.method, spliced(message.raw_params, message.raw_progress_token, raw_token_))));
}

void relayed_call::seems_alive() noexcept {
    if (!over_for_host_ && in_.request) in_.request.progress(now());
}

void relayed_call::over_for_host() {
    over_for_host_ = true;
    ended_at_ = std::chrono::system_clock::now();
    callback_.reset();
    if (via_) via_->ended(*this);
    if (const auto told = std::exchange(when_answered_, {})) told(*this);
}

bool relayed_call::take_answer() {
    // Without a request: its cancel has ended it, and what follows from that is posted.
    if (over_for_host_ || !in_.request || !in_.request.begin_response()) return false;
    over_for_host();
    // Out of the table first: the host may use the id again as soon as it has read the answer.
    in_.request.finish(now());
    return true;
}

void relayed_call::on_answer(const envelope& message) {
    if (const auto sees = std::exchange(first_answer_, {}); sees && sees(*this, message)) return;
    if (!take_answer()) {
        answered_late_ = true;
        return;
    }
    const bool failed = message.kind == message_kind::error;
    const auto instead = filter_ ? filter_(message) : std::nullopt;
    if (instead && !instead->raw_error.empty()) {
        error_code_ = instead->code;
        answer_error(on_one_line(raw_error_message(raw_id_, instead->raw_error)), error_code_);
    } else if (instead) {
        host_->answer(in_.to, on_one_line(result_message(raw_id_, instead->raw_result)));
    } else if (failed) {
        error_code_ = code_in(message.raw_error);
        answer_error(on_one_line(raw_error_message(raw_id_, message.raw_error)), error_code_);
    } else if (method_ == "subscriptions/listen") {
        host_->answer(in_.to, result_message(raw_id_, with_subscription(message.raw_result, raw_id_)));
    } else {
        if (may_be_task_ && !task_in(message.raw_result).empty()) {
            constexpr std::size_t longest_token = 1'024;
            const bool told = era_of(in_.speaks) == era::legacy && !raw_token_.empty();
            if (told && raw_token_.size() <= longest_token) {
                via_->expect_progress(wire_id(), {host_, raw_token_, task_in(message.raw_result)});
            }
            via_->made_task();
        }
        host_->answer(in_.to, on_one_line(result_message(raw_id_, message.raw_result)));
    }
    end_ = error_code_ != 0 || (!failed && method_ == "tools/call" && says_it_failed(message.raw_result))
               ? call_end::failed
               : call_end::completed;
    leave();
}

/// The server ended a subscription by its notification. Its response may follow, and is not needed any more (SUB-2).
void relayed_call::on_ended(const envelope& message) {
    if (!take_answer()) return;
    if (!in_.to.reply) {
        host_->send(cancelled_message(raw_id_, string_from_json(message.raw_reason).value_or("")));
    }
    host_->answer(in_.to, result_message(raw_id_, with_subscription({}, raw_id_)));
    leave();
}

void relayed_call::on_given_up(const call_outcome& outcome) {
    if (over_for_host_) return;
    if (token_.cancelled()) return host_gave_up();
    // It knows how it ended, or will in a moment, and tells us.
    if (via_ && via_->where() == upstream::state::gone) return;
    fail(error_code::internal_error, outcome.message, call_end::crashed);
}

void relayed_call::fail(int code, std::string_view words, call_end end) {
    if (!take_answer()) return;
    error_code_ = code;
    answer_error(error_message(raw_id_, code, words), code);
    end_ = end;
    leave();
}

/// A session whose handshake failed has no id to go on with.
void relayed_call::answer_error(std::string_view line, int code) {
    if (handshake_ && in_.to.reply) return in_.to.reply->refuse(line, code);
    host_->answer(in_.to, line, code);
}

void relayed_call::answer(std::string_view raw_result) {
    if (!take_answer()) return;
    host_->answer(in_.to, result_message(raw_id_, raw_result));
    leave();
}

void relayed_call::stop_by_operator(std::string_view reason, std::string_view name) {
    if (over_for_host_ || token_.cancelled()) return;
    operator_name_ = visible_text(name, 64);
    in_.request.cancel(cancel_cause::operator_, reason, now());
}

/// The tree below was told already: the server has its cancel, or never hears of the call (DIR-3).
void relayed_call::host_gave_up() {
    if (over_for_host_) return;
    over_for_host();
    const cancel_cause cause = token_.cause();
    const std::string why(token_.why().text());
    in_.request.finish(now());
    end_ = end_of(cause);
    const bool subscription = method_ == "subscriptions/listen";
    if (subscription && cause != cancel_cause::peer && cause != cancel_cause::disconnect) {
        // That is no error of the host's, and no surprise (SUB-2).
        if (!in_.to.reply) host_->send(cancelled_message(raw_id_, why));
        host_->answer_last(in_.to, result_message(raw_id_, with_subscription({}, raw_id_)));
    } else if (end_ == call_end::timed_out || end_ == call_end::stopped) {
        // The host still waits, and did not ask for this.
        const std::string words = end_ == call_end::stopped ? "stopped by an operator" + (why.empty() ? "" : ": " + why)
                                  : handshake_ ? "the server did not answer initialize within its start_timeout"
                                               : "stopped by andon: it took longer than its time limit";
        error_code_ = end_ == call_end::timed_out ? timed_out_code : error_code::request_cancelled;
        if (handshake_) {
            answer_error(error_message(raw_id_, error_code_, words), error_code_);
        } else {
            host_->answer_last(in_.to, error_message(raw_id_, error_code_, words));
        }
    } else if (in_.to.batch) {
        host_->answer(in_.to, {});
    } else if (in_.to.reply) {
        end_stream();
    }
    host_->drop_cancelled();
    asked_ = now();
    stage_ = call_stage::asked_to_stop;
    desk_->asked_to_stop(*this);
    if (answered_late_) return late_answer();
    if (!via_) return stopped(stop_evidence::none, asked_);  // it never began
    via_->watch(shared_from_this());
}

void relayed_call::comes_with(const std::shared_ptr<relayed_question>& question) {
    constexpr std::size_t most = 64;
    if (!in_.to.reply) return;
    if (questions_.size() >= most) std::erase_if(questions_, [](const auto& each) { return each.expired(); });
    if (questions_.size() < most) questions_.push_back(question);
}

/// A stream of its own must not hang (HTTP-3). But the server may now take back what it asked the host on it, and a
/// host that listens nowhere else would not hear of that (RCV-12): until it has, or nothing more comes of the call.
void relayed_call::end_stream() {
    const auto end = std::make_shared<const stream_end>(in_.to.reply);
    for (const auto& each : questions_) {
        if (const auto question = each.lock(); question && question->is_open()) question->keep_open(end);
    }
}

void relayed_call::let_go_of_stream() {
    for (const auto& each : std::exchange(questions_, {})) {
        if (const auto question = each.lock()) question->let_go_of_stream();
    }
}

void relayed_call::late_answer() {
    ++late_;
    desk_->late_message(origin_->server);
    const time_point when = now();
    if (when - asked_ > policy_.grace) count_as_ignored();
    if (stage_ != call_stage::stopped) return stopped(stop_evidence::answered_late, when);
    if (evidence_ == stop_evidence::answered_late) return;
    evidence_ = stop_evidence::answered_late;
    stopped_at_ = when;
    desk_->amended(*this);
}

void relayed_call::late_message() {
    ++late_;
    desk_->late_message(origin_->server);
}

void relayed_call::ignores() {
    if (stage_ != call_stage::asked_to_stop) return;
    stage_ = call_stage::ignoring;
    let_go_of_stream();
    count_as_ignored();
}

void relayed_call::count_as_ignored() {
    if (std::exchange(ignored_, true)) return;
    desk_->ignored(*this);
}

void relayed_call::goes_on() {
    stage_ = call_stage::asked_to_stop;
    evidence_ = stop_evidence::none;
    stopped_at_.reset();
    desk_->resumed(shared_from_this());
}

void relayed_call::stopped(stop_evidence how, time_point when, std::uint32_t killed) {
    if (stage_ == call_stage::stopped) return;
    stage_ = call_stage::stopped;
    evidence_ = how;
    stopped_at_ = when;
    killed_ = killed;
    leave();
}

void relayed_call::leave() {
    const auto self = shared_from_this();
    if (stage_ == call_stage::running) stage_ = call_stage::over;
    via_.reset();
    let_go_of_stream();
    filter_ = {};
    prepare_ = {};
    first_answer_ = {};
    // It may be remembered for long, for the sake of an answer that comes late.
    std::string().swap(raw_params_);
    std::string().swap(raw_token_);
    if (std::exchange(left_, true)) {
        desk_->over_again(*this);
    } else {
        desk_->over(*this);
    }
    if (const auto told = std::exchange(when_over_, {})) told(*this);
}

std::optional<duration> relayed_call::time_to_stop() const noexcept {
    if (!asked_to_stop() || !stopped_at_) return std::nullopt;
    return std::max(duration(), *stopped_at_ - asked_);
}

relayed_call_view relayed_call::view() const {
    relayed_call_view shown{.number = number_,
                            .server = origin_->server,
                            .session = origin_->session,
                            .method = handshake_ ? "initialize" : method_,
                            .tool = tool_,
                            .request_id = visible_text(raw_id_, 64),
                            .traceparent = traceparent_,
                            .pid = pid_,
                            .started = started_at_,
                            .stage = stage_};
    if (!raw_progress_.empty()) {
        if (const auto params = object_from_json(raw_progress_)) {
            const auto number = [&](std::string_view key) -> std::optional<double> {
                const json::value* const found = params->if_contains(key);
                if (found == nullptr || !found->is_number()) return std::nullopt;
                return found->to_number<double>();
            };
            const json::value* const words = params->if_contains("message");
            if (const auto done = number("progress")) {
                shown.progress = call_progress{.done = *done,
                                               .total = number("total"),
                                               .message = words != nullptr && words->is_string()
                                                              ? visible_text(words->get_string(), 256)
                                                              : std::string()};
            }
        }
    }
    if (!token_.cancelled()) return shown;
    shown.cause = token_.cause();
    shown.reason = std::string(token_.why().text());
    switch (*shown.cause) {
        case cancel_cause::peer:
        case cancel_cause::parent: shown.asked_by = "host"; break;
        case cancel_cause::timeout: shown.asked_by = "time limit"; break;
        case cancel_cause::disconnect: shown.asked_by = "disconnect"; break;
        case cancel_cause::shutdown: shown.asked_by = "shutdown"; break;
        case cancel_cause::operator_: shown.asked_by = "operator " + operator_name_; break;
    }
    if (asked_to_stop()) shown.since_asked = now() - asked_;
    return shown;
}

journal_entry relayed_call::entry() const {
    return {.call = view(),
            .ended = ended_at_,
            .end = end_,
            .error_code = error_code_,
            .evidence = evidence_,
            .ignored = ignored_,
            .time_to_stop = time_to_stop(),
            .late_messages = late_,
            .killed = killed_};
}

}  // namespace andon::gateway
