#include "client/subscription_state.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "transport/clock.hpp"

namespace andon {

std::string_view to_string(subscription_end::by who) noexcept {
    switch (who) {
        case subscription_end::by::us: return "us";
        case subscription_end::by::server: return "server";
        case subscription_end::by::connection: return "connection";
        case subscription_end::by::refusal: return "refusal";
    }
    return "?";
}

subscription::~subscription() {
    if (state_) state_->end("nobody listens any more");
}

json::object subscription::agreed() const { return state_->wait_until_listening(); }
bool subscription::end(std::string_view reason) { return state_->end(reason); }
bool subscription::done() const noexcept { return state_->done(); }
subscription_end subscription::get() const { return state_->wait_until_over(); }

namespace detail {
namespace {

constexpr std::string_view meta_id = "io.modelcontextprotocol/subscriptionId";

json::array texts(const std::vector<std::string>& all) { return json::array(all.begin(), all.end()); }

/// How the request that a subscription is has ended.
subscription_end end_from(const call_outcome& outcome, bool session_lives) {
    using by = subscription_end::by;
    switch (outcome.status) {
        case call_status::completed: {
            std::string reason = "the server has ended it";
            const json::value* const why =
                outcome.result.is_object() ? outcome.result.get_object().if_contains("reason") : nullptr;
            if (why != nullptr && why->is_string()) reason = std::string(why->get_string());
            return {by::server, true, std::move(reason)};
        }
        case call_status::failed: return {by::refusal, false, outcome.message, outcome.code};
        case call_status::cancelled: return {by::us, false, outcome.message};
        case call_status::timed_out:
        case call_status::disconnected: break;
    }
    return {by::connection, session_lives, outcome.message};
}

}  // namespace

subscription_state::subscription_state(std::shared_ptr<client_session> in, subscription_filter what,
                                       subscription_options how)
    : session_(std::move(in)),
      filter_(std::move(what)),
      options_(std::move(how)),
      uris_(filter_.uris.begin(), filter_.uris.end()),
      tasks_(filter_.tasks.begin(), filter_.tasks.end()),
      pause_timer_(session_->loop()),
      pause_(options_.first_pause) {}

bool subscription_state::modern() const noexcept { return policy_of(session_->server().speaks()).subscriptions_listen; }

// What its handle asks.

void subscription_state::start() {
    if (!session_->talk().begin_own_work("a subscription", {})) {  // there is no loop any more
        const std::lock_guard lock(mutex_);
        over_ = subscription_end{by::connection, false, "the client was closed"};
        return;
    }
    session_->talk().post([self = shared_from_this()] { self->begin(); });
}

bool subscription_state::done() const {
    const std::lock_guard lock(mutex_);
    return over_.has_value();
}

bool subscription_state::end(std::string_view reason) {
    {
        const std::lock_guard lock(mutex_);
        if (over_) return false;
        over_ = subscription_end{by::us, false, std::string(reason)};
        changed_.notify_all();
    }
    session_->talk().post([self = shared_from_this()] {
        self->stop();
        if (!self->options_.on_end) return;
        const subscription_end how = self->wait_until_over();
        carefully(self->session_->talk(), "on_end", [&] { self->options_.on_end(how); });
    });
    return true;
}

json::object subscription_state::wait_until_listening() {
    std::unique_lock lock(mutex_);
    if (!agreed_ && !over_ && here()) throw std::logic_error("subscription.agreed() blocks: use on_listening");
    changed_.wait(lock, [&] { return agreed_ || over_; });
    if (agreed_) return *agreed_;
    throw std::runtime_error("the subscription has ended: " + over_->reason);
}

subscription_end subscription_state::wait_until_over() {
    std::unique_lock lock(mutex_);
    if (!over_ && here()) throw std::logic_error("subscription.get() blocks: use on_end");
    changed_.wait(lock, [&] { return over_.has_value(); });
    return *over_;
}

// Its life, on the loop.

void subscription_state::begin() {
    if (done()) return;
    auto work = session_->talk().begin_own_work("a subscription", {});
    if (!work) return over({by::connection, false, std::string(to_string(work.refusal))});
    work_ = std::move(work.request);
    token_ = work_.token();
    callback_.emplace(token_, cancelled{this});
    if (!modern()) session_->add(*this);
    modern() ? listen() : subscribe();
}

void subscription_state::listen() {
    json::object wants;
    if (filter_.tools) wants["toolsListChanged"] = true;
    if (filter_.prompts) wants["promptsListChanged"] = true;
    if (filter_.resources) wants["resourcesListChanged"] = true;
    if (!filter_.uris.empty()) wants["resourceSubscriptions"] = texts(filter_.uris);
    if (!filter_.tasks.empty()) wants["taskIds"] = texts(filter_.tasks);
    auto asked = session_->talk().request({.method = "subscriptions/listen",
                                           .params = {{"notifications", std::move(wants)}},
                                           .progress_restarts_idle = false},
                                          {});
    id_ = asked->id();
    session_->add(*this, id_);
    asked_ = {asked};
    const auto go_on = [self = shared_from_this(), asked] {
        if (asked->id() == self->id_) self->ended(end_from(asked->outcome(), !self->session_->talk().closed()));
    };
    if (!asked->then(go_on)) session_->loop().post(go_on);
}

/// Up to 2025-11-25: what is told of lists every session hears.
void subscription_state::subscribe() {
    if (!filter_.tasks.empty()) return over({by::refusal, false, "this revision tells of tasks without being asked"});
    unanswered_ = filter_.uris.size();
    if (unanswered_ == 0) return listening({});
    for (const std::string& uri : filter_.uris) {
        auto asked = session_->talk().request({.method = "resources/subscribe", .params = {{"uri", uri}}},
                                              {.idle = session_->options().timeout});
        asked_.push_back(asked);
        const auto go_on = [self = shared_from_this(), asked] {
            if (!asked->outcome().completed()) {
                self->ended(end_from(asked->outcome(), !self->session_->talk().closed()));
            } else if (--self->unanswered_ == 0 && !self->done()) {
                self->listening({{"resourceSubscriptions", texts(self->filter_.uris)}});
            }
        };
        if (!asked->then(go_on)) session_->loop().post(go_on);
    }
}

void subscription_state::listening(json::object agreed) {
    is_listening_ = true;
    listening_since_ = now();
    {
        const std::lock_guard lock(mutex_);
        agreed_ = agreed;
        changed_.notify_all();
    }
    if (options_.on_listening) carefully(session_->talk(), "on_listening", [&] { options_.on_listening(agreed); });
}

bool subscription_state::wanted(std::string_view method, const json::object& params) const {
    if (method == "notifications/tools/list_changed") return filter_.tools;
    if (method == "notifications/prompts/list_changed") return filter_.prompts;
    if (method == "notifications/resources/list_changed") return filter_.resources;
    if (method == "notifications/tasks") {
        const json::value* const id = params.if_contains("taskId");
        return id != nullptr && id->is_string() && tasks_.contains(std::string(id->get_string()));
    }
    if (method != "notifications/resources/updated") return false;
    const json::value* const uri = params.if_contains("uri");
    return uri != nullptr && uri->is_string() && uris_.contains(std::string(uri->get_string()));
}

std::optional<std::int64_t> subscription_state::request_of(const json::object& params) {
    const json::value* const meta = params.if_contains("_meta");
    if (meta == nullptr || !meta->is_object()) return std::nullopt;
    const json::value* const id = meta->get_object().if_contains(meta_id);
    return id != nullptr && id->is_int64() ? std::optional(id->get_int64()) : std::nullopt;
}

void subscription_state::take(std::string_view method, const json::object& params) {
    if (done()) return;
    if (!modern()) {
        if (is_listening_ && wanted(method, params)) tell(method, params);
        return;
    }
    if (method == "notifications/subscriptions/acknowledged") {
        const json::value* const agreed = params.if_contains("notifications");
        return listening(agreed != nullptr && agreed->is_object() ? agreed->get_object() : json::object());
    }
    // SUB-3: not before the acknowledgement, and nothing that was not asked for.
    if (is_listening_ && wanted(method, params)) tell(method, params);
}

void subscription_state::tell(std::string_view method, const json::object& params) {
    if (options_.on_event) carefully(session_->talk(), "on_event", [&] { options_.on_event(method, params); });
}

void subscription_state::ended(subscription_end how) {
    if (done() || asked_.empty()) return;  // one of several was enough
    // One that lasted was well; one that ends again and again is not asked for in ever the same haste.
    if (is_listening_ && now() - listening_since_ > 10 * pause_) pause_ = options_.first_pause;
    is_listening_ = false;
    take_back(how.reason);
    session_->remove(std::exchange(id_, 0));
    if (!options_.listen_again || !how.again) return over(std::move(how));
    session_->talk().log(log_level::info,
                         "a subscription ended by " + std::string(to_string(how.who)) + ": listening again");
    pause_timer_.set(now() + pause_, [this] { modern() ? listen() : subscribe(); });
    pause_ = std::min(options_.longest_pause, 2 * pause_);
}

void subscription_state::over(subscription_end how) {
    {
        const std::lock_guard lock(mutex_);
        if (over_) return;
        over_ = how;
        changed_.notify_all();
    }
    stop();
    if (options_.on_end) carefully(session_->talk(), "on_end", [&] { options_.on_end(how); });
}

void subscription_state::stop() {
    pause_timer_.clear();
    session_->remove(*this);
    session_->remove(id_);
    callback_.reset();
    take_back(over_->reason);
    is_listening_ = false;
    work_.finish(now());
}

/// What was asked for and, up to 2025-11-25, what the server may have agreed to: unless another subscription wants it.
void subscription_state::take_back(std::string_view reason) {
    const auto all = std::exchange(asked_, {});
    for (const auto& asked : all) asked->cancel(cancel_cause::peer, reason);
    if (modern() || all.empty() || session_->talk().closed()) return;
    for (const std::string& uri : uris_) {
        if (session_->another_listens_to(uri, *this)) continue;
        static_cast<void>(session_->talk().request({.method = "resources/unsubscribe", .params = {{"uri", uri}}},
                                                   {.idle = session_->options().timeout}));
    }
}

void subscription_state::on_cancel() noexcept {
    const cancel_cause cause = token_.cause();
    session_->talk().post([self = shared_from_this(), cause] {
        self->over({cause == cancel_cause::disconnect ? by::connection : by::us, false,
                    std::string(self->token_.why().text())});
    });
}

}  // namespace detail
}  // namespace andon
