// The connections of one client.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "transport/http/client_connection.hpp"
#include "transport/http/http_target.hpp"

namespace andon::detail {

/// On the loop's thread. Each exchange has a connection to itself while it lasts; afterwards the connection waits for
/// the next one. At most `most` exchanges are under way, the others wait their turn in order; brief ones have as many
/// turns of their own, because an answer to the server's question must not wait for the calls that it is to end, and
/// cancels have theirs, because they must not wait for a server that does not take the answers.
///
/// A connection that waited may have been closed by the server in the very moment in which it is used again. Such an
/// exchange is repeated, once and on a new connection, if not a byte came back, and
///  - if doing it twice does no harm, or
///  - if the server's system refused the bytes (a reset, also one that comes right behind the end of the connection):
///    then nobody has read them.
/// What remains is a server that reads a tools/call and then closes the connection without a word: it may have done the
/// work, so that it is not asked again.
class connection_pool {
public:
    struct settings {
        std::shared_ptr<const http_target> to;
        std::size_t most = 256;
        duration connect_timeout = std::chrono::seconds(10);
        duration idle_timeout = std::chrono::seconds(30);
        std::size_t longest_head = response_reader::usual_longest_head;
    };

    connection_pool(event_loop& loop, settings how);
    connection_pool(const connection_pool&) = delete;
    connection_pool& operator=(const connection_pool&) = delete;
    ~connection_pool();

    [[nodiscard]] std::shared_ptr<exchange> start(exchange::request what, exchange::listener& told);
    /// While it is held nothing is read of what calls and streams are answered with: the server has to wait.
    void hold(bool wanted);
    /// Works on what is under way without the loop, until it is all over or it is time.
    void run_out(time_point until);
    /// Abandons everything.
    void close();

    [[nodiscard]] std::size_t connections() const noexcept { return connections_.size(); }

private:
    friend class client_connection;
    friend class exchange;

    struct lane {
        std::size_t most;
        std::size_t under_way = 0;
        std::deque<std::shared_ptr<exchange>> waiting{};
    };

    [[nodiscard]] lane& lane_of(const exchange& what) noexcept {
        return lanes_[static_cast<std::size_t>(what.request_.in)];
    }
    void pump();
    void dispatch(const std::shared_ptr<exchange>& what, bool on_a_new_connection = false);
    [[nodiscard]] client_connection* rested();
    /// It is over: its place is free.
    void done_with(exchange& what);
    void abandon(exchange& what);
    void rest(client_connection& which, duration at_most);
    void remove(client_connection& which);

    event_loop* loop_;
    settings settings_;
    std::array<lane, 4> lanes_;
    std::unordered_map<client_connection*, std::shared_ptr<client_connection>> connections_;
    std::vector<client_connection*> resting_;  // in the order of their use
    bool closed_ = false;
    bool held_ = false;
};

}  // namespace andon::detail
