#include "gateway/relay/era_probe.hpp"

#include <algorithm>
#include <utility>

#include "andon/core/visible_text.hpp"
#include "gateway/relay/modern_host.hpp"
#include "transport/clock.hpp"

namespace andon::gateway {
era_probe::~era_probe() {
    if (asked_) asked_->let_go();
}

void era_probe::ask(told then) {
    if (known_) return then(known_, {});
    if (now() < next_try_) return then(std::nullopt, why_);
    waiting_.push_back(std::move(then));
    if (asked_) return;
    peer_settings own{.implementation = {{"name", "andon"}, {"version", ANDON_VERSION}}};
    own.probe_timeout = std::min(own.probe_timeout, server_->start_timeout / 2);
    own.handshake_timeout = server_->start_timeout - own.probe_timeout;
    asked_ = std::make_shared<upstream>(around_, *desk_, *server_, std::move(own), instead_);
    try {
        asked_->start(*this, {});
    } catch (const std::exception& error) {
        const std::string why = visible_text(error.what(), 512);
        around_->log(log_level::error, server_->name + " cannot be started: " + why);
        asked_.reset();
        settle(std::nullopt, why);
    }
}

void era_probe::on_ready(upstream& which) {
    known_ = era_of(which.talk().protocol().speaks());
    const auto asked = std::exchange(asked_, nullptr);
    asked->let_go();
    settle(known_);
}

void era_probe::on_server_request(upstream& which, detail::incoming_request request, const envelope& message) {
    refuse_server_request(which, std::move(request), message);
}

void era_probe::on_gone(upstream& /*which*/, const std::string& why) {
    around_->log(log_level::warning, server_->name + ": " + why);
    const auto asked = std::exchange(asked_, nullptr);
    settle(std::nullopt, why);
}

void era_probe::settle(std::optional<era> which, const std::string& why) {
    if (!which) {
        pause_ = pause_ == duration() ? server_->restart_first : std::min(pause_ * 2, server_->restart_most);
        next_try_ = now() + pause_;
        why_ = why;
    }
    for (const auto& each : std::exchange(waiting_, {})) each(which, why);
}

}  // namespace andon::gateway
