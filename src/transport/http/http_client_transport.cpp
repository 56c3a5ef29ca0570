#include "transport/http/http_client_transport.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "andon/core/visible_text.hpp"
#include "andon/wire/message.hpp"
#include "transport/clock.hpp"

namespace andon {
namespace detail {
namespace {

constexpr auto settles_within = std::chrono::seconds(10);
constexpr auto listens_within = std::chrono::milliseconds(250);  // some answer a GET with their first event only
constexpr auto renews_within = std::chrono::seconds(30);
constexpr std::size_t longest_session_id = 4'096;

bool is_session_id(std::string_view text) {
    return !text.empty() && text.size() <= longest_session_id &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

/// Hears nothing: for what is said on leaving.
class nobody final : public exchange::listener {
    void on_head(const response_reader&) override {}
    void on_body(std::string_view) override {}
    void on_end() override {}
    void on_lost(std::string_view) override {}
};

}  // namespace

/// What close() does in one go, while the loop goes on:
///
///     posting ──what was on its way has arrived, or half of the time is over──► removing ──the answer, or all of it──►
///     over
///
/// The session is removed last, or the server might not know what the rest was about.
class http_client_transport::farewell final : private exchange::listener {
public:
    farewell(http_client_transport& of, std::function<void()> done)
        : of_(&of), done_(std::move(done)), until_(now() + of.limits_.linger), timer_(of.loop()) {
        timer_.set(until_ - of.limits_.linger / 2, [this] { remove(); });
        check();
    }
    ~farewell() {
        if (request_) request_->abandon();
        tell();
    }
    farewell(const farewell&) = delete;
    farewell& operator=(const farewell&) = delete;

    /// Something may have arrived.
    void check() {
        if (removing_ || !of_->posts_.empty()) return;
        // Not here: whoever forgets a message is inside it.
        timer_.set(now(), [this] { remove(); });
    }

private:
    void remove() {
        removing_ = true;
        const session_headers session = std::exchange(of_->session_, {});
        if (session.id.empty()) return end();
        timer_.set(until_, [this] { end(); });
        request_ = of_->pool().start({.bytes = of_->writer_.remove(session), .in = exchange::lane::apart}, *this);
    }
    void end() {
        timer_.clear();
        if (request_) request_->abandon();
        of_->abandon_all();
        tell();
    }
    void tell() {
        if (auto done = std::exchange(done_, {})) of_->loop().post(std::move(done));
    }
    void on_head(const response_reader&) override {}
    void on_body(std::string_view) override {}
    void on_end() override { end(); }
    void on_lost(std::string_view) override { end(); }

    http_client_transport* of_;
    std::function<void()> done_;
    time_point until_;
    event_loop::timer timer_;
    std::shared_ptr<exchange> request_;
    bool removing_ = false;
};

http_client_transport::http_client_transport(std::shared_ptr<const http_target> to, http_client_options options,
                                             const transport_limits& limits)
    : limits_(limits),
      options_(std::move(options)),
      writer_(to->where(), options_),
      alive_(std::make_shared<http_client_transport*>(this)),
      reader_(envelope_limits{.lone_surrogates = limits.lone_surrogates}) {
    if (options_.max_connections == 0) throw std::invalid_argument("max_connections: at least one is needed");
    static_cast<void>(to->addresses());  // or it throws
    pool_settings_.to = std::move(to);
    pool_settings_.most = options_.max_connections;
    pool_settings_.connect_timeout = options_.connect_timeout;
    pool_settings_.idle_timeout = options_.idle_timeout;
}

http_client_transport::~http_client_transport() { *alive_ = nullptr; }

void http_client_transport::open(event_loop& loop, events& to) {
    loop_ = &loop;
    events_ = &to;
    pool_ = std::make_unique<connection_pool>(loop, pool_settings_);
    gate_timer_ = std::make_unique<event_loop::timer>(loop);
}

bool http_client_transport::send(std::string_view line, const cancel_token* owner) {
    if (closed_ || (owner != nullptr && owner->cancelled())) return false;
    const std::lock_guard lock(mutex_);
    const std::size_t before = *waiting_bytes_;
    if (before == 0) largest_ = 0;
    // One line, however large, says nothing of whether the server reads: what counts is the rest.
    if (before > limits_.waiting_hard + largest_) {
        if (std::exchange(overflowed_, true)) return false;
        loop_->post([alive = alive_] {
            if (*alive != nullptr) (*alive)->give_up_on_server();
        });
        return false;
    }
    if (owner != nullptr && before > 0 && before + line.size() > limits_.waiting_soft) return false;
    largest_ = std::max(largest_, line.size());
    queue_.push_back({std::string(line), {waiting_bytes_, line.size()}});
    const bool crowded = *waiting_bytes_ > limits_.waiting_high && !crowded_.exchange(true);
    if (queue_.size() > 1 && !crowded) return true;  // somebody is on the way
    loop_->post([alive = alive_, crowded] {
        http_client_transport* const self = *alive;
        if (self == nullptr) return;
        if (crowded && self->crowded_ && !self->closed_) self->events_->on_crowded(true);
        self->flush();
        self->note_taken();
    });
    return true;
}

void http_client_transport::note_taken() {
    if (!crowded_ || closed_ || *waiting_bytes_ > limits_.waiting_high / 4) return;
    crowded_ = false;
    events_->on_crowded(false);
}

void http_client_transport::hold(bool wanted) {
    if (pool_ && !closed_) pool_->hold(wanted);
}

void http_client_transport::give_up_on_server() {
    if (closed_) return;
    given_up_ = true;
    events_->on_given_up("the server does not take what it is sent");
}

std::vector<outgoing_message> http_client_transport::take_queue() {
    std::vector<queued_line> lines;
    {
        const std::lock_guard lock(mutex_);
        std::swap(lines, queue_);
    }
    std::vector<outgoing_message> messages;
    messages.reserve(lines.size());
    for (queued_line& each : lines) {
        messages.push_back(outgoing_message::from(each.line, reader_));
        messages.back().part = std::move(each.part);
    }
    return messages;
}

void http_client_transport::flush() {
    for (outgoing_message& each : take_queue()) {
        if (!closed_) handle(std::move(each));
    }
}

session_headers http_client_transport::session_for(const outgoing_message& message) const {
    if (message.is_modern()) return {.version = message.version, .mirrored = true};
    if (message.method == "initialize") return {};
    if (!modern_version_.empty()) return {.version = modern_version_, .mirrored = true};
    return session_;
}

void http_client_transport::handle(outgoing_message message) {
    const bool begins = message.method == "initialize" && message.is_request();
    if (begins) initialize_line_ = message.line;
    if (message.is_request()) modern_version_ = message.version;
    if (gate_ != gate::open && !begins && message.method != "notifications/initialized") {
        held_.push_back(std::move(message));
    } else {
        begin(std::move(message));
    }
}

std::shared_ptr<posted_message> http_client_transport::begin(outgoing_message message,
                                                             posted_message::private_answer told) {
    const bool settles = message.method == "notifications/initialized";
    const bool awaited = message.is_request() && !told;
    auto made = std::make_shared<posted_message>(*this, std::move(message), std::move(told));
    posts_.emplace(made.get(), made);
    if (awaited && !made->message().id->is_string()) by_id_[made->message().id->view().number()] = made.get();
    if (settles) {
        gate_ = gate::settling;
        settling_ = made.get();
        gate_timer_->set(now() + settles_within, [this] { settled(); });
    }
    made->post();
    return made;
}

void http_client_transport::cancel_request(std::int64_t id, std::string_view line) {
    const auto is_it = [id](const outgoing_message& each) { return each.id && each.id->view() == request_id_view(id); };
    // What is still in the queue is never sent. It goes out before the rest is looked at, which keeps the order.
    bool unsent = false;
    for (outgoing_message& each : take_queue()) {
        if (is_it(each)) {
            unsent = true;
        } else {
            handle(std::move(each));
        }
    }
    if (unsent || std::erase_if(held_, is_it) != 0) return note_taken();
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return;
    const auto which = found->second->shared_from_this();
    if (which->message().is_modern()) {
        which->abandon();  // SND-4: that is how the server is told
    } else if (which->cancel(line)) {
        post_line(line);  // SND-5
    }
}

void http_client_transport::hand_over(std::string_view line) {
    if (!closed_) events_->on_line(line);
}

void http_client_transport::remark(log_level level, const std::string& text) {
    if (!closed_) events_->on_remark(level, text);
}

void http_client_transport::lost(const outgoing_message& message, std::string_view why) {
    if (closed_) return;
    if (message.id && !message.id->is_string()) return events_->on_request_lost(message.id->view().number(), why);
    const std::string what = message.method.empty() ? "an answer" : visible_text(message.method, 128);
    remark(log_level::warning, what + " could not be sent: " + visible_text(why, 256));
}

void http_client_transport::concluded(posted_message& which) {
    which.taken();
    note_taken();
    if (which.message().is_request() && !which.message().id->is_string()) {
        const auto found = by_id_.find(which.message().id->view().number());
        if (found != by_id_.end() && found->second == &which) by_id_.erase(found);
    }
    if (settling_ == &which) settled();
}

void http_client_transport::forget(posted_message& which) {
    concluded(which);
    std::erase_if(waiting_, [&](const auto& each) { return each.get() == &which; });
    posts_.erase(&which);
    if (leaving_) leaving_->check();
}

// The session of a legacy server.

void http_client_transport::agreed(const envelope& answer, std::string session_id) {
    const auto result = object_from_json(answer.raw_result);
    const json::value* const version = result ? result->if_contains("protocolVersion") : nullptr;
    session_ = {};
    if (version != nullptr && version->is_string()) session_.version = visible_text(version->get_string(), 64);
    if (is_session_id(session_id)) {
        session_.id = std::move(session_id);
    } else if (!session_id.empty()) {
        remark(log_level::warning, "the server's session id cannot be used");
    }
    // A probe that nobody answers any more.
    std::vector<std::shared_ptr<posted_message>> probes;
    for (const auto& [key, each] : posts_) {
        if (each->message().method == "server/discover" && each->message().is_modern()) probes.push_back(each);
    }
    for (const auto& each : probes) each->abandon();
}

/// Before the first call somebody listens: what a server asks on its own stream while nobody does, many throw away.
void http_client_transport::settled() {
    settling_ = nullptr;
    gate_timer_->clear();
    if (closed_ || leaving_ || !options_.listen || listening_) return open_gate();
    gate_ = gate::listening;
    gate_timer_->set(now() + listens_within, [this] { open_gate(); });
    listening_ = std::make_unique<listening_stream>(*this);
}

void http_client_transport::listening_settled() {
    if (gate_ == gate::listening) open_gate();
}

void http_client_transport::open_gate() {
    gate_ = gate::open;
    gate_timer_->clear();
    if (closed_ || leaving_) return;
    for (const auto& each : std::exchange(waiting_, {})) each->post();
    for (auto& each : std::exchange(held_, {})) handle(std::move(each));
}

void http_client_transport::session_gone(const std::shared_ptr<posted_message>& which) {
    waiting_.push_back(which);
    if (which->session_id() == session_.id) return renew();
    if (gate_ != gate::open) return;
    // There is a newer one already.
    loop_->post([alive = alive_] {
        if (*alive != nullptr && (*alive)->gate_ == gate::open) (*alive)->open_gate();
    });
}

void http_client_transport::listening_refused() {
    if (session_.id.empty() || gate_ != gate::open || std::exchange(renewed_for_listening_, true)) return;
    renew();
}

void http_client_transport::renew() {
    gate_ = gate::renewing;
    agreed_version_ = session_.version;
    session_ = {};
    listening_.reset();  // it may be the one that told us, and says nothing after that
    remark(log_level::info, "the server has ended the session: a new one is begun");
    gate_timer_->set(now() + renews_within, [this] { renewal_failed("the server does not answer initialize"); });
    begin(outgoing_message::from(initialize_line_, reader_), [this](const envelope* answer) { renewed(answer); });
}

void http_client_transport::renewed(const envelope* answer) {
    if (gate_ != gate::renewing) return;
    if (answer == nullptr || answer->kind != message_kind::result)
        return renewal_failed("the server refused initialize");
    if (session_.version != agreed_version_) {
        return leave([alive = alive_] {
            if (*alive != nullptr) (*alive)->events_->on_closed("the server speaks another revision than before");
        });
    }
    begin(outgoing_message::from(notification_message("notifications/initialized", {}), reader_));
}

void http_client_transport::renewal_failed(const std::string& why) {
    const std::string text = "the server has ended the session, and there is no new one: " + why;
    gate_ = gate::open;
    gate_timer_->clear();
    for (const auto& each : std::exchange(waiting_, {})) each->refuse("HTTP 404: " + text);
    for (const auto& each : std::exchange(held_, {})) lost(each, text);
}

// The tools, once more.

void http_client_transport::list_tools(const std::weak_ptr<posted_message>& owner, std::function<void(bool)> then) {
    const auto asking = owner.lock();
    json::object meta;
    if (const auto whole = asking ? object_from_json(asking->message().line) : std::nullopt) {
        if (const json::value* const params = whole->if_contains("params"); params != nullptr && params->is_object()) {
            const json::value* const given = params->get_object().if_contains("_meta");
            if (given != nullptr && given->is_object()) meta = given->get_object();
        }
    }
    meta.erase("progressToken");
    list_page(owner, std::move(then), {{"_meta", std::move(meta)}}, 0);
}

void http_client_transport::list_page(const std::weak_ptr<posted_message>& owner, std::function<void(bool)> then,
                                      json::object params, int page) {
    constexpr int most_pages = 100;
    const auto asking = owner.lock();
    if (!asking) return;
    if (page == most_pages) return then(true);
    const std::string id = json_quoted("andon-" + std::to_string(++own_requests_));
    std::string line =
        R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/list","params":)" + json_text(params) + '}';
    asking->goes_with(
        begin(outgoing_message::from(line, reader_),
              [this, owner, then = std::move(then), params = std::move(params), page](const envelope* answer) mutable {
                  if (answer == nullptr || answer->kind != message_kind::result) return then(false);
                  const auto result = object_from_json(answer->raw_result);
                  const json::value* const next = result ? result->if_contains("nextCursor") : nullptr;
                  if (next == nullptr || !next->is_string()) return then(true);
                  params["cursor"] = *next;
                  list_page(owner, std::move(then), std::move(params), page + 1);
              }));
}

// The end.

void http_client_transport::leave(const std::function<void()>& done) {
    if (closed_ || !pool_ || leaving_) return done();
    end_calls();
    leaving_ = std::make_unique<farewell>(*this, done);
}

void http_client_transport::close() {
    if (closed_.exchange(true) || !pool_) return;
    leaving_.reset();
    end_calls();
    const auto linger = given_up_ ? std::chrono::milliseconds(0) : limits_.linger;
    const auto until = now() + linger;
    pool_->run_out(now() + linger / 2);
    nobody silent;
    if (!session_.id.empty() && !given_up_) {
        const auto leaving = pool_->start({.bytes = writer_.remove(session_), .in = exchange::lane::apart}, silent);
        pool_->run_out(until);
        leaving->abandon();
    }
    abandon_all();
    gate_timer_->clear();
    pool_->close();
}

void http_client_transport::abandon_all() {
    for (const auto& each : std::vector(posts_.begin(), posts_.end())) each.second->abandon();
}

void http_client_transport::end_calls() {
    pool_->hold(false);
    auto unsent = take_queue();
    listening_.reset();
    gate_timer_->clear();
    held_.clear();
    waiting_.clear();
    for (const auto& each : std::vector(posts_.begin(), posts_.end())) {
        if (each.second->message().is_request()) each.second->abandon();
    }
    for (outgoing_message& each : unsent) {
        // A task would work on without anybody who waits for it.
        if (!each.is_request() || each.method == "tasks/cancel") begin(std::move(each));
    }
}

}  // namespace detail

std::unique_ptr<transport> http_client_transport(std::string_view url, http_client_options options,
                                                 const transport_limits& limits) {
    auto to = std::make_shared<detail::http_target>(url, options.ca_file);
    return std::make_unique<detail::http_client_transport>(std::move(to), std::move(options), limits);
}

}  // namespace andon
