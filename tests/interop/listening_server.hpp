// A server of others that listens, as a process of its own.
#pragma once

#include <andon/process/process_tree.hpp>
#include <array>
#include <cerrno>
#include <poll.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>

#include "interop/marks.hpp"

namespace andon {

/// It says `listening on URL` on standard error, where its marks come too.
class listening_server {
public:
    listening_server(command what, marks& seen)
        : marks_(seen), tree_(process_tree::start(std::move(what), {.out = stdio::null, .err = stdio::pipe})) {
        listener_ = std::thread([this] { listen(); });
    }
    listening_server(const listening_server&) = delete;
    listening_server& operator=(const listening_server&) = delete;
    ~listening_server() {
        kill();
        listener_.join();
    }

    /// Empty: it never listened.
    [[nodiscard]] std::string url() { return marks_.wait_for_line("listening on "); }
    void kill() {
        tree_.kill();
        tree_.wait();
    }

private:
    void listen() {
        std::array<char, 4'096> buffer{};
        for (;;) {
            pollfd ready{tree_.err(), POLLIN, 0};
            if (::poll(&ready, 1, -1) < 0) continue;
            const ssize_t got = ::read(tree_.err(), buffer.data(), buffer.size());
            if (got <= 0 && errno != EAGAIN && errno != EINTR) return;
            if (got == 0) return;
            if (got > 0) marks_.add({buffer.data(), static_cast<std::size_t>(got)});
        }
    }

    marks& marks_;
    process_tree tree_;
    std::thread listener_;
};

}  // namespace andon
