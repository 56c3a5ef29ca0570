#include "andon/client/client.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "client/client_session.hpp"
#include "client/pending_state.hpp"
#include "client/subscription_state.hpp"

namespace andon {
namespace {

int duplicate(int fd) {
    const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (copy < 0) throw std::system_error(errno, std::generic_category(), "the server's pipes");
    return copy;
}

/// Of a server that has closed its output: how it ended, in words, if it does so soon.
std::string how_it_ended(process_tree& tree) {
    constexpr std::chrono::milliseconds soon{500};
    tree.wait(soon);
    const auto how = tree.exited();
    if (!how) return {};
    return how->signalled ? "it was ended by signal " + std::to_string(how->code)
                          : "it exited with status " + std::to_string(how->code);
}

}  // namespace

struct client::state {
    state(client_options options, std::unique_ptr<transport> over, std::unique_ptr<process_tree> started)
        : session(std::make_shared<detail::client_session>(std::move(options), std::move(over))),
          tree(std::move(started)) {}

    [[nodiscard]] bool on_own_thread() { return session->loop().here() || session->turns().here(); }
    /// False: nothing comes any more.
    bool read_stderr();
    void listen_to_stderr();

    std::shared_ptr<detail::client_session> session;
    std::unique_ptr<process_tree> tree;
    std::unique_ptr<detail::event_loop::watch> errors;
    std::thread thread;
    std::atomic<bool> closed = false;
    std::atomic<bool> gone = false;  // and nothing is left
};

bool client::state::read_stderr() {
    std::array<char, 16'384> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
    constexpr int at_once = 16;       // a pipe holds less, and one that never stops writing must not hold us up
    for (int i = 0; i < at_once; ++i) {
        const ssize_t got = ::read(tree->err(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got < 0 && errno == EAGAIN;
        try {
            session->options().on_stderr({buffer.data(), static_cast<std::size_t>(got)});
        } catch (const std::exception& error) {  // it is the user's, and this is the thread of everything
            session->talk().log(log_level::warning, std::string("on_stderr threw: ") + error.what());
        } catch (...) {
            session->talk().log(log_level::warning, "on_stderr threw");
        }
    }
    return true;
}

/// On the loop.
void client::state::listen_to_stderr() {
    errors->when(detail::event_loop::readiness::readable, [this] {
        if (!read_stderr()) return errors.reset();
        listen_to_stderr();
    });
}

client::client(std::shared_ptr<state> s) noexcept : state_(std::move(s)) {}
client::client(client&&) noexcept = default;
client& client::operator=(client&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
}
client::~client() {
    if (!state_) return;
    if (state_->on_own_thread()) {
        // In a callback of ours: its thread cannot wait for itself, so another one does.
        std::thread([kept = client(state_)]() mutable { kept.close(); }).detach();
    } else {
        close();
    }
}

client client::spawn(const command& what, client_options options) {
    const process_stdio streams{
        .in = stdio::pipe, .out = stdio::pipe, .err = options.on_stderr ? stdio::pipe : stdio::inherit};
    auto tree = std::make_unique<process_tree>(process_tree::start(what, streams));
    const int from = duplicate(tree->out());
    auto over = descriptor_transport(from, duplicate(tree->in()), options.lines);
    tree->close_out();
    tree->close_in();
    return begin(std::move(over), std::move(options), std::move(tree));
}

client client::connect(std::unique_ptr<transport> over, client_options options) {
    return begin(std::move(over), std::move(options), nullptr);
}

client client::connect_http(std::string_view url, http_client_options how, client_options options) {
    auto over = http_client_transport(url, std::move(how), options.lines);
    return begin(std::move(over), std::move(options), nullptr);
}

client client::begin(std::unique_ptr<transport> over, client_options options, std::unique_ptr<process_tree> tree) {
    client made(std::make_shared<state>(std::move(options), std::move(over), std::move(tree)));
    state* const s = made.state_.get();
    s->session->loop().post([s] {
        if (s->tree && s->tree->err() >= 0) {
            s->errors = std::make_unique<detail::event_loop::watch>(s->session->loop(), s->tree->err());
            s->listen_to_stderr();
        }
        s->session->talk().open();
    });
    s->thread = std::thread([s] { s->session->loop().run(); });
    try {
        s->session->wait_until_established();
    } catch (const std::runtime_error&) {
        const std::string how = s->tree && s->session->talk().was_left() ? how_it_ended(*s->tree) : std::string();
        if (how.empty()) throw;
        throw std::runtime_error("no session with the server: " + how);
    }
    return made;
}

pending_call client::request(std::string_view method, json::object params, call_options options) {
    if (method == "initialize") throw std::invalid_argument("initialize is the client's own business");
    auto pending = std::make_shared<detail::pending_state>(state_->session, std::string(method), std::move(params),
                                                           std::move(options));
    pending->start();
    return pending_call(std::move(pending));
}

/// Whether a call of a tool may ask for a task, which is a matter of 2025-11-25.
bool client::asks_for_tasks() const {
    const json::value* can = nullptr;
    const json::object* in = &server_capabilities();
    for (const std::string_view each : {"tasks", "requests", "tools", "call"}) {
        can = in != nullptr ? in->if_contains(each) : nullptr;
        in = can != nullptr ? can->if_object() : nullptr;
    }
    return can != nullptr && policy_of(speaks()).task_requests;
}

pending_call client::call_tool(std::string_view name, json::object arguments, call_options options) {
    auto pending = std::make_shared<detail::pending_state>(
        state_->session, "tools/call", json::object{{"name", name}, {"arguments", std::move(arguments)}},
        std::move(options));
    // One that must be a task is followed as if it were the call.
    if (asks_for_tasks() && state_->session->tasks_of(name) == detail::tool_tasks::required) pending->ask_for_task({});
    pending->start();
    return pending_call(std::move(pending));
}

pending_task client::call_tool_as_task(std::string_view name, json::object arguments, follow_options options) {
    auto pending = std::make_shared<detail::pending_state>(
        state_->session, "tools/call", json::object{{"name", name}, {"arguments", std::move(arguments)}},
        call_options{.timeout = options.timeout, .on_progress = options.on_progress});
    if (asks_for_tasks() && state_->session->tasks_of(name) != detail::tool_tasks::forbidden) {
        pending->ask_for_task(options.ttl);
    }
    pending->run_as_task(std::move(options));
    pending->start();
    return pending_task(std::move(pending));
}

pending_task client::follow_task(std::string_view id, follow_options options) {
    auto pending =
        std::make_shared<detail::pending_state>(state_->session, "tasks/get", json::object(), call_options{});
    pending->run_as_task(std::move(options));
    pending->start_following(std::string(id));
    return pending_task(std::move(pending));
}

pending_call client::cancel_task(std::string_view id) { return request("tasks/cancel", {{"taskId", id}}); }

pending_call client::get_prompt(std::string_view name, json::object arguments, call_options options) {
    return request("prompts/get", {{"name", name}, {"arguments", std::move(arguments)}}, std::move(options));
}

pending_call client::read_resource(std::string_view uri, call_options options) {
    return request("resources/read", {{"uri", uri}}, std::move(options));
}

subscription client::listen(subscription_filter what, subscription_options how) {
    auto made = std::make_shared<detail::subscription_state>(state_->session, std::move(what), std::move(how));
    made->start();
    return subscription(std::move(made));
}

void client::notify(std::string_view method, const json::object& params) {
    state_->session->talk().send(notification_message(method, params));
}

json::array client::list(std::string_view method, std::string_view member) {
    constexpr std::size_t most_pages = 10'000;  // a server whose cursors lead in a circle
    json::array all;
    json::object params;
    for (std::size_t page = 0; page < most_pages; ++page) {
        const pending_call pending = request(method, params);
        const json::object& result = pending.value().as_object();
        const json::value* const items = result.if_contains(member);
        if (items == nullptr || !items->is_array()) {
            throw std::runtime_error("the server's answer to " + std::string(method) + " has no " +
                                     std::string(member));
        }
        for (const json::value& item : items->get_array()) all.push_back(item);
        const json::value* const next = result.if_contains("nextCursor");
        if (next == nullptr || next->is_null()) return all;
        const json::value* const before = params.if_contains("cursor");
        if (before != nullptr && *before == *next) break;
        params["cursor"] = *next;
    }
    throw std::runtime_error("the server's list has no end");
}

json::array client::list_tools() {
    json::array all = list("tools/list", "tools");
    state_->session->learn(all);
    return all;
}
json::array client::list_prompts() { return list("prompts/list", "prompts"); }
json::array client::list_resources() { return list("resources/list", "resources"); }
json::array client::list_tasks() { return list("tasks/list", "tasks"); }
json::array client::list_resource_templates() { return list("resources/templates/list", "resourceTemplates"); }

revision client::speaks() const noexcept { return state_->session->server().speaks(); }
const json::object& client::server_info() const noexcept { return state_->session->server().their_implementation(); }
const json::object& client::server_capabilities() const noexcept {
    return state_->session->server().their_capabilities();
}
const std::string& client::instructions() const noexcept { return state_->session->server().their_instructions(); }
in_flight& client::requests() noexcept { return state_->session->table(); }

void client::close() {
    if (state_->on_own_thread()) {
        throw std::logic_error("client.close() waits: it cannot be called from the client's own callbacks");
    }
    if (state_->closed.exchange(true)) return state_->gone.wait(false);
    auto& session = *state_->session;
    // Whoever cancels a task and leaves wants it stopped: over HTTP the request may not have been sent yet.
    session.wait_for_cancels(std::min<duration>(session.options().leave_within, std::chrono::milliseconds(500)));
    session.loop().post([&session] { session.talk().close(cancel_cause::shutdown, "the client is leaving"); });
    if (state_->tree) {
        // Its standard input is closed then: most servers leave by themselves.
        if (!state_->tree->wait(session.options().leave_within)) {
            state_->tree->terminate();
            state_->tree->wait();
        }
    }
    session.loop().post([s = state_.get()] {
        if (s->errors) static_cast<void>(s->read_stderr());  // its last words
        s->errors.reset();
        s->session->loop().stop();
    });
    state_->thread.join();
    session.turns().stop();
    // Whoever waits for a call that was cancelled just now is told by work that was posted.
    session.loop().finish();
    state_->gone = true;
    state_->gone.notify_all();
}

}  // namespace andon
