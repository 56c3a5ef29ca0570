#include "transport/http/http_connection.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "andon/core/in_flight.hpp"
#include "transport/clock.hpp"

namespace andon::detail {
namespace {

constexpr std::chrono::seconds drain_for{2};
constexpr std::string_view unread = "the client does not read what it is sent";

/// One for all connections: what is read is used, or copied, before anybody else reads.
std::span<char> scratch() {
    thread_local std::array<char, std::size_t{64} << 10U> bytes;
    return bytes;
}

std::string in_words(duration span) {
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
    return milliseconds % 1'000 == 0 ? std::to_string(milliseconds / 1'000) + " s"
                                     : std::to_string(milliseconds) + " ms";
}

std::string in_hexadecimal(std::size_t number) {
    std::array<char, 20> text{};
    const int size = std::snprintf(text.data(), text.size(), "%zx", number);
    return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace

std::string_view reason_phrase(int status) noexcept {
    switch (status) {
        case 200: return "OK";
        case 202: return "Accepted";
        case 204: return "No Content";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 406: return "Not Acceptable";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 413: return "Content Too Large";
        case 415: return "Unsupported Media Type";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 500: return "Internal Server Error";
        case 503: return "Service Unavailable";
        default: return "Error";
    }
}

http_connection::http_connection(event_loop& loop, byte_stream stream, bool tls, std::string address,
                                 const http_connection_limits& limits, owner& told)
    : loop_(&loop),
      stream_(std::move(stream)),
      address_(std::move(address)),
      limits_(&limits),
      owner_(&told),
      timer_(loop),
      outbox_(limits.waiting),
      active_(now()),
      tls_(tls) {}

http_connection::~http_connection() = default;

void http_connection::open() {
    watch_ = std::make_unique<event_loop::watch>(*loop_, stream_.fd());
    arm();
    read_later();
}

const session& http_connection::scope(in_flight& table) {
    if (!scope_) scope_.emplace(table.open_session());
    return *scope_;
}

void http_connection::close_scope(cancel_cause cause, std::string_view why) {
    if (scope_) scope_->close(cause, why, now());
}

void http_connection::close(std::string_view why) {
    if (closed_) return;
    closed_ = true;
    const auto self = shared_from_this();
    timer_.clear();
    if (const auto who = std::exchange(answering_, nullptr)) who->on_disconnected();
    close_scope(cancel_cause::disconnect, why);
    owner_->on_closed(*this);
    // Handlers that wait on this thread were told by work that was posted just now. Closing a socket takes longer than
    // all of it, and can wait.
    loop_->post([self] {
        self->watch_.reset();
        self->stream_.close();
    });
}

void http_connection::close_soon(std::string_view why) {
    blocked_ = true;
    leaving_ = true;
    loop_->post([self = shared_from_this(), why = std::string(why)] { self->close(why); });
}

/// Once for a request: until it is closed more may be put that does not fit.
void http_connection::tell_of_cut(std::string_view how) {
    if (const auto told = std::exchange(when_cut_off_, {})) told(how);
}

/// Of the kernel's, which sees that the client reads nothing of what it has taken already.
void http_connection::look_for_timeout() {
    if (stream_.timed_out()) tell_of_cut("read nothing for " + in_words(limits_->stalled));
}

void http_connection::fail() {
    look_for_timeout();
    close(stream_.error());
}

void http_connection::overflow() {
    tell_of_cut("leaves too much unread");
    close_soon(unread);
}

// Reading.

void http_connection::read_later() {
    watch_->when(event_loop::readiness::readable, [this] { on_readable(); });
}

void http_connection::on_readable() {
    if (closed_) return;
    const auto self = shared_from_this();
    constexpr int at_once = 16;  // one client that never stops sending must not hold up the others
    for (int i = 0; i < at_once && !closed_; ++i) {
        const auto room = scratch();
        const byte_stream::result got = stream_.read(room);
        if (got.what == byte_stream::status::would_block) break;
        if (got.what == byte_stream::status::closed) return close("the client closed the connection");
        if (got.what == byte_stream::status::failed) return fail();
        take({room.data(), got.bytes});
        if (!tls_ && got.bytes < room.size()) break;
        // With TLS what was decrypted already makes no socket readable.
        if (tls_ && i + 1 == at_once && !closed_) {
            loop_->post([self] {
                if (!self->closed_) self->on_readable();
            });
            return;
        }
    }
    if (closed_) return;
    if (stream_.wants_write() && !blocked_) write_later();  // a handshake
    read_later();
}

void http_connection::take(std::string_view bytes) {
    if (draining_ || leaving_) return;
    if (busy_ || choked()) {
        if (input_.size() + bytes.size() > limits_->pipelined) return close("more was sent ahead than is allowed");
        input_ += bytes;
        return;
    }
    if (input_.empty()) return advance(bytes);
    const std::string all = std::exchange(input_, {}) + std::string(bytes);
    advance(all);
}

void http_connection::advance(std::string_view bytes) {
    inside_ = true;
    std::string kept;
    while (!bytes.empty() && !closed_ && !leaving_) {
        if (!reader_) {
            reader_ = std::make_unique<request_reader>(limits_->request);
            active_ = now();
        }
        const auto [used, what] = reader_->feed(bytes);
        bytes.remove_prefix(used);
        if (what == request_reader::progress::failed) {
            fault(reader_->fault_status(), reader_->fault());
            break;
        }
        if (what == request_reader::progress::more) {
            if (reader_->wants_continue()) put("HTTP/1.1 100 Continue\r\n\r\n");
            input_ = std::string(bytes);
            arm();
            break;
        }
        http_request request = reader_->take();
        reader_.reset();
        busy_ = true;
        chunks_ = request.chunks;
        keep_alive_ = request.keep_alive;
        head_only_ = request.method == "HEAD";
        when_cut_off_ = {};
        active_ = now();
        input_ = std::string(bytes);
        owner_->on_request(*this, std::move(request));
        if (busy_ || closed_ || choked()) break;
        kept = std::exchange(input_, {});
        bytes = kept;
    }
    inside_ = false;
    if (!closed_) arm();
}

void http_connection::fault(int status, std::string_view why) {
    busy_ = true;
    keep_alive_ = false;
    head_only_ = false;
    respond(status, "text/plain", std::string(why) + '\n');
}

// Writing.

void http_connection::put(std::string_view bytes) {
    if (closed_) return;
    if (outbox_.put(bytes, nullptr, {}) == outbox::queued::overflow) return overflow();
    flush();
}

void http_connection::respond(int status, std::string_view content_type, std::string_view body,
                              std::string_view extra) {
    if (closed_ || !busy_) return;
    forget_answering();
    std::string answer = "HTTP/1.1 " + std::to_string(status) + ' ';
    answer.reserve(answer.size() + body.size() + extra.size() + 160);
    answer += reason_phrase(status);
    answer += "\r\n";
    if (!content_type.empty()) ((answer += "Content-Type: ") += content_type) += "\r\n";
    if (status != 204) ((answer += "Content-Length: ") += std::to_string(body.size())) += "\r\n";
    if (!keep_alive_) answer += "Connection: close\r\n";
    if (keep_alive_ && !chunks_) answer += "Connection: keep-alive\r\n";
    answer += extra;
    answer += "\r\n";
    if (!head_only_) answer += body;
    put(answer);
    complete();
}

void http_connection::begin_events(std::string_view extra) {
    if (closed_ || !busy_) return;
    if (!chunks_) keep_alive_ = false;  // the end of the connection is the end of the answer
    std::string head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache, no-transform\r\n"
        "X-Accel-Buffering: no\r\n";
    if (chunks_) head += "Transfer-Encoding: chunked\r\n";
    if (!keep_alive_) head += "Connection: close\r\n";
    head += extra;
    head += "\r\n";
    put(head);
}

bool http_connection::event(std::string_view framed, const cancel_token* of, outbox::loss may_be) {
    if (closed_ || !busy_) return false;
    std::string chunk;
    if (chunks_) {
        chunk = in_hexadecimal(framed.size());
        ((chunk += "\r\n") += framed) += "\r\n";
        framed = chunk;
    }
    switch (outbox_.put(framed, of, {}, may_be)) {
        case outbox::queued::no: return false;
        case outbox::queued::overflow: overflow(); return false;
        case outbox::queued::yes:
        case outbox::queued::wake: break;
    }
    // What is only put behind the rest is no sign that the client reads.
    if (!blocked_) active_ = now();
    flush();
    look_for_crowd();
    return true;
}

void http_connection::forget_answering() {
    const auto who = std::exchange(answering_, nullptr);
    if (std::exchange(crowded_, false) && who) who->on_crowded(false);
}

/// Below the bound above which progress is lost: who can stop for us need lose none.
void http_connection::look_for_crowd() {
    const std::size_t high = limits_->waiting.soft / 2;
    if (blocked_ && !crowded_ && outbox_.waiting() > high) outbox_.drop_cancelled();
    const bool crowded = blocked_ && outbox_.waiting() > (crowded_ ? high / 4 : high);
    if (closed_ || !answering_ || std::exchange(crowded_, crowded) == crowded) return;
    const auto who = answering_;
    who->on_crowded(crowded);
}

void http_connection::end_events() {
    if (closed_ || !busy_) return;
    forget_answering();
    if (chunks_) put("0\r\n\r\n");
    complete();
}

/// The answer is given; the next request may follow.
void http_connection::complete() {
    if (closed_) return;
    busy_ = false;
    active_ = now();
    if (!keep_alive_) {
        leaving_ = true;
        if (!blocked_) flush();
        return;
    }
    arm();
    if (!inside_) go_on_later();  // not here: whoever answered is still at it
}

/// With what was sent ahead.
void http_connection::go_on_later() {
    if (input_.empty() || busy_ || choked()) return;
    loop_->post([self = shared_from_this()] {
        if (self->closed_ || self->busy_ || self->inside_ || self->input_.empty() || self->choked()) return;
        const std::string bytes = std::exchange(self->input_, {});
        self->advance(bytes);
    });
}

void http_connection::last_answer() {
    keep_alive_ = false;
    if (busy_ || closed_) return;
    leaving_ = true;
    if (!blocked_) flush();
}

void http_connection::flush() {
    if (closed_ || blocked_) return;
    const auto flushed = outbox_.flush_with([this](std::string_view bytes, outbox::flushed& stopped) -> std::size_t {
        const byte_stream::result wrote = stream_.write(bytes);
        if (wrote.what == byte_stream::status::would_block) stopped = outbox::flushed::blocked;
        if (wrote.what == byte_stream::status::failed || wrote.what == byte_stream::status::closed) {
            stopped = outbox::flushed::broken;
        }
        return wrote.bytes;
    });
    if (flushed == outbox::flushed::broken) {
        look_for_timeout();
        return close_soon("the client closed the connection");
    }
    if (flushed == outbox::flushed::blocked || stream_.wants_write()) return write_later();
    if (leaving_ && !draining_) drain();
}

void http_connection::write_later() {
    blocked_ = true;
    active_ = now();
    arm();
    watch_->when(event_loop::readiness::writable, [this] {
        if (closed_) return;
        const auto self = shared_from_this();
        blocked_ = false;
        active_ = now();
        const byte_stream::result done = stream_.flush();
        if (done.what == byte_stream::status::failed) return fail();
        if (done.what == byte_stream::status::would_block && stream_.wants_write()) return write_later();
        flush();
        look_for_crowd();
        if (!closed_) go_on_later();
    });
}

/// Closing while the client is still sending would make its kernel throw our answer away.
void http_connection::drain() {
    draining_ = true;
    active_ = now();
    stream_.shutdown_write();
    owner_->on_last_written(*this);
    arm();
}

// Time.

time_point http_connection::due() const noexcept {
    if (draining_) return active_ + drain_for;
    if (blocked_) return active_ + limits_->stalled;
    if (busy_) return active_ + limits_->quiet;
    if (reader_) return active_ + limits_->receive_within;
    return active_ + limits_->idle;
}

/// The timer is set once and looks again when it fires: most requests come and go without touching it.
void http_connection::arm() {
    if (closed_) return;
    const time_point when = due();
    if (armed_ && *armed_ <= when) return;
    armed_ = when;
    timer_.set(when, [this] { on_time(); });
}

void http_connection::on_time() {
    const auto self = shared_from_this();
    armed_.reset();
    if (due() > now()) return arm();
    if (draining_) return close("closed");
    if (blocked_) {
        tell_of_cut("read nothing for " + in_words(limits_->stalled));
        return close(unread);
    }
    if (busy_) {
        active_ = now();
        if (const auto who = answering_) who->on_quiet();
        return arm();
    }
    if (reader_) {
        fault(408, "the request did not come in time");
        return arm();
    }
    close("nothing came on the connection for a while");
}

}  // namespace andon::detail
