// Whoever connects to a control socket, with raw bytes.
#pragma once

#include <array>
#include <boost/json/parse.hpp>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "andon/wire/error.hpp"
#include "process/descriptor.hpp"

namespace andon::gateway {

inline constexpr std::chrono::seconds caller_patience{20};

class control_caller {
public:
    explicit control_caller(const std::filesystem::path& path)
        : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path.c_str(), path.string().size() + 1);
        if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {  // NOLINT
            throw std::runtime_error("cannot connect to " + path.string() + ": " + std::strerror(errno));
        }
    }

    /// False: nobody is there to read it.
    bool write(std::string_view bytes) {
        return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
    }
    bool say(std::string_view line) { return write(std::string(line) + '\n'); }
    /// How many of the bytes it took before nothing more fitted.
    std::size_t write_until_full(std::string_view bytes) {
        std::size_t all = 0;
        for (;;) {
            const ssize_t wrote = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (wrote <= 0) return all;
            all += static_cast<std::size_t>(wrote);
        }
    }
    void end_input() { ::shutdown(socket_.get(), SHUT_WR); }
    [[nodiscard]] int fd() const noexcept { return socket_.get(); }

    /// The next line; "" at the end.
    std::string line() {
        for (;;) {
            if (const std::size_t end = read_.find('\n'); end != std::string::npos) {
                std::string one = read_.substr(0, end);
                read_.erase(0, end + 1);
                return one;
            }
            pollfd ready{socket_.get(), POLLIN, 0};
            constexpr auto limit = std::chrono::milliseconds(caller_patience).count();
            if (::poll(&ready, 1, static_cast<int>(limit)) != 1) throw std::runtime_error("no line came");
            std::array<char, 65'536> piece{};
            const ssize_t got = ::recv(socket_.get(), piece.data(), piece.size(), 0);
            if (got <= 0) return "";
            read_.append(piece.data(), static_cast<std::size_t>(got));
        }
    }
    json::object answer() { return json::parse(line()).as_object(); }
    json::object ask(std::string_view request) {
        say(request);
        return answer();
    }
    [[nodiscard]] bool something_came() const {
        pollfd ready{socket_.get(), POLLIN, 0};
        return !read_.empty() || ::poll(&ready, 1, 0) == 1;
    }

private:
    detail::descriptor socket_;
    std::string read_;
};

}  // namespace andon::gateway
