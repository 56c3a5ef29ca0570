#include "transport/descriptor_transport.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace andon {
namespace detail {

namespace {

bool is_socket(int fd) noexcept {
    struct stat status {};
    return ::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

}  // namespace

descriptor for_writing(descriptor fd) {
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0 || S_ISSOCK(status.st_mode) || S_ISREG(status.st_mode)) return fd;
    const int flags = ::fcntl(fd.get(), F_GETFL);
    if (flags < 0 || (flags & O_NONBLOCK) != 0) return fd;
    const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
    const int again = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (again >= 0) return descriptor(again);
    ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK);
    return fd;
}

descriptor_transport::descriptor_transport(descriptor in, descriptor out, const transport_limits& limits,
                                           bool one_socket)
    : limits_(limits),
      one_socket_(one_socket),
      in_(std::move(in)),
      out_(for_writing(std::move(out))),
      lines_(limits.longest_line),
      outbox_({limits.waiting_soft, limits.waiting_hard}),
      alive_(std::make_shared<descriptor_transport*>(this)) {}

descriptor_transport::~descriptor_transport() { *alive_ = nullptr; }

void descriptor_transport::open(event_loop& loop, events& to) {
    loop_ = &loop;
    events_ = &to;
    watch_in_ = std::make_unique<event_loop::watch>(loop, in_.get());
    watch_out_ = std::make_unique<event_loop::watch>(loop, out_.get());
    if (is_socket(in_.get())) half_end_.emplace(loop);
    if (!one_socket_) {
        watch_out_->when(event_loop::readiness::broken, [this] { read_rest("the peer closed its input"); });
    }
    read_later();
}

void descriptor_transport::read_later() {
    if (ended_ || held_ || std::exchange(reading_, true)) return;
    watch_in_->when(event_loop::readiness::readable, [this] {
        reading_ = false;
        read();
    });
}

void descriptor_transport::read() {
    if (held_) return;
    if (read_once()) read_later();
}

/// Nobody writes to us any more, or reads what we write. What was written before that is still to be read, whether or
/// not we are held; no more than a pipe holds.
void descriptor_transport::read_rest(std::string_view why) {
    constexpr int most = 64;
    last_ = true;
    held_ = false;
    const auto alive = alive_;
    if (!hand_out()) return;
    for (int i = 0; i < most; ++i) {
        pollfd ready{in_.get(), POLLIN, 0};
        if (ended_ || ::poll(&ready, 1, 0) != 1) break;
        if (!read_once()) break;
    }
    if (*alive != nullptr) end(why);
}

void descriptor_transport::hold(bool wanted) {
    if (last_ || ended_ || held_ == wanted) return;
    held_ = wanted;
    if (held_) return watch_for_end();
    // Not here: whoever has made room may be in the middle of writing.
    loop_->post([alive = alive_] {
        descriptor_transport* const self = *alive;
        if (self != nullptr && !self->held_ && !self->last_ && !self->ended_ && self->hand_out()) self->read_later();
    });
}

/// Reading would tell of it, but nobody reads.
void descriptor_transport::watch_for_end() {
    look_for_half_end();
    if (std::exchange(ending_, true)) return;
    watch_in_->when(event_loop::readiness::broken, [this] {
        ending_ = false;
        if (held_ && !ended_) read_rest("end of input");
    });
}

/// Of a socket whose peer writes no more but still reads: no event tells of that alone.
void descriptor_transport::look_for_half_end() {
    constexpr auto every = std::chrono::milliseconds(250);
    if (!half_end_) return;
    half_end_->set(std::chrono::steady_clock::now() + every, [this] {
        if (!held_ || ended_) return;
        pollfd half{in_.get(), POLLRDHUP, 0};
        if (::poll(&half, 1, 0) == 1) return read_rest("end of input");
        look_for_half_end();
    });
}

/// False: it was the last time.
bool descriptor_transport::read_once() {
    const auto room = lines_.room();
    const ssize_t got = ::read(in_.get(), room.data(), room.size());
    if (got < 0) {
        if (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK) return true;
        end(std::string("reading failed: ") + std::strerror(errno));
        return false;
    }
    if (got == 0) {
        end("end of input");
        return false;
    }
    lines_.filled(static_cast<std::size_t>(got));
    return hand_out();
}

/// The lines that are whole, as long as nobody holds them. False: it was the last time.
bool descriptor_transport::hand_out() {
    delivering_ = true;
    const auto alive = alive_;
    while (!held_) {
        const auto line = lines_.next();
        if (!line) break;
        if (line->too_long) {
            events_->on_line_too_long(*line->seen);
        } else {
            events_->on_line(line->text);
        }
        if (*alive == nullptr || ended_) return false;
    }
    delivering_ = false;
    flush();
    return *alive != nullptr && !ended_;
}

bool descriptor_transport::send(std::string_view line, const cancel_token* owner) {
    if (ended_) return false;
    switch (outbox_.put(line, owner)) {
        case outbox::queued::no: return false;
        case outbox::queued::yes: break;
        case outbox::queued::wake:
            if (loop_->here() && delivering_) break;  // flushed after the last line of what was read
            loop_->post_last([alive = alive_] {
                if (*alive != nullptr) (*alive)->flush();
            });
            break;
        case outbox::queued::overflow:
            loop_->post([alive = alive_] {
                if (*alive != nullptr) (*alive)->overflow();
            });
            return false;
    }
    if (outbox_.waiting() > limits_.waiting_high && !crowded_) {
        outbox_.drop_cancelled();
        if (outbox_.waiting() > limits_.waiting_high && !crowded_.exchange(true)) note_crowd();
    }
    return true;
}

void descriptor_transport::drop_cancelled() {
    if (!crowded_) return;
    outbox_.drop_cancelled();
    look_for_room();
}

void descriptor_transport::look_for_room() {
    if (!crowded_ || ended_ || outbox_.waiting() > limits_.waiting_high / 4) return;
    crowded_ = false;
    events_->on_crowded(false);
}

/// At once, where that can be: whoever is to stop is perhaps in the middle of a thousand lines.
void descriptor_transport::note_crowd() {
    if (loop_->here()) return events_->on_crowded(true);
    loop_->post([alive = alive_] {
        if (*alive != nullptr && (*alive)->crowded_ && !(*alive)->ended_) (*alive)->events_->on_crowded(true);
    });
}

void descriptor_transport::overflow() {
    if (ended_.exchange(true)) return;
    delivering_ = false;
    events_->on_given_up("the peer does not read what it is sent");
}

void descriptor_transport::flush() {
    if (out_.get() < 0 || blocked_) return;
    const auto flushed = outbox_.flush(out_.get());
    look_for_room();
    switch (flushed) {
        case outbox::flushed::all: return;
        case outbox::flushed::blocked: {
            blocked_ = true;
            watch_out_->when(event_loop::readiness::writable, [this] {
                blocked_ = false;
                flush();
            });
            return;
        }
        case outbox::flushed::broken: return end("the peer closed its input");
    }
}

void descriptor_transport::end(std::string_view why) {
    if (ended_.exchange(true)) return;
    delivering_ = false;
    events_->on_closed(why);
}

void descriptor_transport::close() {
    ended_ = true;
    // What was decided is written, whole: a reader that is slower than we are gets a moment for it.
    const auto until = std::chrono::steady_clock::now() + limits_.linger;
    while (out_.get() >= 0 && outbox_.flush(out_.get()) == outbox::flushed::blocked) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        pollfd ready{out_.get(), POLLOUT, 0};
        if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) == 0) break;
    }
    half_end_.reset();
    watch_in_.reset();
    watch_out_.reset();
    in_.close();
    out_.close();
}

}  // namespace detail

std::unique_ptr<transport> stdio_transport(const transport_limits& limits) {
    // Copies: what is closed at the end are these, and whoever writes to standard output by mistake later gets no
    // descriptor of somebody else's. Where one is closed already, reading or writing says so.
    return std::make_unique<detail::descriptor_transport>(
        detail::descriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)),
        detail::descriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)), limits);
}

std::unique_ptr<transport> descriptor_transport(int in, int out, const transport_limits& limits) {
    const int other = in == out ? ::fcntl(out, F_DUPFD_CLOEXEC, 3) : out;
    return std::make_unique<detail::descriptor_transport>(detail::descriptor(in), detail::descriptor(other), limits,
                                                          in == out);
}

std::pair<std::unique_ptr<transport>, std::unique_ptr<transport>> transport_pair(const transport_limits& limits) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
        throw std::system_error(errno, std::generic_category(), "socketpair");
    }
    return {descriptor_transport(ends[0], ends[0], limits), descriptor_transport(ends[1], ends[1], limits)};
}

}  // namespace andon
