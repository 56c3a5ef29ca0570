#include "gateway/control/control_connection.hpp"

#include <boost/json/serialize.hpp>
#include <cerrno>
#include <chrono>
#include <sys/socket.h>

#include "gateway/control/control_protocol.hpp"

namespace andon::gateway {

using detail::event_loop;

control_connection::control_connection(event_loop& loop, detail::descriptor socket, owner& told, duration patience)
    : loop_(&loop),
      socket_(std::move(socket)),
      owner_(&told),
      patience_(patience),
      lines_(longest_control_request),
      turn_(loop),
      impatience_(loop) {}

std::string control_connection::error_line(std::string_view why) {
    return json::serialize(json::object{{"error", why}});
}

void control_connection::open() {
    watch_ = std::make_unique<event_loop::watch>(*loop_, socket_.get());
    be_quick();
    next_request();
}

/// From now on, for a whole request, or to read a piece of the answer.
void control_connection::be_quick() {
    impatience_.set(std::chrono::steady_clock::now() + patience_, [this] { close(); });
}

void control_connection::next_request() {
    if (closed() || busy_ || leaving_) return;
    const auto self = shared_from_this();
    if (const auto turn = owner_->next_turn(); turn > std::chrono::steady_clock::now()) {
        turn_.set(turn, [this] { next_request(); });
        return;
    }
    const auto line = lines_.next();
    if (!line) {
        if (ended_) return close();
        watch_->when(event_loop::readiness::readable, [this] { read(); });
        return;
    }
    if (line->too_long) {
        return say_goodbye("a request has at most " + std::to_string(longest_control_request) + " bytes");
    }
    busy_ = true;
    impatience_.clear();
    owner_->asked(self, line->text);
    if (busy_ && !closed()) watch_for_end();
}

void control_connection::read() {
    const auto room = lines_.room();
    const ssize_t got = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got > 0) {
        lines_.filled(static_cast<std::size_t>(got));
    } else if (got == 0) {
        ended_ = true;
    } else if (errno != EAGAIN && errno != EINTR) {
        return close();
    }
    next_request();
}

/// Of a client whose answer takes its time; one that only has nothing more to ask stays.
void control_connection::watch_for_end() {
    if (end_watched_) return;
    end_watched_ = true;
    watch_->when(event_loop::readiness::broken, [this] {
        end_watched_ = false;
        if (busy_) close();
    });
}

void control_connection::say(std::string_view line) {
    if (closed()) return;
    out_ += line;
    out_ += '\n';
}

void control_connection::answered() {
    busy_ = false;
    flush();
}

void control_connection::say_goodbye(std::string_view why) {
    if (closed()) return;
    busy_ = false;
    leaving_ = true;
    (out_ += error_line(why)) += '\n';
    flush();
}

void control_connection::flush() {
    if (closed() || blocked_) return;
    while (written_ < out_.size()) {
        const ssize_t wrote =
            ::send(socket_.get(), out_.data() + written_, out_.size() - written_, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (wrote >= 0) {
            written_ += static_cast<std::size_t>(wrote);
            continue;
        }
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) return close();
        blocked_ = true;
        be_quick();
        watch_->when(event_loop::readiness::writable, [this] {
            blocked_ = false;
            flush();
        });
        return;
    }
    std::string().swap(out_);
    written_ = 0;
    if (leaving_) return close();
    if (busy_) return impatience_.clear();
    be_quick();
    loop_->post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->next_request();
    });
}

void control_connection::close() {
    if (closed()) return;
    const auto self = shared_from_this();
    turn_.clear();
    impatience_.clear();
    watch_.reset();
    socket_.close();
    owner_->gone(*this);
}

}  // namespace andon::gateway
