#include "server/http_listener.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <system_error>
#include <vector>

namespace andon::detail {
namespace {

void set_option(int socket, int level, int name, int value) { ::setsockopt(socket, level, name, &value, sizeof value); }

/// A client that vanished without a word is found by what we send it and it does not acknowledge, and by probes while
/// we have nothing to send.
void watch_over(int socket, duration patience) {
    constexpr std::int64_t most = 32'767;  // that the kernel takes
    const auto wanted = std::chrono::duration_cast<std::chrono::seconds>(patience).count();
    const std::int64_t seconds = std::clamp<std::int64_t>(wanted, 1, most);
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(seconds));
    set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(std::max<std::int64_t>(seconds / 3, 1)));
    set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
    set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(seconds * 1'000));
    // What the kernel has not sent when one that does not read is cut off is lost, and has to be among what is kept for
    // a resume. Left alone it takes some megabytes.
    constexpr int unsent = 64 << 10;
    set_option(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, unsent);
}

std::string text_of(const sockaddr_storage& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* const bytes =
        address.ss_family == AF_INET6
            ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr)  // NOLINT
            : static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr);   // NOLINT
    return ::inet_ntop(address.ss_family, bytes, text.data(), text.size()) != nullptr ? text.data() : "?";
}

void allow_many_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

http_listener::http_listener(event_loop& loop, const http_options& options, http_connection::owner& told)
    : loop_(&loop), options_(&options), owner_(&told), again_(loop) {
    const http_limits& given = options.limits;
    limits_.request = {.head = given.head, .body = given.body};
    limits_.pipelined = given.head + std::size_t{64} * 1024;
    constexpr std::size_t of_each_that_is_idle = std::size_t{4} << 10U;
    limits_.waiting = {.soft = given.waiting_soft, .hard = given.waiting_hard, .keep = of_each_that_is_idle};
    limits_.receive_within = given.receive_within;
    limits_.idle = given.idle_connection;
    limits_.stalled = given.stalled;
    limits_.quiet = options.comment_every;
}

std::uint16_t http_listener::open() {
    if (!options_->certificate.empty()) tls_ = tls_context::server(options_->certificate, options_->private_key);
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
    addrinfo* found = nullptr;
    const std::string port = std::to_string(options_->port);
    if (const int failed = ::getaddrinfo(options_->address.c_str(), port.c_str(), &hints, &found); failed != 0) {
        throw std::runtime_error("cannot listen on " + options_->address + ": " + ::gai_strerror(failed));
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> freed(found, ::freeaddrinfo);
    socket_ = descriptor(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket_.get() >= 0) set_option(socket_.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    constexpr int backlog = 4'096;
    if (socket_.get() < 0 || ::bind(socket_.get(), found->ai_addr, found->ai_addrlen) != 0 ||
        ::listen(socket_.get(), backlog) != 0) {
        throw std::system_error(errno, std::generic_category(),
                                "cannot listen on " + options_->address + " port " + port);
    }
    allow_many_descriptors();
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&bound), &size);                    // NOLINT
    return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port  // NOLINT
                                             : reinterpret_cast<sockaddr_in&>(bound).sin_port);  // NOLINT
}

void http_listener::start() {
    if (socket_.get() < 0) return;  // what there is to serve comes from elsewhere
    watch_ = std::make_unique<event_loop::watch>(*loop_, socket_.get());
    accept_later();
}

void http_listener::stop_accepting() {
    again_.clear();
    watch_.reset();
    socket_.close();
}

void http_listener::accept_later() {
    watch_->when(event_loop::readiness::readable, [this] { accept(); });
}

void http_listener::accept() {
    constexpr int at_once = 64;
    for (int i = 0; i < at_once; ++i) {
        sockaddr_storage from{};
        socklen_t size = sizeof from;
        const int socket = ::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&from), &size,
                                     SOCK_NONBLOCK | SOCK_CLOEXEC);  // NOLINT
        if (socket >= 0) {
            take(socket, text_of(from));
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            // There is nothing to accept it with; those that are open go on.
            constexpr std::chrono::milliseconds a_while{50};
            return again_.set(std::chrono::steady_clock::now() + a_while, [this] { accept(); });
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            break;
        }
    }
    accept_later();
}

void http_listener::take(int socket, std::string address) {
    descriptor owned(socket);
    if (connections_.size() >= options_->limits.connections) return;
    watch_over(socket, options_->limits.stalled);
    auto connection = std::make_shared<http_connection>(*loop_, byte_stream(std::move(owned), tls_), tls_ != nullptr,
                                                        std::move(address), limits_, *owner_);
    connections_.emplace(connection.get(), connection);
    connection->open();
}

void http_listener::for_each(const std::function<void(http_connection&)>& f) const {
    std::vector<std::shared_ptr<http_connection>> open_now;
    open_now.reserve(connections_.size());
    for (const auto& [key, connection] : connections_) open_now.push_back(connection);
    for (const auto& connection : open_now) f(*connection);
}

}  // namespace andon::detail
