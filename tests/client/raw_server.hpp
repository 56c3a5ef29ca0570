// A server that is nothing but lines: what the client writes is looked at as it is, and answered by hand.
#pragma once

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <future>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "server/served.hpp"

namespace andon {

class raw_server {
public:
    raw_server() {
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()) != 0) {
            throw std::system_error(errno, std::generic_category(), "socketpair");
        }
    }
    raw_server(const raw_server&) = delete;
    raw_server& operator=(const raw_server&) = delete;
    ~raw_server() { die(); }

    json::object can{};  ///< its capabilities

    /// The client's end, once.
    [[nodiscard]] std::unique_ptr<transport> theirs() {
        const int end = std::exchange(ends_[1], -1);
        return descriptor_transport(end, end);
    }
    /// A client that finds the only revision it speaks.
    [[nodiscard]] client connect(client_options options) {
        auto hands = std::async(std::launch::async, [&, newest = options.revisions.back()] { shake(newest); });
        auto made = client::connect(theirs(), std::move(options));
        hands.get();
        return made;
    }
    void die() {
        if (ends_[0] >= 0) ::close(std::exchange(ends_[0], -1));
    }

    void write_line(const std::string& line) const {
        const std::string whole = line + '\n';
        if (::send(ends_[0], whole.data(), whole.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(whole.size())) {
            throw std::system_error(errno, std::generic_category(), "write to the client");
        }
    }
    void write(const json::object& message) const { write_line(json::serialize(message)); }
    /// Null: nothing comes any more.
    [[nodiscard]] json::value read() const {
        const std::string line = read_line(ends_[0]);
        return line.empty() ? json::value() : json::parse(line);
    }
    void answer(const json::value& id, json::object result) const {
        write({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
    }
    /// A tool's whole answer, of any revision.
    void answer_text(const json::value& id, std::string_view text) const {
        answer(id, {{"resultType", "complete"}, {"content", {{{"type", "text"}, {"text", text}}}}});
    }
    void progress(const json::value& token, double done) const {
        write({{"jsonrpc", "2.0"},
               {"method", "notifications/progress"},
               {"params", {{"progressToken", token}, {"progress", done}}}});
    }
    /// All that the client has written so far, each as `method` with its id, or as `method` of what it cancels: what
    /// comes before a request that is made for this.
    [[nodiscard]] std::vector<std::string> written_by(client& client) const {
        std::vector<std::string> all;
        auto fence = client.request("tools/list");
        for (;;) {
            const json::value message = read();
            if (message.is_null()) return all;
            const json::object& object = message.as_object();
            const json::value* const method = object.if_contains("method");
            if (method != nullptr && *method == "tools/list") {
                answer(object.at("id"), {{"resultType", "complete"}, {"tools", json::array()}});
                EXPECT_TRUE(fence.get().completed());
                return all;
            }
            all.push_back(method != nullptr ? std::string(method->as_string()) : json::serialize(message));
        }
    }

    /// The beginning of a session.
    void shake(revision speaks) const {
        const json::value hello = read();
        if (hello.is_null()) return;
        if (era_of(speaks) == era::modern) {
            answer(hello.at("id"),
                   {{"resultType", "complete"}, {"supportedVersions", {to_string(speaks)}}, {"capabilities", can}});
            return;
        }
        EXPECT_EQ(hello.at("method"), "initialize");
        answer(hello.at("id"), {{"protocolVersion", to_string(speaks)},
                                {"capabilities", can},
                                {"serverInfo", {{"name", "raw"}, {"version", "1"}}}});
        EXPECT_EQ(read().at("method"), "notifications/initialized");
    }

private:
    std::array<int, 2> ends_{-1, -1};
};

}  // namespace andon
