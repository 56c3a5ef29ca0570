#include "gateway/control/control_conversation.hpp"

#include <boost/json/parse.hpp>
#include <cerrno>
#include <chrono>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

namespace andon::gateway {
namespace {

std::chrono::milliseconds left_until(time_point until) {
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()),
                    std::chrono::milliseconds::zero());
}

/// Another user's process may pose as one of ours only where root let it.
bool trusted(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    return peer.uid == ::geteuid() || peer.uid == 0 || ::geteuid() == 0;
}

}  // namespace

std::vector<andon_address> find_andons(std::vector<std::string>& problems) {
    std::vector<andon_address> all;
    for (const auto& path : runtime_directories()) {
        try {
            auto folder = std::make_shared<const private_folder>(private_folder::find(path));
            if (!folder->found()) continue;
            for (const pid_t pid : folder->processes()) all.push_back({folder, pid});
        } catch (const std::runtime_error& wrong) {
            problems.emplace_back(wrong.what());
        }
    }
    return all;
}

control_conversation::control_conversation(pid_t pid, detail::descriptor socket)
    : pid_(pid), socket_(std::move(socket)), lines_(longest_control_reply) {}

void control_conversation::give_up(const std::string& why) const {
    throw andon_unreachable("andon " + std::to_string(pid_) + ' ' + why);
}

std::optional<control_conversation> control_conversation::begin(const andon_address& with, time_point until) {
    for (;;) {
        auto [socket, state] = connect_to(*with.folder, socket_name(with.pid));
        if (state == socket_state::stale || state == socket_state::missing) return std::nullopt;
        control_conversation begun(with.pid, std::move(socket));
        if (state == socket_state::open) {
            if (!trusted(begun.socket_.get())) begun.give_up("belongs to another user: it is left alone");
            return begun;
        }
        if (state == socket_state::refused) begun.give_up("cannot be connected to");
        constexpr std::chrono::milliseconds a_moment{20};
        if (left_until(until) <= a_moment) begun.give_up("does not answer");
        std::this_thread::sleep_for(a_moment);
    }
}

bool control_conversation::ready(short what, std::optional<time_point> until) const {
    for (;;) {
        pollfd on{socket_.get(), what, 0};
        constexpr std::chrono::milliseconds longest = std::chrono::hours(1);
        const int limit = until ? static_cast<int>(std::min(left_until(*until), longest).count()) : -1;
        const int found = ::poll(&on, 1, limit);
        if (found > 0) return true;
        if (found < 0 && errno != EINTR) give_up("cannot be waited for");
        if (until && left_until(*until).count() == 0) return false;
    }
}

void control_conversation::ask(const control_request& request, time_point until) {
    const std::string line = to_line(request);
    std::string_view rest = line;
    while (!rest.empty()) {
        const ssize_t wrote = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (wrote >= 0) {
            rest.remove_prefix(static_cast<std::size_t>(wrote));
        } else if (errno == EAGAIN) {
            if (!ready(POLLOUT, until)) give_up("does not answer");
        } else if (errno != EINTR) {
            give_up("left");
        }
    }
}

std::optional<json::object> control_conversation::next(std::optional<time_point> until) {
    for (;;) {
        if (const auto line = lines_.next()) {
            json::error_code failed;
            json::value said = line->too_long ? json::value() : json::parse(line->text, failed);
            if (failed || !said.is_object()) give_up("answers what is no answer");
            if (const auto wrong = text_in(said.get_object(), "error", longest_control_reason); !wrong.empty()) {
                give_up("says: " + wrong);
            }
            return std::move(said.get_object());
        }
        if (!ready(POLLIN, until)) return std::nullopt;
        const auto room = lines_.room();
        const ssize_t got = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
        if (got > 0) {
            lines_.filled(static_cast<std::size_t>(got));
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            give_up("left before it had answered");
        }
    }
}

json::object control_conversation::next_promptly(time_point until) {
    auto said = next(until);
    if (!said) give_up("does not answer");
    return std::move(*said);
}

}  // namespace andon::gateway
