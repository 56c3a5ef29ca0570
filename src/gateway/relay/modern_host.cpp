#include "gateway/relay/modern_host.hpp"

#include <chrono>
#include <utility>

#include "gateway/relay/call_desk.hpp"
#include "gateway/relay/translated_answer.hpp"

namespace andon::gateway {
namespace {

/// The session is ours: what one of the hosts says of itself must not be what the server thinks of all of them.
constexpr std::string_view raw_introduction =
    R"({"io.modelcontextprotocol/clientInfo":{"name":"andon","version":")" ANDON_VERSION R"("}})";

}  // namespace

void modern_host::on_request(const std::shared_ptr<relayed_call>& call) {
    if (!introduced_) {
        auto params = modern_to_legacy::initialize_params(raw_introduction);
        if (const auto* why = std::get_if<refusal>(&params)) {
            return call->fail(why->code, why->message, call_end::refused);
        }
        introduced_ = true;
        with_.way.remember_initialize(std::get<std::string>(params));
        with_.way.remember_initialized();
    }
    call->prepare([this](relayed_call& which, upstream& to) { return translate(which, to); });
    with_.way.send(call);
}

void modern_host::on_server_ready(upstream& which, bool shared) {
    const bool known = words_.has_value();
    if (!known) {
        auto begun = modern_to_legacy::begin(which.raw_initialize_result());
        if (auto* words = std::get_if<modern_to_legacy>(&begun)) words_.emplace(std::move(*words));
    }
    if (!shared) return;
    server_ = which.weak_from_this();
    if (!known) return;
    words_->server_restarted();
    carry_out(words_->subscriptions().begin_again());
}

bool modern_host::translate(relayed_call& call, upstream& to) {
    if (!words_) {
        call.fail(error_code::internal_error, "the server's answer to initialize could not be used", call_end::refused);
        return false;
    }
    auto step = words_->request(call.method(), call.raw_params(), call.wire_token());
    if (const auto* why = std::get_if<refusal>(&step)) {
        call.fail(why->code, why->message, call_end::refused);
        return false;
    }
    if (std::holds_alternative<modern_to_legacy::discover>(step)) {
        call.answer(words_->discover_result());
        return false;
    }
    if (std::holds_alternative<modern_to_legacy::listen>(step)) {
        begin_listening(call.shared_from_this());
        return false;
    }
    auto& goes = std::get<modern_to_legacy::forwarded>(step);
    if (goes.first) to.ask(goes.first->method, on_one_line(goes.first->raw_params), {});
    const std::string method = call.method();
    call.rewrite(std::move(goes.what.method), on_one_line(std::move(goes.what.raw_params)));
    call.filter([this, method](const envelope& answer) { return translated(method, answer); });
    if (goes.log_level) {
        log_levels_.emplace(call.number(), *goes.log_level);
        call.when_answered([this, alive = std::weak_ptr(alive_)](const relayed_call& which) {
            if (alive.lock()) log_levels_.erase(which.number());
        });
    }
    return true;
}

std::optional<rewritten_answer> modern_host::translated(const std::string& method, const envelope& message) {
    return translated_answer(*words_, method, message, [this](const forward& what) {
        if (const auto server = server_.lock()) server->ask(what.method, on_one_line(what.raw_params), {});
    });
}

// Subscriptions: the requests of the hosts stay here.

void modern_host::begin_listening(const std::shared_ptr<relayed_call>& call) {
    listening_.emplace(call->number(), call);
    call->when_over([this, alive = std::weak_ptr(alive_)](const relayed_call& which) {
        if (!alive.lock() || listening_.erase(which.number()) == 0) return;
        carry_out(words_->subscriptions().end(which.number()));
    });
    const auto step = words_->subscriptions().listen(call->number(), call->raw_id(), call->raw_params());
    if (step.refused) {
        listening_.erase(call->number());
        return call->fail(step.refused->code, step.refused->message, call_end::refused);
    }
    carry_out(step);
}

void modern_host::carry_out(const subscription_step& step) {
    const auto server = server_.lock();
    for (const auto& each : step.requests) {
        if (!server) break;
        server->ask(
            each.what.method, on_one_line(each.what.raw_params),
            [this, uri = each.uri, subscribe = each.subscribe, alive = std::weak_ptr(alive_)](const envelope* answer) {
                if (!subscribe || !alive.lock()) return;
                carry_out(
                    words_->subscriptions().answered(uri, answer != nullptr && answer->kind == message_kind::result));
            });
    }
    for (const auto& each : step.tell) {
        const auto found = listening_.find(each.subscription);
        if (found == listening_.end()) continue;
        found->second->tell_host(on_one_line(whole_notification_message(each.what.method, each.what.raw_params)));
    }
}

// From the server.

void refuse_server_request(upstream& from, detail::incoming_request request, const envelope& message) {
    const bool ours = request.request.begin_response();
    request.request.finish(std::chrono::steady_clock::now());
    if (!ours) return;
    const auto said = modern_to_legacy::server_request(message.method);
    if (const auto* good = std::get_if<answer>(&said)) {
        return from.talk().answer(request.to, result_message(message.raw_id, good->raw_result));
    }
    const auto& why = std::get<refusal>(said);
    from.talk().answer(request.to, error_message(message.raw_id, why.code, why.message), why.code);
}

void modern_host::on_server_request(upstream& from, detail::incoming_request request, const envelope& message) {
    refuse_server_request(from, std::move(request), message);
}

void modern_host::on_server_notification(upstream& from, const envelope& message) {
    if (!words_) return;
    const auto news = words_->from_server(message.method, message.raw_params);
    if (const auto* told_to = std::get_if<std::vector<told>>(&news)) return carry_out({.tell = *told_to});
    const auto* log = std::get_if<modern_to_legacy::log_message>(&news);
    if (log == nullptr) return;
    relayed_call* const only = from.only_speaker();
    if (only == nullptr) return;
    const auto wanted = log_levels_.find(only->number());
    if (wanted == log_levels_.end() || log->level < wanted->second) return;
    only->tell_host(on_one_line(whole_notification_message(log->what.method, log->what.raw_params)));
}

}  // namespace andon::gateway
