#include "gateway/control/control_socket.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <system_error>

#include "gateway/control/control_protocol.hpp"
#include "gateway/plain_json.hpp"

namespace andon::gateway {

using detail::event_loop;

namespace {

constexpr std::size_t most_connections = 64;
constexpr std::size_t most_waiting = most_connections / 2;  // so that there is always room for who asks only briefly
constexpr std::size_t most_watched_stops = 256;
constexpr std::size_t most_of_a_list = std::size_t{8} << 20U;
constexpr std::size_t most_unread = std::size_t{16} << 20U;

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

const std::string& done_line() {
    static const std::string line = R"({"done":true})";
    return line;
}

}  // namespace

/// Tells a client of the work that stops. The desk holds it for as long as that takes, the client may leave before.
class control_socket::stop_watch {
public:
    stop_watch(std::weak_ptr<control_connection> to, std::shared_ptr<std::size_t> count)
        : to_(std::move(to)), count_(std::move(count)) {
        ++*count_;
    }
    stop_watch(const stop_watch&) = delete;
    stop_watch& operator=(const stop_watch&) = delete;
    ~stop_watch() { --*count_; }

    void stopped(const stopped_call& call) {
        if (!announced_) {
            early_.push_back(call);
            return;
        }
        const auto client = to_.lock();
        if (!client || left_ == 0) return;
        client->say(plain_json(json::object{{"stopped", to_json(call)}}));
        if (--left_ != 0) return client->flush();
        client->say(done_line());
        client->answered();
    }
    /// The client knows now of how many it will hear.
    void announced(std::size_t calls) {
        announced_ = true;
        left_ = calls;
        const auto early = std::move(early_);
        for (const stopped_call& call : early) stopped(call);
    }

private:
    std::weak_ptr<control_connection> to_;
    std::shared_ptr<std::size_t> count_;
    bool announced_ = false;
    std::size_t left_ = 0;
    std::vector<stopped_call> early_;
};

control_socket::control_socket(event_loop& loop, control_desk& desk, identity who, log_sink log, duration patience)
    : loop_(&loop),
      desk_(&desk),
      who_(std::move(who)),
      log_(std::move(log)),
      patience_(patience),
      folder_(private_folder::make(runtime_directory())),
      name_(socket_name(::getpid())),
      path_(runtime_directory() / name_),
      again_(loop) {
    bind();
    watch_ = std::make_unique<event_loop::watch>(loop, socket_.get());
    accept_later();
}

control_socket::~control_socket() {
    const auto open_now = std::exchange(connections_, {});
    for (const connection& each : open_now) each->close();
    struct stat status {};
    const bool ours = ::fstatat(folder_.fd(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (ours && status.st_ino == inode_) ::unlinkat(folder_.fd(), name_.c_str(), 0);
}

/// Under another name first: a socket that can be found can be connected to, and has its permissions. A dead process
/// may have left one behind that had our number; it is replaced.
void control_socket::bind() {
    if (connect_to(folder_, name_).state == socket_state::open) {
        throw std::runtime_error(path_.string() + " is in use by another process with the same number");
    }
    const std::string first_name = '.' + name_ + ".new";
    ::unlinkat(folder_.fd(), first_name.c_str(), 0);
    socket_ = detail::descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket_.get() < 0) fail("no control socket");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string bound = folder_.address_of(first_name);
    std::memcpy(static_cast<char*>(address.sun_path), bound.c_str(), bound.size() + 1);
    constexpr mode_t ours_alone = 0600;
    constexpr int backlog = 64;
    struct stat status {};
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||  // NOLINT
        ::fchmodat(folder_.fd(), first_name.c_str(), ours_alone, 0) != 0 || ::listen(socket_.get(), backlog) != 0 ||
        ::fstatat(folder_.fd(), first_name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        ::renameat(folder_.fd(), first_name.c_str(), folder_.fd(), name_.c_str()) != 0) {
        fail("the control socket " + path_.string() + " cannot be made");
    }
    inode_ = status.st_ino;
}

void control_socket::accept_later() {
    watch_->when(event_loop::readiness::readable, [this] { accept(); });
}

void control_socket::accept() {
    constexpr int at_once = 16;
    constexpr std::chrono::milliseconds a_while{50};
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < at_once; ++i) {
        detail::descriptor socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (socket.get() >= 0) {
            take(std::move(socket));
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            return again_.set(begun + a_while, [this] { accept(); });
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return accept_later();
        }
    }
    // Who comes in such numbers can wait a little.
    constexpr std::chrono::milliseconds a_little{1};
    again_.set(std::chrono::steady_clock::now() + a_little, [this] { accept(); });
}

bool control_socket::may_ask(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    if (peer.uid == ::geteuid() || peer.uid == 0) return true;
    if (!std::exchange(told_of_strangers_, true)) {
        log_(log_level::warning, "control socket: a process of uid " + std::to_string(peer.uid) + " was turned away");
    }
    return false;
}

std::size_t control_socket::waiting() const {
    return static_cast<std::size_t>(
        std::count_if(connections_.begin(), connections_.end(), [](const connection& each) { return each->busy(); }));
}

void control_socket::take(detail::descriptor socket) {
    if (!may_ask(socket.get())) return;
    control_connection::owner& told = *this;
    const auto client = std::make_shared<control_connection>(*loop_, std::move(socket), told, patience_);
    connections_.push_back(client);
    make_room_for(client.get());
    client->open();
}

/// Those who came before and only hold a place, or do not read, go.
void control_socket::make_room_for(const control_connection* newest) {
    for (;;) {
        std::size_t unread = 0;
        for (const connection& each : connections_) unread += each->unread();
        const bool crowded = connections_.size() > most_connections;
        if (!crowded && unread <= most_unread) return;
        const auto leaves = std::find_if(connections_.begin(), connections_.end(), [&](const connection& each) {
            return each.get() != newest && (crowded ? !each->busy() : each->unread() != 0);
        });
        if (leaves == connections_.end()) return;
        const connection held = *leaves;
        held->close();
    }
}

void control_socket::gone(const control_connection& which) {
    std::erase_if(connections_, [&](const connection& each) { return each.get() == &which; });
}

void control_socket::asked(const connection& by, std::string_view line) {
    constexpr int share = 4;  // of the loop's time is for others, to one of ours
    const auto begun = std::chrono::steady_clock::now();
    answer(by, line);
    const auto now = std::chrono::steady_clock::now();
    next_turn_ = now + share * (now - begun);
}

void control_socket::answer(const connection& to, std::string_view line) try {
    const control_request request = control_request_of(line);
    switch (request.op) {
        case control_operation::hello: to->say(hello()); break;
        case control_operation::list: list(to); break;
        case control_operation::stop: return stop(to, request);
    }
    make_room_for(to.get());
    to->answered();
} catch (const std::invalid_argument& wrong) {
    to->say(control_connection::error_line(wrong.what()));
    to->answered();
}

std::string control_socket::hello() const {
    json::array servers;
    for (const upstream_view& each : desk_->upstreams()) servers.push_back(to_json(each));
    using std::chrono::milliseconds;
    return plain_json(json::object{
        {"pid", ::getpid()},
        {"kind", who_.kind},
        {"name", who_.name},
        {"version", ANDON_VERSION},
        {"started_ms", std::chrono::duration_cast<milliseconds>(started_.time_since_epoch()).count()},
        {"servers", std::move(servers)},
    });
}

void control_socket::list(const connection& to) const {
    for (const upstream_view& each : desk_->upstreams()) {
        to->say(plain_json(json::object{{"server", to_json(each)}}));
    }
    std::size_t more = 0;
    for (const relayed_call_view& each : desk_->calls()) {
        if (to->unread() > most_of_a_list) {
            ++more;
        } else {
            to->say(plain_json(json::object{{"call", to_json(each)}}));
        }
    }
    for (const relayed_call_view& each : desk_->stopped()) {
        if (to->unread() <= most_of_a_list) to->say(plain_json(json::object{{"call", to_json(each)}}));
    }
    to->say(plain_json(json::object{{"done", true}, {"more", more}}));
}

void control_socket::stop(const connection& to, const control_request& request) {
    // Stopping is never refused for the want of room, only being told of its end is.
    const bool watched = request.wait && waiting() <= most_waiting && *watched_stops_ < most_watched_stops;
    const auto watch = watched ? std::make_shared<stop_watch>(to, watched_stops_) : nullptr;
    std::function<void(const stopped_call&)> stopped;
    if (watch) stopped = [watch](const stopped_call& call) { watch->stopped(call); };
    const auto numbers = desk_->stop(request.which, request.reason, request.asked_by, std::move(stopped));
    log_(log_level::info, "asked by " + (request.asked_by.empty() ? "an operator" : request.asked_by) + " to stop " +
                              std::to_string(numbers.size()) + (numbers.size() == 1 ? " call" : " calls") +
                              (request.reason.empty() ? "" : ": " + request.reason));
    to->say(plain_json(json::object{{"asked", json::array(numbers.begin(), numbers.end())}}));
    if (request.wait && !watched && !numbers.empty()) {
        to->say(control_connection::error_line("too many are waiting already; these were asked to stop all the same"));
        return to->answered();
    }
    if (!request.wait || numbers.empty()) {
        to->say(done_line());
        return to->answered();
    }
    to->flush();
    watch->announced(numbers.size());
}

}  // namespace andon::gateway
