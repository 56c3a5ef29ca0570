#include "check/http_session.hpp"

#include <algorithm>
#include <poll.h>
#include <thread>

#include "andon/core/visible_text.hpp"
#include "andon/wire/http_headers.hpp"
#include "check/stdio_session.hpp"

namespace andon::check {
namespace {

using clock = std::chrono::steady_clock;

/// A server with a large runtime under a busy machine.
constexpr std::chrono::seconds listens_within{20};

bool over_now(const http_exchange& each) { return each.over() && each.messages.empty(); }

}  // namespace

http_session::http_session(const http_server& where, session_options how)
    : session(how), where_(where), to_(detail::endpoint::from_url(where.url)) {
    if (to_.tls) tls_ = detail::tls_context::client(where.ca_file);
    try {
        to_.resolve();
    } catch (const std::runtime_error& error) {
        throw server_gone(error.what());
    }
    if (!where_.program) return;
    process_.emplace(start_server(*where_.program, {.in = stdio::null, .out = stdio::null, .err = stdio::pipe}));
    wait_for_listener();
}

std::unique_ptr<http_session> http_session::beside() const {
    http_server same = where_;
    same.program.reset();
    return std::make_unique<http_session>(same, how());
}

void http_session::wait_for_listener() {
    const auto until = clock::now() + listens_within;
    for (;;) {
        process_->poll();
        if (process_->exited()) throw server_gone(why_gone() + last_words());
        try {
            const http_exchange there(to_, nullptr, "", "");
            return;
        } catch (const server_gone& refused) {
            if (clock::now() > until) {
                throw server_gone(std::string(refused.what()) + ", " + std::to_string(listens_within.count()) +
                                  " s after it was started" + last_words());
            }
        }
        pollfd something{process_->err(), POLLIN, 0};  // most say when they listen
        ::poll(&something, 1, 50);
        if (process_->err() >= 0 && !read_log(process_->err(), log_)) process_->close_err();
    }
}

http_session::~http_session() {
    if (session_id_.empty() || process_) return;
    try {
        http_exchange& last = begin("DELETE", usual_headers({}, {}), {}, {});
        const auto until = clock::now() + milliseconds(500);
        while (!last.over() && clock::now() < until) pump(milliseconds(50));
    } catch (const std::exception& error) {
        (void)error;  // a server that is gone has no session either
    }
}

header_list http_session::usual_headers(std::string_view method, std::string_view name) const {
    header_list all{{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};
    if (modern() || !hello().empty()) all.emplace_back("MCP-Protocol-Version", to_string(speaks()));
    if (!session_id_.empty()) all.emplace_back("Mcp-Session-Id", session_id_);
    if (modern() && !method.empty()) all.emplace_back("Mcp-Method", method);
    if (modern() && !name.empty()) all.emplace_back("Mcp-Name", encoded_header_value(name));
    return all;
}

http_exchange& http_session::begin(std::string_view method, const header_list& headers, std::string_view body,
                                   std::string raw_id) {
    std::string text = std::string(method) + ' ' + to_.target + " HTTP/1.1\r\nHost: " + to_.authority + "\r\n";
    for (const header_list* const some : {&std::as_const(where_.headers), &headers}) {
        for (const auto& [name, value] : *some) ((text += name) += ": ") += value + "\r\n";
    }
    if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    (text += "\r\n") += body;
    return exchanges_.emplace_back(to_, tls_, std::move(text), std::move(raw_id));
}

http_exchange& http_session::post(const outgoing& message) {
    return begin("POST", usual_headers(message.method, message.name), message.text, message.raw_id);
}

const http_exchange& http_session::exchange_with(std::string_view method, const header_list& headers,
                                                 std::string_view body) {
    const http_exchange& made = begin(method, headers, body, "null");
    if (!wait([&] { return made.over(); }, patience())) {
        throw server_hangs("a " + std::string(method) + " is not answered within " +
                           std::to_string(patience().count()) + " ms" + last_words());
    }
    return made;
}

void http_session::resume(std::string_view raw_id, std::string_view last_event_id) {
    header_list headers{{"Accept", "text/event-stream"}, {"Last-Event-ID", std::string(last_event_id)}};
    headers.emplace_back("MCP-Protocol-Version", to_string(speaks()));
    if (!session_id_.empty()) headers.emplace_back("Mcp-Session-Id", session_id_);
    begin("GET", headers, {}, std::string(raw_id));
}

void http_session::cancel(std::string_view raw_id, std::optional<std::string> reason) {
    if (modern()) {
        drop(raw_id);
    } else {
        session::cancel(raw_id, std::move(reason));
    }
}

void http_session::drop(std::string_view raw_id) {
    for (http_exchange& each : exchanges_) {
        if (each.raw_id() == raw_id) each.drop();
    }
}

const http_exchange* http_session::exchange(std::string_view raw_id) const {
    const auto found = std::find_if(exchanges_.rbegin(), exchanges_.rend(),
                                    [&](const http_exchange& each) { return each.raw_id() == raw_id; });
    return found == exchanges_.rend() ? nullptr : &*found;
}

bool http_session::stream_ended(std::string_view raw_id) const {
    const http_exchange* const found = exchange(raw_id);
    return found != nullptr && found->over();
}

std::string http_session::refusal(std::string_view raw_id) const {
    const http_exchange* const found = exchange(raw_id);
    if (found == nullptr) return "nothing was sent";
    if (found->status() == 0) return found->error();
    return "HTTP status " + std::to_string(found->status()) + ' ' + visible_text(found->body(), 120);
}

bool http_session::pump(milliseconds limit) {
    std::vector<pollfd> watched;
    std::vector<http_exchange*> behind;
    for (http_exchange& each : exchanges_) {
        if (each.over()) continue;
        watched.push_back({each.fd(), each.events(), 0});
        behind.push_back(&each);
    }
    if (process_ && process_->err() >= 0) watched.push_back({process_->err(), POLLIN, 0});
    ::poll(watched.data(), watched.size(), static_cast<int>(limit.count()));
    if (process_ && process_->err() >= 0 && !read_log(process_->err(), log_)) process_->close_err();
    for (std::size_t i = 0; i < behind.size(); ++i) {
        if (watched[i].revents == 0) continue;
        behind[i]->go_on();
    }
    for (http_exchange* const each : behind) take_in(*each);
    if (!process_) return true;
    process_->poll();
    return !process_->exited();
}

void http_session::take_in(http_exchange& from) {
    if (session_id_.empty() && from.status() != 0) session_id_ = from.header("mcp-session-id");
    while (!from.messages.empty()) {
        const std::string text = std::move(from.messages.front());
        from.messages.pop_front();
        take(text, from.raw_id());
    }
    if (over_now(from) && from.raw_id().empty() && from.status() != 0 && from.status() / 100 != 2) {
        refused_.push_back(from.status());
    }
}

std::string http_session::why_gone() {
    process_->poll();
    return "the server is gone: " + check::in_words(process_->exited());
}

std::optional<process_view> http_session::processes() const {
    if (process_) return process_view::of_command(process_->pid());
    if (where_.pid > 0) return process_view::below(where_.pid, true);
    return std::nullopt;
}

std::optional<std::string> http_session::log() const { return process_ ? std::optional(log_) : std::nullopt; }

}  // namespace andon::check
