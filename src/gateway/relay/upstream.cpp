#include "gateway/relay/upstream.hpp"

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <system_error>

#include "andon/core/visible_text.hpp"
#include "gateway/relay/call_desk.hpp"
#include "gateway/relay/server_output.hpp"
#include "process/orphans.hpp"
#include "transport/clock.hpp"
#include "transport/http/http_client_transport.hpp"

namespace andon::gateway {
namespace {

constexpr auto leaves_within = std::chrono::seconds(2);                 // once its input has ended
constexpr auto report_follows_within = std::chrono::milliseconds(100);  // the end of its output
constexpr auto orphans_end_within = std::chrono::milliseconds(5);       // of being killed, one generation
constexpr int most_orphan_rounds = 400;                                 // for what cannot be killed
constexpr auto rest_is_read_within = std::chrono::milliseconds(250);    // of its output, once it has exited

constexpr std::string_view gone = "the server is gone";

int duplicate(int fd) {
    const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (copy < 0) throw std::system_error(errno, std::generic_category(), "the server's pipes");
    return copy;
}

std::string from_environment(const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr) throw std::runtime_error("the environment variable " + name + " is not set");
    return value;
}

http_client_options options_of(const url_target& target) {
    http_client_options options;
    if (!target.bearer_env.empty()) options.bearer_token = from_environment(target.bearer_env);
    options.headers.assign(target.headers.begin(), target.headers.end());
    for (const auto& [header, variable] : target.headers_env) {
        options.headers.emplace_back(header, from_environment(variable));
    }
    return options;
}

std::string words_for(const exit_status& how) {
    return how.signalled ? "was ended by signal " + std::to_string(how.code)
                         : "exited with status " + std::to_string(how.code);
}

class asked final : public detail::raw_listener {
public:
    explicit asked(std::function<void(const envelope*)> then) : then_(std::move(then)) {}
    void on_progress(const envelope& /*message*/) override {}
    void on_answer(const envelope& message) override { tell(&message); }
    void on_ended(const envelope& /*message*/) override { tell(nullptr); }
    void on_given_up(const call_outcome& /*outcome*/) override { tell(nullptr); }

private:
    void tell(const envelope* answer) {
        if (const auto then = std::exchange(then_, {})) then(answer);
    }
    std::function<void(const envelope*)> then_;
};

}  // namespace

upstream::upstream(std::shared_ptr<detail::conversation::surroundings> around, call_desk& desk,
                   const server_config& server, std::optional<peer_settings> own, connector instead,
                   std::shared_ptr<own_rates> computes)
    : around_(std::move(around)),
      desk_(&desk),
      server_(&server),
      own_handshake_(own.has_value()),
      instead_(std::move(instead)),
      computes_(std::move(computes)),
      patience_(around_->loop),
      excuses_(around_->loop),
      its_end_(around_->loop),
      settings_(own ? std::move(*own) : peer_settings{.relays = true}) {
    settings_.role = peer_role::client;
}

upstream::~upstream() = default;

upstream::connector upstream::to_url(const server_config& server) {
    const auto* const url = std::get_if<url_target>(&server.target);
    if (url == nullptr) return {};
    try {
        auto to =
            std::make_shared<const detail::http_target>(url->url, url->ca_file, detail::http_target::usually_good_for);
        return [url, to = std::move(to)] {
            return std::make_unique<detail::http_client_transport>(to, options_of(*url),
                                                                   transport_limits{.lone_surrogates = true});
        };
    } catch (...) {
        // Whoever calls this server is told; the others are not to be without theirs.
        return [failed = std::current_exception()]() -> std::unique_ptr<transport> { std::rethrow_exception(failed); };
    }
}

std::unique_ptr<transport> upstream::connect() {
    if (instead_) return instead_();
    if (std::holds_alternative<url_target>(server_->target)) return to_url(*server_)();
    const auto& run = std::get<command_target>(server_->target);
    command what{.argv = run.argv, .directory = run.directory};
    what.environment.assign(run.environment.begin(), run.environment.end());
    const auto& log = desk_->server_log();
    tree_ = std::make_unique<process_tree>(
        process_tree::start(what, {.in = stdio::pipe, .out = stdio::pipe, .err = log ? stdio::pipe : stdio::inherit}));
    pid_ = tree_->pid();
    if (log) {
        said_ = std::make_unique<server_output>(around_->loop, detail::descriptor(duplicate(tree_->err())), *log,
                                                server_->name);
        tree_->close_err();
    }
    // Its streams stay open here, too: see hang_up().
    const int from = duplicate(tree_->out());
    // One that does not read is not waited for at its end: the loop is everybody's.
    return descriptor_transport(from, duplicate(tree_->in()), {.linger = {}});
}

void upstream::start(events& told, const handshake_memory& memory) {
    events_ = &told;
    started_ = now();
    auto over = connect();
    watch_ = std::make_unique<stop_watch>(
        around_->loop,
        stop_watch::surroundings{.running = [this] { return running_.size() + (makes_tasks_ ? 1U : 0U); },
                                 .changes = [this] { return changes_; },
                                 .guardian = pid_ == 0 ? 0 : detail::guardian_of(pid_),
                                 .ignored =
                                     [this](relayed_call& call) {
                                         if (events_ != nullptr) events_->on_ignored(*this, call);
                                     },
                                 .computes = computes_});
    talk_ = std::make_shared<detail::conversation>(around_, settings_, std::move(over), *this);
    talk_->name_peer(server_->name + ": from the server");
    if (tree_) {
        reports_ = std::make_unique<detail::event_loop::watch>(around_->loop, tree_->report_fd());
        desk_->process_began();
        until_reaped_ = shared_from_this();
        listen_to_process();
    }
    talk_->open();
    if (own_handshake_) return;
    if (memory.raw_initialize.empty() && memory.agreed) talk_->adopt(*memory.agreed);
    repeat_handshake(memory);
}

void upstream::listen_to_process() {
    reports_->when(detail::event_loop::readiness::readable, [this] { process_reported(); });
}

void upstream::process_reported() {
    const auto self = shared_from_this();
    tree_->poll();
    exited_ = tree_->exited();
    if (tree_->finished()) {
        if (tree_->guardian_lost()) {
            if (why_gone_.empty()) why_gone_ = "the server was killed: its guardian process is gone";
            if (detail::end_orphans() != 0 && ++orphan_rounds_ < most_orphan_rounds) {
                reports_.reset();
                return its_end_.set(now() + orphans_end_within, [this] { process_reported(); });
            }
        }
        processes_killed_ = tree_->killed();
        reports_.reset();
        tree_.reset();
    } else {
        listen_to_process();
        if (!exited_) return;
    }
    if (state_ != state::gone) return read_the_rest();
    if (awaits_report_) return conclude();
    if (!tree_) return reaped();
    tree_->kill();  // the command is gone; what it has left behind is not to go on without it
    insist();
}

/// That what was asked to end does. It has not reported its end yet: that timer is free.
void upstream::insist() {
    if (!tree_ || tree_->finished()) return;
    tree_->insist();
    its_end_.set(now() + process_tree::insist_every, [this] { insist(); });
}

/// While the host does not take what is there already, it stays in the pipe.
void upstream::read_the_rest() {
    if (held_) return;
    patience_.set(now() + rest_is_read_within, [this] { talk_->close(cancel_cause::disconnect, gone); });
}

// A host that reads more slowly than the server writes.

void upstream::on_crowded(bool crowded) {
    crowded_ = crowded;
    if (events_ != nullptr) events_->on_crowded(*this);
}

void upstream::hold(bool wanted) {
    hold_wanted_ = wanted;
    follow_hold();
}

/// What a server says while it starts is for us.
void upstream::follow_hold() {
    const bool now_held = hold_wanted_ && state_ == state::ready;
    if (std::exchange(held_, now_held) == now_held || state_ == state::gone) return;
    talk_->hold(held_);
    watch_->hold(held_);
    excused_ = time_point::max();
    if (held_) return excuse_silence();
    excuses_.clear();
    if (exited_) read_the_rest();
}

/// A sign of life may wait in the pipe: until it is read the time without one does not pass.
void upstream::excuse_silence() {
    excused_ = time_point::max();
    duration next = std::chrono::seconds(1);
    for (relayed_call* const call : running_) {
        call->seems_alive();
        if (call->policy().timeout) next = std::min(next, *call->policy().timeout / 2);
    }
    excuse_within(next);
}

void upstream::excuse_within(duration span) {
    const time_point when = now() + std::max<duration>(span, std::chrono::milliseconds(1));
    if (when >= excused_) return;
    excused_ = when;
    excuses_.set(when, [this] { excuse_silence(); });
}

// What the last process was told, once more.

std::shared_ptr<detail::outgoing_call> upstream::ask(std::string method, std::string raw_params,
                                                     std::function<void(const envelope*)> then,
                                                     const time_limits& limits) {
    return talk_->request({.method = std::move(method),
                           .at_once = true,
                           .raw = std::make_shared<asked>(std::move(then)),
                           .raw_params = std::move(raw_params),
                           .id = static_cast<std::int64_t>(desk_->next_number())},
                          limits);
}

void upstream::repeat_handshake(const handshake_memory& memory) {
    if (memory.raw_initialize.empty()) return become_ready();
    const auto then = [weak = weak_from_this(), &memory](const envelope* answer) {
        const auto self = weak.lock();  // it may be gone before it has answered
        if (self && self->events_ != nullptr) self->answered_handshake(answer, memory);
    };
    static_cast<void>(talk_->request({.method = "initialize",
                                      .cancellable = false,
                                      .at_once = true,
                                      .raw = std::make_shared<asked>(then),
                                      .raw_params = memory.raw_initialize,
                                      .id = static_cast<std::int64_t>(desk_->next_number())},
                                     {.maximum = server_->start_timeout}));
}

void upstream::answered_handshake(const envelope* answer, const handshake_memory& memory) {
    if (state_ != state::starting) return;
    const auto result =
        answer != nullptr && answer->kind == message_kind::result ? object_from_json(answer->raw_result) : std::nullopt;
    const json::value* const version = result ? result->if_contains("protocolVersion") : nullptr;
    if (version == nullptr || !version->is_string()) return give_up("the server did not agree to its handshake again");
    // One that is newer than we are is the business of the two.
    talk_->adopt(revision_from(std::string_view(version->get_string())).value_or(newest_legacy));
    raw_initialize_result_ = answer->raw_result;
    if (memory.initialized) talk_->send(notification_message("notifications/initialized", {}));
    if (!memory.raw_log_level.empty()) ask("logging/setLevel", memory.raw_log_level, {});
    for (const std::string& each : memory.subscribed) ask("resources/subscribe", each, {});
    become_ready();
}

void upstream::become_ready() {
    if (state_ != state::starting || watch_->looks_at_start([this] { become_ready(); })) return;
    state_ = state::ready;
    watch_->ready();
    follow_hold();
    // Not here: whoever starts us is still at it.
    around_->loop.post([self = shared_from_this()] {
        if (self->state_ == state::ready && self->events_ != nullptr) self->events_->on_ready(*self);
    });
}

void upstream::on_established() { become_ready(); }

void upstream::on_request(detail::incoming_request request, const envelope& message) {
    if (events_ != nullptr) events_->on_server_request(*this, std::move(request), message);
}

void upstream::heard_of_task(const std::string& id) {
    const auto found = awaiting_task_.find(id);
    if (found == awaiting_task_.end()) return;
    for (relayed_call* const each : found->second) each->task_goes_on();
}

void upstream::on_notification(const envelope& message) {
    if (!awaiting_task_.empty() && message.method == "notifications/tasks/status") {
        heard_of_task(task_named_in(message.raw_params));
    }
    if (events_ != nullptr) events_->on_server_notification(*this, message);
}

void upstream::expect_progress(std::int64_t token, progress_of_task of) {
    tasks_.emplace(token, std::move(of));
    oldest_task_.push_back(token);
    if (oldest_task_.size() <= most_tasks) return;
    tasks_.erase(oldest_task_.front());
    oldest_task_.pop_front();
}

void upstream::on_unclaimed(const envelope& message) {
    watch_->heard(message);
    if (tasks_.empty() || message.kind != message_kind::notification) return;
    std::string storage;
    const auto token = id_from_json(message.raw_progress_token, storage);
    const auto found = token && !token->is_string() ? tasks_.find(token->number()) : tasks_.end();
    if (found != tasks_.end()) heard_of_task(found->second.task);
    const auto host = found != tasks_.end() ? found->second.host.lock() : nullptr;
    if (!host) return;
    host->send(on_one_line(whole_notification_message(
        message.method, spliced(message.raw_params, message.raw_progress_token, found->second.raw_token))));
}

// The end.

void upstream::on_ended(std::string_view why) {
    if (state_ == state::gone) return;
    // Whoever is told lets go of us, and so of what is being said, and of the conversation that is saying it.
    around_->loop.post([self = shared_from_this()] {});
    state_ = state::gone;
    if (why_gone_.empty()) hang_up();
    why_ended_ = why == gone ? std::string(gone) : std::string(gone) + ": " + visible_text(why, 256);
    if (talk_->protocol().failed()) why_gone_ = visible_text(why, 512);  // that was its end, and not its exit
    awaits_report_ = true;
    if (!why_gone_.empty() || !tree_ || exited_) return conclude();
    patience_.set(now() + report_follows_within, [this] { conclude(); });
}

/// One that is being killed is not to leave by itself meanwhile, by the end of its input or of whoever reads it: what
/// was killed is counted. For all others their streams end with the conversation.
void upstream::hang_up() {
    if (!tree_) return;
    tree_->close_in();
    tree_->close_out();
}

void upstream::conclude() {
    const auto self = shared_from_this();
    excuses_.clear();
    awaits_report_ = false;
    patience_.clear();
    if (why_gone_.empty()) why_gone_ = exited_ ? "the server " + words_for(*exited_) : why_ended_;
    if (tree_) tree_->kill();
    watch_->hold(true);  // what is seen of it from now on is its end
    insist();
    fail_running(why_gone_);
    if (events_ != nullptr) std::exchange(events_, nullptr)->on_gone(*this, why_gone_);
    if (!tree_) reaped();
}

void upstream::began(relayed_call& call) {
    if (call.method() == "subscriptions/listen") {
        listening_.insert(&call);
    } else {
        if (running_.empty()) watch_->pause_ends();
        if (!running_.insert(&call).second) return;
        ++changes_;
        if (!call.awaited_task().empty()) awaiting_task_[call.awaited_task()].insert(&call);
    }
    if (held_ && call.policy().timeout) excuse_within(*call.policy().timeout / 2);
}

void upstream::ended(relayed_call& call) {
    listening_.erase(&call);
    if (running_.erase(&call) == 0) return;
    ++changes_;
    if (const auto awaiting = awaiting_task_.find(call.awaited_task()); awaiting != awaiting_task_.end()) {
        awaiting->second.erase(&call);
        if (awaiting->second.empty()) awaiting_task_.erase(awaiting);
    }
    if (running_.empty()) watch_->pause_begins();
}

void upstream::fail_running(std::string_view why) {
    auto running = running_;  // each takes itself out
    running.insert(listening_.begin(), listening_.end());
    for (relayed_call* const call : running) call->shared_from_this()->server_gone(why);
}

void upstream::reaped() {
    const auto self = std::exchange(until_reaped_, nullptr);
    patience_.clear();
    if (watch_->waiting() != 0 && processes_killed_ != 0) desk_->killed(server_->name, processes_killed_);
    watch_->gone(killed_ ? stop_evidence::killed : stop_evidence::exited, processes_killed_);
    if (self) desk_->process_ended();
}

void upstream::kill(std::string why) {
    if (state_ == state::gone) return;
    killed_ = true;
    give_up(std::move(why));
}

void upstream::give_up(std::string why) {
    if (state_ == state::gone) return;
    why_gone_ = std::move(why);
    if (pid_ != 0) {
        if (tree_) tree_->kill();
        insist();
        return talk_->close(cancel_cause::disconnect, why_gone_);
    }
    const auto self = shared_from_this();
    state_ = state::gone;
    conclude();
    say_goodbye(cancel_cause::disconnect);
}

/// To a server behind a URL, while the loop goes on: it is everybody's. andon does not leave before that.
void upstream::say_goodbye(cancel_cause cause) {
    desk_->process_began();
    // Later: the cancels of what was in flight may have been posted before this, and the server is to hear of them.
    around_->loop.post([self = shared_from_this(), cause] {
        self->talk_->leave([self, cause] {
            self->talk_->close(cause, self->why_gone_);
            self->desk_->process_ended();
        });
    });
}

void upstream::let_go(std::optional<time_point> killed_at) {
    events_ = nullptr;
    if (state_ == state::gone) return;
    state_ = state::gone;
    excuses_.clear();
    // Later: the cancels of what the host had in flight were posted before this, and the server is to hear of them.
    around_->loop.post([self = shared_from_this()] {
        self->talk_->leave([self] {
            self->talk_->close(cancel_cause::shutdown, "the host is gone");
            self->watch_->is_deaf();
            self->hang_up();
            self->fail_running("the server was left");
            if (self->pid_ != 0) return;
            self->reaped();
            self->desk_->process_ended();
        });
    });
    if (pid_ == 0) return desk_->process_began();  // andon does not leave before it has said goodbye
    if (!tree_) return;
    patience_.set(killed_at.value_or(now() + leaves_within), [this, asks = !killed_at] {
        killed_ = true;
        watch_->hold(true);
        if (tree_ && asks) tree_->terminate();
        if (tree_ && !asks) tree_->kill();
        insist();
    });
}

}  // namespace andon::gateway
