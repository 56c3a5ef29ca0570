#include "gateway/relay/relay.hpp"

#include "andon/core/visible_text.hpp"
#include "gateway/relay/call_desk.hpp"
#include "gateway/relay/legacy_host.hpp"
#include "gateway/relay/modern_host.hpp"
#include "gateway/relay/passing.hpp"

namespace andon::gateway {

relay::relay(std::shared_ptr<detail::conversation::surroundings> around, call_desk& desk, const server_config& server,
             lane::settings over, std::unique_ptr<transport> from, settings how)
    : around_(std::move(around)),
      desk_(&desk),
      server_(&server),
      how_(std::move(how)),
      origin_(std::make_shared<call_origin>(call_origin{server.name, how_.session})),
      host_(std::make_shared<detail::conversation>(around_, host_settings(), std::move(from), *this)),
      lane_(around_, desk, server, std::move(over), *this) {
    host_->name_peer(server_->name + ": from the host");
    if (!how_.stateless) desk_->session_began(server_->name);
    // Modern hosts of a server whose era is not known wait until it is; everything else begins as if both spoke alike.
    if (how_.stateless && how_.ask_era) return;
    dialect_ = std::make_shared<passing>(surroundings(), [this](relayed_call& initialize, const envelope& refused) {
        return speak_modern_to_server(initialize, refused);
    });
}

relay::~relay() = default;

peer_settings relay::host_settings() const {
    const server_policy* const policy = &server_->policy;
    // Where it waits for a process that does not start, the lane knows why, and is to be the first to say so.
    const duration patience = server_->start_timeout + std::chrono::milliseconds(50);
    return {.role = peer_role::server,
            .stateless = how_.stateless,
            .relays = true,
            .options_for = [policy, patience](const envelope& message) {
                begin_options options;
                if (message.method == "initialize") {
                    // DIR-4: whatever the host says, its handshake goes on.
                    options.peer_may_cancel = false;
                    options.limits = {.maximum = patience};
                    return options;
                }
                if (message.method == "subscriptions/listen") return options;
                const call_policy& limits = message.method == "tools/call" && !policy->tools.empty()
                                                ? policy->of(string_from_json(message.raw_name).value_or(""))
                                                : policy->usual;
                options.limits = {.idle = limits.timeout, .maximum = limits.max_timeout};
                return options;
            }};
}

void relay::close(cancel_cause cause, std::string_view why) {
    if (cause != cancel_cause::shutdown || how_.stateless) return host_->close(cause, why);
    // What is told of that to a host that still listens comes first.
    around_->table.cancel_session(host_->id(), cause, why, std::chrono::steady_clock::now());
    desk_->process_began();  // andon does not leave before that
    around_->loop.post([self = shared_from_this(), cause, why = std::string(why)] {
        self->around_->loop.post([self, cause, why] {
            self->host_->close(cause, why);
            self->desk_->process_ended();
        });
    });
}

/// One of many hosts is not to hold up what all of them share.
void relay::on_crowded(bool crowded) {
    if (!how_.stateless) lane_.hold(crowded);
}

void relay::on_server_crowded(bool crowded) {
    if (!how_.stateless) host_->hold(crowded);
}

void relay::on_ended(std::string_view why) {
    static_cast<void>(why);
    if (host_->given_up()) {
        around_->log(log_level::error, server_->name + ": the host does not read what it is sent: it is given up");
    }
    lane_.close();
    if (!how_.stateless) desk_->session_ended(server_->name);
    if (how_.on_end) how_.on_end();
}

dialect_surroundings relay::surroundings() {
    return {.host = host_, .way = lane_, .desk = *desk_, .loop = around_->loop, .stateless = how_.stateless};
}

// Which dialect.

bool relay::speak_modern_to_server(relayed_call& initialize, const envelope& refused) {
    if (!how_.ask_era) return false;
    if (former_) return false;  // it was found out before
    const auto translates = std::make_shared<legacy_host>(surroundings());
    if (!legacy_host::shake_hands(translates, initialize, std::string(refused.raw_error))) return false;
    former_ = std::exchange(dialect_, translates);
    return true;
}

void relay::learnt_era(std::optional<era> which, const std::string& why) {
    asking_ = false;
    const auto waiting = undecided_.take_all();
    if (which && *which == era::legacy) {
        lane_.use_one_process();  // its session is one
        dialect_ = std::make_shared<modern_host>(surroundings());
    } else if (which) {
        dialect_ = std::make_shared<passing>(surroundings(), nullptr);
    }
    for (const auto& [call, since] : waiting) {
        if (dialect_) {
            dialect_->on_request(call);
        } else {
            call->fail(error_code::internal_error, server_->name + " could not be started: " + why, call_end::refused);
        }
    }
}

// From the host.

void relay::on_request(detail::incoming_request request, const envelope& message) {
    const call_policy& policy = message.method == "tools/call" && !server_->policy.tools.empty()
                                    ? server_->policy.of(string_from_json(message.raw_name).value_or(""))
                                    : server_->policy.usual;
    // Where the host is many, each is told apart by whom its requests count for.
    const auto origin =
        how_.stateless
            ? std::make_shared<call_origin>(call_origin{server_->name, visible_text(request.by().counts_for, 64)})
            : origin_;
    const auto call = std::make_shared<relayed_call>(*desk_, host_, std::move(request), message, origin, policy);
    const bool handshake = call->method() == "initialize";
    if (handshake && !how_.stateless) {
        call->when_answered([weak = weak_from_this(), loop = &around_->loop](const relayed_call& which) {
            // Later: how it ended is about to be known.
            loop->post([weak, initialize = which.shared_from_this()] {
                if (const auto self = weak.lock()) self->handshake_over(*initialize);
            });
        });
    }
    call->begin();
    if (handshake && how_.stateless) {  // one host must not decide what the server is told for all of them
        return call->fail(error_code::method_not_found, "Method not found: this revision has no initialize",
                          call_end::refused);
    }
    if (dialect_) return dialect_->on_request(call);
    if (!undecided_.put(call)) {
        return call->fail(error_code::internal_error, "too many calls wait for the server to start", call_end::refused);
    }
    if (std::exchange(asking_, true)) return;
    how_.ask_era([weak = weak_from_this()](std::optional<era> which, const std::string& why) {
        if (const auto self = weak.lock()) self->learnt_era(which, why);
    });
}

void relay::handshake_over(const relayed_call& initialize) {
    shaken_ = shaken_ || initialize.end() == call_end::completed;
    if (shaken_) return;
    if (initialize.end() == call_end::timed_out) lane_.give_up_start("the server did not answer initialize");
    if (how_.on_refused) how_.on_refused();
}

void relay::on_notification(const envelope& message) {
    if (dialect_) dialect_->on_notification(message);
}

// From the server.

void relay::on_server_request(upstream& from, detail::incoming_request request, const envelope& message) {
    if (dialect_) return dialect_->on_server_request(from, std::move(request), message);
    refuse_server_request(from, std::move(request), message);
}

void relay::on_server_notification(upstream& from, const envelope& message) {
    if (dialect_) dialect_->on_server_notification(from, message);
}

void relay::on_server_ready(upstream& which, bool shared) {
    if (dialect_) dialect_->on_server_ready(which, shared);
}

}  // namespace andon::gateway
