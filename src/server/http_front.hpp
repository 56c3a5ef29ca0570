// Where HTTP connections come in, and which endpoint their requests go to.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "andon/server/http.hpp"
#include "server/http_endpoint.hpp"
#include "server/http_listener.hpp"

namespace andon::detail {

/// On the loop's thread, but for open() and what comes before start().
class http_front final : private http_connection::owner {
public:
    /// What holds up the end of whoever leaves: answers that are being written.
    struct departure {
        duration within = std::chrono::milliseconds(400);
        std::function<void()> held_up{};
        std::function<void()> free_again{};
    };
    /// A page for people and programs that is no MCP: its type and its text. It needs a token where MCP does.
    struct page {
        std::string type;
        std::function<std::string()> text;
    };

    http_front(std::shared_ptr<conversation::surroundings> around, http_options options, departure how);
    ~http_front();

    /// Before start(). The path of the first is the options' own.
    void add(http_service& behind, std::string path);
    void add_page(std::string path, page what) { pages_.insert_or_assign(std::move(path), std::move(what)); }

    /// On any thread, before start(). The port that it listens on.
    std::uint16_t open() { return listener_.open(); }
    void start();
    /// Serves a connection that somebody else accepted.
    void take(int socket, std::string address) { listener_.take(socket, std::move(address)); }
    /// No new connection; every request is told (cause "shutdown").
    void leave(std::string_view why);
    /// What was decided was written: the rest is cut off.
    void close_connections();

private:
    void on_request(http_connection& from, http_request request) override;
    void on_last_written(http_connection& from) override { written(&from); }
    void on_closed(http_connection& from) override;

    void show(http_connection& from, const http_request& request, const page& what);
    /// Whether a page may be shown; else it was answered.
    bool let_in(http_connection& from, const http_request& request);
    [[nodiscard]] std::string nothing_here() const;
    void written(const http_connection* from);
    void all_written();

    std::shared_ptr<conversation::surroundings> around_;
    http_options options_;
    departure departure_;
    http_listener listener_;
    event_loop::timer patience_;  // with clients that do not read their last answer
    std::vector<std::unique_ptr<http_endpoint>> endpoints_;
    std::map<std::string, page, std::less<>> pages_;
    std::unordered_set<const http_connection*> unwritten_;  // once it is leaving
    bool leaving_ = false;
};

}  // namespace andon::detail
