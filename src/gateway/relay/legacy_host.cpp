#include "gateway/relay/legacy_host.hpp"

#include <utility>

#include "gateway/relay/call_desk.hpp"
#include "gateway/relay/translated_answer.hpp"
#include "gateway/translation/errors.hpp"

namespace andon::gateway {
namespace {

constexpr std::size_t most_unanswered = 64;
constexpr duration longest_pause = std::chrono::minutes(1);

/// What a server is asked with before anything is known of it.
std::string discover_params(std::string_view raw_initialize) {
    const auto params = object_from_json(raw_initialize).value_or(json::object());
    const json::value* const info = params.if_contains("clientInfo");
    return json_text(json::object{
        {"_meta",
         {{"io.modelcontextprotocol/protocolVersion", to_string(newest_modern)},
          {"io.modelcontextprotocol/clientInfo",
           info != nullptr && info->is_object() ? *info : json::value{{"name", "andon"}, {"version", "0"}}},
          {"io.modelcontextprotocol/clientCapabilities", json::object()}}}});
}

}  // namespace

legacy_host::~legacy_host() = default;

bool legacy_host::shake_hands(const std::shared_ptr<legacy_host>& self, relayed_call& initialize,
                              std::string raw_refused) {
    const auto server = initialize.via();
    if (!server || server->where() != upstream::state::ready) return false;
    self->server_ = server;
    const std::string asked = initialize.raw_params();
    initialize.rewrite("server/discover", discover_params(asked));
    initialize.filter([self, asked, raw_refused = std::move(raw_refused)](const envelope& answer) {
        if (answer.kind != message_kind::result) {
            return std::optional(rewritten_answer{.raw_error = raw_refused, .code = code_in(raw_refused)});
        }
        auto begun = legacy_to_modern::begin(asked, answer.raw_result);
        if (const auto* why = std::get_if<refusal>(&begun)) {
            return std::optional(rewritten_answer{.raw_error = raw_error_of(*why), .code = why->code});
        }
        self->words_.emplace(std::get<legacy_to_modern>(std::move(begun)));
        self->with_.host->adopt(self->words_->client_speaks());
        self->with_.way.agreed(newest_modern);
        return std::optional(rewritten_answer{.raw_result = self->words_->initialize_result()});
    });
    initialize.send(server);
    return true;
}

void legacy_host::reply_to(relayed_call& call, const gateway::reply& with) {
    if (const auto* said = std::get_if<answer>(&with)) return call.answer(said->raw_result);
    const auto& why = std::get<refusal>(with);
    call.fail(why.code, why.message, call_end::failed);
}

void legacy_host::on_request(const std::shared_ptr<relayed_call>& call) {
    if (!words_) return with_.way.send(call);
    const bool subscribes = call->method() == "resources/subscribe" || call->method() == "resources/unsubscribe";
    if (subscribes && waiting_.size() >= most_unanswered) {
        return call->fail(error_code::internal_error, "too many subscriptions wait for the server", call_end::refused);
    }
    auto step = words_->request(call->method(), call->raw_params(), call->wire_token());
    if (auto* what = std::get_if<forward>(&step)) {
        const std::string method = call->method();
        call->rewrite(std::move(what->method), on_one_line(std::move(what->raw_params)));
        call->filter([this, method](const envelope& answer) { return translated(method, answer); });
        return with_.way.send(call);
    }
    if (auto* listens = std::get_if<listen_step>(&step)) return carry_out(std::move(*listens), call);
    if (auto* said = std::get_if<answer>(&step)) return call->answer(said->raw_result);
    const auto& why = std::get<refusal>(step);
    call->fail(why.code, why.message, call_end::refused);
}

std::optional<rewritten_answer> legacy_host::translated(const std::string& method, const envelope& message) {
    return translated_answer(*words_, method, message, [this](const forward& what) { send_and_forget(what); });
}

void legacy_host::send_and_forget(const forward& what) {
    if (const auto server = server_.lock()) server->ask(what.method, on_one_line(what.raw_params), {});
}

void legacy_host::on_notification(const envelope& message) {
    if (!words_) return;
    if (message.method == "notifications/initialized") return carry_out(words_->subscription().begin(), nullptr);
    if (const auto said = words_->from_client(message.method, message.raw_params)) {
        with_.way.notify(on_one_line(whole_notification_message(said->method, said->raw_params)));
    }
}

void legacy_host::on_server_ready(upstream& which, bool shared) {
    if (shared) server_ = which.weak_from_this();
}

// What the host is to hear of.

void legacy_host::carry_out(listen_step step, const std::shared_ptr<relayed_call>& asked) {
    if (asked && step.reply) reply_to(*asked, *step.reply);
    if (step.begin) {
        if (asked && !step.reply) wait_for(step.begin->number, asked);
        if (step.begin->after_pause) {
            listen_later(*step.begin);
        } else {
            listen(*step.begin);
        }
    } else if (asked && !step.reply) {
        asked->answer("{}");
    }
    for (const std::uint64_t number : step.end) {
        for (auto each = listening_.begin(); each != listening_.end();) {
            if (each->second.number != number) {
                ++each;
                continue;
            }
            const auto request = std::move(each->second.request);
            each = listening_.erase(each);
            request->cancel(cancel_cause::peer, "another subscription has taken its place");
        }
    }
    for (const auto& each : step.tell) with_.host->send(whole_notification_message(each.method, each.raw_params));
}

/// A host that does not wait any more, by its cancel or its time limit, does not want the subscription either (RCV-12).
void legacy_host::wait_for(std::uint64_t number, const std::shared_ptr<relayed_call>& asked) {
    waiting_.emplace(number, asked);
    asked->when_over([this, number, alive = std::weak_ptr(alive_)](const relayed_call& which) {
        if (!alive.lock() || !which.asked_to_stop() || waiting_.erase(number) == 0) return;
        std::erase_if(after_pause_, [&](const auto& each) { return each.number == number; });
        const auto found =
            std::ranges::find_if(listening_, [&](const auto& each) { return each.second.number == number; });
        if (found != listening_.end()) {
            const auto request = std::move(found->second.request);
            listening_.erase(found);
            request->cancel(cancel_cause::peer, "the host does not wait for it any more");
        }
        carry_out(words_->subscription().ended(number, {}), nullptr);
    });
}

void legacy_host::listen_later(const listen_step::listen& what) {
    after_pause_.push_back(what);
    if (after_pause_.size() > 1) return;
    pause_.set(std::chrono::steady_clock::now() + next_pause_, [this] {
        for (const auto& each : std::exchange(after_pause_, {})) listen(each);
    });
    next_pause_ = std::min(next_pause_ * 2, longest_pause);
}

void legacy_host::listen(const listen_step::listen& what) {
    const auto server = server_.lock();
    if (!server || server->where() != upstream::state::ready) return listen_later(what);
    const auto request =
        server->ask("subscriptions/listen", on_one_line(what.raw_params),
                    [this, number = what.number, alive = std::weak_ptr(alive_)](const envelope* answer) {
                        if (!alive.lock()) return;
                        over(number, answer != nullptr && answer->kind == message_kind::error ? answer->raw_error
                                                                                              : std::string_view());
                    },
                    {});
    listening_.emplace(request->id(), subscription{what.number, request});
}

void legacy_host::over(std::uint64_t number, std::string_view raw_error) {
    const auto found = std::ranges::find_if(listening_, [&](const auto& each) { return each.second.number == number; });
    if (found == listening_.end() && raw_error.empty()) return;  // it was to end
    if (found != listening_.end()) listening_.erase(found);
    const auto asked = waiting_.extract(number);
    carry_out(words_->subscription().ended(number, raw_error), asked ? asked.mapped() : nullptr);
}

void legacy_host::on_server_notification(upstream& from, const envelope& message) {
    if (!words_) return;
    std::string storage;
    const auto id = id_from_json(message.raw_subscription, storage);
    const auto on = id && !id->is_string() ? listening_.find(id->number()) : listening_.end();
    if (message.method == "notifications/subscriptions/acknowledged") {
        if (on == listening_.end()) return;
        next_pause_ = std::chrono::milliseconds(500);
        const std::uint64_t number = on->second.number;
        const auto asked = waiting_.extract(number);
        return carry_out(words_->subscription().acknowledged(number, message.raw_params),
                         asked ? asked.mapped() : nullptr);
    }
    const auto said = words_->from_server(message.method, message.raw_params);
    if (!said) return;
    const std::string line = on_one_line(whole_notification_message(said->method, said->raw_params));
    relayed_call* const only = from.only_call();
    if (only != nullptr && message.method == "notifications/message") return only->tell_host(line);
    with_.host->send(line);
}

}  // namespace andon::gateway
