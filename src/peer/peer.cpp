#include "andon/peer/peer.hpp"

#include <algorithm>

#include "andon/core/visible_text.hpp"
#include "andon/wire/line_splitter.hpp"
#include "peer/steps.hpp"
#include "wire/unreadable.hpp"

namespace andon {
namespace {

using detail::answer;
using detail::ignored;
using detail::meta_client_capabilities;
using detail::meta_client_info;
using detail::meta_server_info;
using detail::meta_version;
using detail::object_from;
using detail::object_in;

/// Dropped (SND-1), unless somebody knows better.
peer_step unclaimed(const envelope& message, std::string note) {
    peer_step step = ignored(std::move(note));
    step.message = &message;
    step.unclaimed = true;
    return step;
}

peer_step malformed(std::string note) {
    peer_step step = ignored(std::move(note));
    step.malformed = true;
    return step;
}

envelope_limits limits_of(const peer_settings& settings) {
    envelope_limits limits = settings.limits;
    limits.lone_surrogates = settings.relays;
    return limits;
}

}  // namespace

std::optional<std::string> batch_answers::add(std::string_view answer) {
    const std::lock_guard lock(mutex_);
    if (!answer.empty()) {
        body_ += body_.empty() ? '[' : ',';
        body_ += answer;
    }
    if (--expected_ != 0) return std::nullopt;
    if (!body_.empty()) body_ += ']';
    return std::move(body_);
}

peer::peer(peer_settings settings, in_flight& table, const session& in)
    : settings_(std::move(settings)), table_(&table), session_(&in), reader_(limits_of(settings_)) {
    raw_server_meta_ = json_text(json::object{{meta_server_info, settings_.implementation}});
}

bool peer::supports(revision which) const noexcept {
    return std::find(settings_.revisions.begin(), settings_.revisions.end(), which) != settings_.revisions.end();
}

json::array peer::supported() const {
    std::vector<revision> sorted = settings_.revisions;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    json::array names;
    for (const revision which : sorted) names.emplace_back(to_string(which));
    return names;
}

json::object peer::meta(revision speaks) const {
    return {{meta_version, to_string(speaks)},
            {meta_client_info, settings_.implementation},
            {meta_client_capabilities, capabilities_in(speaks)}};
}

// What comes in.

peer_step peer::receive(std::string_view line, time_point now) { return read(line, {}, now); }

peer_step peer::receive_of_batch(std::string_view message, std::shared_ptr<batch_answers> batch, message_scope scope,
                                 time_point now) {
    scope.in_batch = true;
    peer_step step = read(message, scope, now);
    // However it is answered: the others of the batch wait for it.
    if (step.what == next_step::send || step.what == next_step::handle_request) step.batch = std::move(batch);
    return step;
}

/// As the reader takes ids, so that whoever sent it can read it.
bool peer::can_echo(std::string_view raw_id) {
    std::string line = R"({"jsonrpc":"2.0","method":"m","id":)" + std::string(raw_id) + '}';
    const std::size_t size = line.size();
    line.append(line_splitter::padding, '\0');
    const envelope* const read = reader_.read(std::string_view(line).substr(0, size));
    return read != nullptr && read->kind == message_kind::request;
}

peer_step peer::too_long(const skimmed_message& seen, std::size_t longest) {
    const bool answers = seen.result || seen.error;
    const bool request = seen.method && seen.has_id;
    const bool notification = seen.method && seen.whole && !seen.has_id;
    const char* const what = request                   ? "request"
                             : notification            ? "notification"
                             : answers && !seen.method ? "answer"
                                                       : "line";
    const bool known = (seen.method || !answers) && !seen.raw_id.empty() && !seen.id_twice && can_echo(seen.raw_id);
    const detail::unreadable_answer answer = detail::answer_in(seen);
    const envelope_fault found{.code = error_code::invalid_request,
                               .message = std::string("the ") + what + " is too long: it has more than " +
                                          std::to_string(longest) + " bytes, and was skipped",
                               .raw_id = known ? seen.raw_id : "",
                               .silent = notification || (answers && !seen.method),
                               .answer = answer.is_one,
                               .answered = answer.to};
    peer_step step = fault(found);
    // Nothing but its length is wrong with it, and a server waits for its answer.
    if (settings_.role == peer_role::client && request && known && !answers && takes_requests()) {
        step.what = next_step::send;
        step.code = found.code;
        step.bytes = error_message(found.raw_id, found.code, found.message);
    }
    return step;
}

std::vector<peer_step> peer::line_too_long(const skimmed_line& line) {
    std::vector<peer_step> steps;
    std::size_t replies = 0;
    const bool taken = !line.batch || takes_batches();
    for (const skimmed_message& seen : line.messages) {
        steps.push_back(too_long(seen, line.longest));
        if (!taken) {
            steps.back().what = next_step::nothing;
            steps.back().bytes.clear();
        }
        if (steps.back().what == next_step::send) ++replies;
    }
    if (!taken) steps.push_back(no_batches());
    if (!line.batch || !taken || replies == 0) return steps;
    const auto batch = std::make_shared<batch_answers>(replies);
    for (peer_step& step : steps) {
        if (step.what == next_step::send) step.batch = batch;
    }
    return steps;
}

peer_step peer::no_batches() const {
    return fault(
        {.code = error_code::invalid_request, .message = "a batch: only 2025-03-26 has them, after initialize"});
}

std::vector<std::string_view> peer::split(std::string_view line, peer_step& refused, std::vector<std::int64_t>* lost) {
    if (!envelope_reader::looks_like_batch(line)) return {line};
    const bool allowed = takes_batches();
    if (allowed) {
        if (auto messages = reader_.split_batch(line)) return std::move(*messages);
        refused = fault(reader_.fault());
    } else {
        refused = no_batches();
    }
    if (settings_.role != peer_role::client || lost == nullptr) return {};
    auto pieces = detail::pieces_of_batch(line);
    if (pieces.elements.empty() && pieces.lost.empty()) return {};
    refused.lost_answer = false;  // it is known better whose they are
    *lost = std::move(pieces.lost);
    if (allowed) return std::move(pieces.elements);
    for (const std::string_view each : pieces.elements) {
        if (const auto id = detail::answer_in(each).to) lost->push_back(*id);
    }
    return {};
}

peer_step peer::read(std::string_view line, const message_scope& scope, time_point now) {
    const envelope* const message = reader_.read(line);
    return message == nullptr ? fault(reader_.fault()) : receive(*message, scope, now);
}

peer_step peer::receive(const envelope& message, const message_scope& scope, time_point now) {
    switch (message.kind) {
        case message_kind::request: return on_request(message, scope, now);
        case message_kind::notification: return on_notification(message, scope, now);
        case message_kind::result:
        case message_kind::error: return on_answer(message, now);
    }
    return {};
}

peer_step peer::fault(const envelope_fault& found) const {
    peer_step step;
    step.note = "not a message: " + found.message;
    step.malformed = true;
    step.lost_answer = found.answer;
    step.answered = found.answered;
    // A modern client writes no response, a notification and an answer have none, and a client that answers a fault
    // with a fault could go on like that for ever.
    if (found.silent || settings_.role == peer_role::client) return step;
    step.what = next_step::send;
    step.code = found.code;
    step.bytes = found.raw_id.empty() ? error_without_id(found.code, found.message, policy())
                                      : error_message(found.raw_id, found.code, found.message);
    return step;
}

/// Of a client.
bool peer::takes_requests() const noexcept { return state_ != state::modern && state_ != state::probing; }

peer_step peer::refuse(const envelope& message, int code, std::string_view why, const json::value& data) const {
    return answer(error_message(message.raw_id, code, why, data), code);
}

/// The revision by which a request to a server is served.
std::optional<revision> peer::of_request(const envelope& message, const message_scope& scope,
                                         peer_step& refused) const {
    if (message.raw_version.empty()) {
        if (scope.speaks) return scope.speaks;
        if (state_ == state::legacy) return speaks_;
        refused = refuse(message, error_code::invalid_params,
                         "no protocol version: send initialize first, or _meta with "
                         "io.modelcontextprotocol/protocolVersion and clientCapabilities (2026-07-28)");
        return std::nullopt;
    }
    const std::string named = string_from_json(message.raw_version).value_or("");
    const auto which = revision_from(named);
    if (which && era_of(*which) == era::modern && scope.in_batch) {
        refused = refuse(message, error_code::invalid_request, "a batch: " + named + " has none");
        return std::nullopt;
    }
    if (which && era_of(*which) == era::modern && supports(*which)) return which;
    if (which && state_ == state::legacy && era_of(*which) == era::legacy) return speaks_;
    refused = refuse_version(message, named);
    return std::nullopt;
}

peer_step peer::refuse_version(const envelope& message, std::string_view named) const {
    return refuse(message, error_code::unsupported_version, "Unsupported protocol version",
                  json::object{{"supported", supported()}, {"requested", visible_text(named, 64)}});
}

peer_step peer::on_request(const envelope& message, const message_scope& scope, time_point now) {
    if (settings_.relays) return pass_on(message, scope, now);
    if (message.method == "ping" || message.method == "initialize" || message.method == "server/discover") {
        // Answered on the spot, which is in flight for a moment all the same: a result with the id of another request
        // would be taken for the answer to that one (RCV-10).
        const auto moment = table_->begin(scope_of(scope), direction::incoming, message.id, now);
        if (!moment) return refuse(message, error_code::invalid_request, to_string(moment.refusal));
    }
    if (settings_.role == peer_role::client) {
        if (!takes_requests()) {
            return ignored("a request from the server, which this revision does not have");
        }
        if (message.method == "ping") return answer(result_message(message.raw_id, "{}"));
        return let_in(message, scope, speaks_, now);
    }
    if (message.method.substr(0, 14) == "notifications/") {  // RCV-6, in any state
        return refuse(message, error_code::method_not_found, "Method not found: a notification has no id");
    }
    if (message.method == "initialize" && message.raw_version.empty()) {
        if (scope.in_batch) return refuse(message, error_code::invalid_request, "initialize in a batch");
        if (state_ == state::legacy) return refuse(message, error_code::invalid_request, "initialized already");
        return on_initialize(message);
    }
    if (message.method == "ping" && message.raw_version.empty()) {
        return answer(result_message(message.raw_id, "{}"));
    }
    peer_step refused;
    const auto speaks = of_request(message, scope, refused);
    if (!speaks) return refused;
    if (era_of(*speaks) == era::modern) {
        const json::object meta = object_from(message.raw_meta);
        const json::value* const capabilities = meta.if_contains(meta_client_capabilities);
        if (capabilities == nullptr || !capabilities->is_object()) {
            return refuse(message, error_code::invalid_params,
                          "_meta must have io.modelcontextprotocol/clientCapabilities, an object");
        }
        if (message.method == "server/discover") return on_discover(message);
        if (message.method == "ping") {
            return refuse(message, error_code::method_not_found, "Method not found: this revision has no ping");
        }
    }
    return let_in(message, scope, *speaks, now);
}

/// What a relay does not let through is what no server has to see: a notification that is none, and, from a modern
/// server, any request.
peer_step peer::pass_on(const envelope& message, const message_scope& scope, time_point now) {
    if (settings_.role == peer_role::client && state_ == state::modern) {
        return ignored("a request from the server, which this revision does not have");
    }
    if (message.method.substr(0, 14) == "notifications/") {  // RCV-6, in any state
        return refuse(message, error_code::method_not_found, "Method not found: a notification has no id");
    }
    if (message.raw_version.empty()) return let_in(message, scope, speaks_, now);
    if (scope.in_batch) return refuse(message, error_code::invalid_request, "a batch: that revision has none");
    const std::string version = string_from_json(message.raw_version).value_or("");
    const auto named = revision_from(version);
    if (settings_.stateless && named && era_of(*named) == era::legacy) return refuse_version(message, version);
    return let_in(message, scope, named.value_or(newest_modern), now);
}

peer_step peer::let_in(const envelope& message, const message_scope& scope, revision speaks, time_point now) {
    std::string label(message.method);
    if (!message.raw_name.empty()) label += ' ' + string_from_json(message.raw_name).value_or("");
    begin_options options;
    if (settings_.options_for) options = settings_.options_for(message);
    options.label = label;
    auto begun = table_->begin(scope_of(scope), direction::incoming, message.id, now, options);
    if (!begun) return refuse(message, error_code::invalid_request, to_string(begun.refusal));
    peer_step step;
    step.what = next_step::handle_request;
    step.message = &message;
    step.request = std::move(begun.request);
    step.speaks = speaks;
    return step;
}

peer_step peer::on_notification(const envelope& message, const message_scope& scope, time_point now) {
    if (message.method == "notifications/cancelled") return on_cancelled(message, scope, now);
    if (message.method == "notifications/initialized" && !settings_.relays) return {};
    peer_step step;
    step.message = &message;
    if (message.method == "notifications/progress") {
        const auto token = id_from_json(message.raw_progress_token, id_storage_);
        const auto found = token && !token->is_string() ? outgoing_.find(token->number()) : outgoing_.end();
        if (found == outgoing_.end()) return unclaimed(message, "progress for no request of ours");
        step.what = next_step::progress;
        step.context = found->second.context;
        return step;
    }
    step.what = next_step::handle_notification;
    return step;
}

peer_step peer::on_cancelled(const envelope& message, const message_scope& scope, time_point now) {
    const auto id = id_from_json(message.raw_request_id, id_storage_);
    // DIR-2: under the modern revisions only a client cancels; but a server may end a subscription so (SUB-2).
    if (settings_.role == peer_role::client && state_ != state::legacy) {
        const auto found = id && !id->is_string() ? outgoing_.find(id->number()) : outgoing_.end();
        if (found == outgoing_.end() || !found->second.subscription) {
            return ignored("a cancel from the server, which this revision does not have");
        }
        peer_step step;
        step.what = next_step::ended_by_peer;
        step.message = &message;
        step.context = found->second.context;
        return step;
    }
    if (!id) return malformed("a cancel without a valid requestId");
    std::string reason;
    if (!message.raw_reason.empty()) {
        auto text = string_from_json(message.raw_reason);
        if (!text) return malformed("a cancel whose reason is no string");
        reason = std::move(*text);
    }
    const auto result =
        table_->cancel({scope_of(scope).id(), direction::incoming, *id}, cancel_cause::peer, reason, now);
    // The accepted one is logged where the request is: there the cause and the reason are known for every cause.
    if (result.accepted()) return {};
    return ignored("a cancel of request " + to_string(*id) + ": " + std::string(to_string(result.what)));
}

// Requests of ours.

peer_step peer::on_answer(const envelope& message, time_point now) {
    if (settings_.role == peer_role::client && !established() && !settings_.relays) return on_handshake(message, now);
    if (!message.has_id) return malformed("an error for no request: " + visible_text(message.raw_error, 256));
    const auto found = message.id.is_string() ? outgoing_.end() : outgoing_.find(message.id.number());
    // SND-1: that includes the late answer to what was cancelled.
    if (found == outgoing_.end()) {
        return unclaimed(message, "an answer to nothing that is waited for: " + to_string(message.id));
    }
    peer_step step;
    step.what = next_step::settle;
    step.message = &message;
    step.context = found->second.context;
    outgoing_.erase(found);
    return step;
}

std::string peer::start(std::int64_t id, outgoing request) {
    outgoing_.insert_or_assign(id, waited_for{request.context, request.method == "subscriptions/listen"});
    if (request.raw_params) return raw_request_message(id, request.method, *request.raw_params);
    const bool modern = era_of(speaks_) == era::modern;
    if (modern || request.progress) {
        json::object merged = modern ? meta(speaks_) : json::object();
        if (request.progress) merged["progressToken"] = id;
        if (modern && request.log_level) merged["io.modelcontextprotocol/logLevel"] = *request.log_level;
        for (auto& [key, value] : object_in(request.params, "_meta")) merged[key] = value;
        request.params["_meta"] = std::move(merged);
    }
    return request_message(id, request.method, request.params);
}

std::string peer::cancel(std::int64_t id, std::string_view reason) {
    if (outgoing_.erase(id) == 0) return {};
    // DIR-2: a modern server has no requests of its own, so that there is nothing to cancel.
    return cancelled_message(std::to_string(id), reason);
}

}  // namespace andon
