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
    // Modern hosts of a server whose era is not known wait until it is; everything else begins as if both spoke alike.
    if (how_.stateless && how_.ask_era) return;
    dialect_ = std::make_shared<passing>(surroundings(), [this](relayed_call& initialize, const envelope& refused) {
        return speak_modern_to_server(initialize, refused);
    });
}

relay::~relay() = default;

peer_settings relay::host_settings() const {
    const server_policy* const policy = &server_->policy;
    return {.role = peer_role::server,
            .stateless = how_.stateless,
            .relays = true,
            .options_for = [policy](const envelope& message) {
                begin_options options;
                // DIR-4: whatever the host says, its handshake goes on.
                options.peer_may_cancel = message.method != "initialize";
                if (message.method == "subscriptions/listen" || !options.peer_may_cancel) return options;
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
    around_->loop.post([self = shared_from_this(), cause, why = std::string(why)] {
        self->around_->loop.post([self, cause, why] { self->host_->close(cause, why); });
    });
}

void relay::on_ended(std::string_view why) {
    static_cast<void>(why);
    // The cancels of what was in flight are on their way to the servers, which are let go of behind them.
    around_->loop.post([self = shared_from_this()] {
        self->lane_.close();
        if (self->how_.on_end) self->how_.on_end();
    });
}

dialect_surroundings relay::surroundings() {
    return {.host = host_, .way = lane_, .desk = *desk_, .loop = around_->loop, .stateless = how_.stateless};
}

// Which dialect.

bool relay::speak_modern_to_server(relayed_call& initialize, const envelope& refused) {
    if (!how_.ask_era) {
        if (how_.on_refused) around_->loop.post(how_.on_refused);
        return false;
    }
    const auto translates = std::make_shared<legacy_host>(surroundings());
    const auto failed = [loop = &around_->loop, told = how_.on_refused] {
        if (told) loop->post(told);
    };
    if (!legacy_host::shake_hands(translates, initialize, std::string(refused.raw_error), failed)) return false;
    // We are inside the other one.
    around_->loop.post([self = shared_from_this(), old = std::exchange(dialect_, translates)] {});
    return true;
}

void relay::learnt_era(std::optional<era> which) {
    asking_ = false;
    const auto waiting = std::exchange(undecided_, {});
    if (which && *which == era::legacy) {
        lane_.use_one_process();  // its session is one
        dialect_ = std::make_shared<modern_host>(surroundings());
    } else if (which) {
        dialect_ = std::make_shared<passing>(surroundings(), nullptr);
    }
    for (const auto& call : waiting) {
        if (dialect_) {
            dialect_->on_request(call);
        } else {
            call->fail(error_code::internal_error, server_->name + " could not be started, or does not answer",
                       call_end::refused);
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
        how_.stateless ? std::make_shared<call_origin>(call_origin{server_->name, visible_text(request.counts_for, 64)})
                       : origin_;
    const auto call = std::make_shared<relayed_call>(*desk_, host_, std::move(request), message, origin, policy);
    call->begin();
    if (dialect_) return dialect_->on_request(call);
    undecided_.push_back(call);
    if (std::exchange(asking_, true)) return;
    how_.ask_era([weak = weak_from_this()](std::optional<era> which) {
        if (const auto self = weak.lock()) self->learnt_era(which);
    });
}

void relay::on_notification(const envelope& message) {
    if (dialect_) dialect_->on_notification(message);
}

// From the server.

void relay::on_server_request(upstream& from, detail::incoming_request request, const envelope& message) {
    if (dialect_) dialect_->on_server_request(from, std::move(request), message);
}

void relay::on_server_notification(upstream& from, const envelope& message) {
    if (dialect_) dialect_->on_server_notification(from, message);
}

void relay::on_server_ready(upstream& which) {
    if (dialect_) dialect_->on_server_ready(which);
}

}  // namespace andon::gateway
