// andon in front of a server, as a process of its own, and what that server was sent.
#pragma once

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "own_folder.hpp"
#include "server/http_caller.hpp"
#include "server/served.hpp"
#include "server/server_process.hpp"

namespace andon {

using words = std::vector<std::string>;

/// `andon SUBCOMMAND`, whose files are all in the folder. What its servers write to standard error is among its own.
class andon_in_front : public server_process {
public:
    andon_in_front(revision speaks, const own_folder& folder, words arguments)
        : server_process(speaks, {.argv = with_command(std::move(arguments)),
                                  .environment = {"HOME=" + (folder / "home"), "XDG_CONFIG_HOME=", "ANDON_CONFIG=",
                                                  "ANDON_LOG=", "ANDON_RUNTIME_DIR=" + (folder / "run"),
                                                  "ANDON_STATE_DIR=" + (folder / "state")}}) {}

private:
    static words with_command(words arguments) {
        arguments.insert(arguments.begin(), ANDON_COMMAND);
        return arguments;
    }
};

inline words joined(words first, const words& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
}

/// With the options of `andon wrap`, and the server's command or `--url`.
class wrapped : public andon_in_front {
public:
    wrapped(revision speaks, const own_folder& folder, const words& behind, const words& options = {})
        : andon_in_front(speaks, folder, joined(joined({"wrap", "--log-format", "human"}, options), behind)) {}
};

class gateway_in_front : public andon_in_front {
public:
    gateway_in_front(const own_folder& folder, const words& behind, const words& options = {})
        : andon_in_front(newest_legacy, folder,
                         joined(joined({"gateway", "--port", "0", "--log-format", "human"}, options), behind)) {
        const std::string line = line_with(": http://");
        port_ = static_cast<std::uint16_t>(std::stoul(line.substr(line.rfind(':') + 1)));
    }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] http_caller caller(revision speaks) const { return http_caller(port_, speaks); }

private:
    std::uint16_t port_ = 0;
};

inline words everything_behind(const words& arguments = {}) {
    return joined({"--", ANDON_EVERYTHING_SERVER}, arguments);
}

/// What a recording_server was sent, so far.
class recording {
public:
    struct line {
        pid_t server;
        std::string text;

        [[nodiscard]] json::object message() const { return json::parse(text).as_object(); }
    };

    explicit recording(const own_folder& folder) : file_(folder / "recorded") {}

    [[nodiscard]] words server(era speaks = era::legacy) const {
        return {"--", ANDON_RECORDING_SERVER, file_, speaks == era::modern ? "modern" : "legacy"};
    }
    [[nodiscard]] std::vector<line> lines() const {
        std::vector<line> all;
        std::ifstream from(file_);
        for (std::string text; std::getline(from, text);) {
            const std::size_t space = text.find(' ');
            if (from.eof() || space == std::string::npos) break;  // it is not whole yet
            all.push_back({static_cast<pid_t>(std::stol(text)), text.substr(space + 1)});
        }
        return all;
    }
    [[nodiscard]] std::vector<line> with(std::string_view text) const {
        auto all = lines();
        std::erase_if(all, [&](const line& each) { return each.text.find(text) == std::string::npos; });
        return all;
    }
    /// Waits for as many.
    [[nodiscard]] std::vector<line> await(std::string_view text, std::size_t count = 1) const {
        std::vector<line> found;
        EXPECT_TRUE(eventually([&] { return (found = with(text)).size() >= count; }))
            << "no " << count << " lines with " << text << "; but" << all();
        return found;
    }
    [[nodiscard]] std::string all() const {
        std::string text;
        for (const line& each : lines()) text += '\n' + std::to_string(each.server) + ' ' + each.text.substr(0, 400);
        return text;
    }

private:
    std::string file_;
};

/// A host, whichever way it reaches andon: calls by its own ids, and the answers in the bytes in which they come.
class relay_host {
public:
    relay_host() = default;
    relay_host(const relay_host&) = delete;
    relay_host& operator=(const relay_host&) = delete;
    virtual ~relay_host() = default;

    virtual void call(std::string_view raw_id, std::string_view tool, std::string_view raw_arguments = "{}",
                      std::string_view raw_meta = {}) = 0;
    /// In the way of its revision and transport; the call is not waited for any more.
    virtual void cancel(std::string_view raw_id) = 0;
    /// Waits for the next message that has the text, among those for that call.
    virtual std::string message_with(std::string_view raw_id, std::string_view text) = 0;
    /// A notification as it is.
    virtual void tell(std::string_view line) = 0;
    /// Messages for that call that came and that nobody waited for.
    virtual std::vector<std::string> unheard(std::string_view raw_id) = 0;

    std::string answer(std::string_view raw_id) {
        return message_with(raw_id, R"(,"id":)" + std::string(raw_id) + ",\"");
    }
    void fence() {
        call("\"fence\"", "echo", R"({"text":"fence"})");
        EXPECT_NE(answer("\"fence\"").find("fence"), std::string::npos);
    }
};

class wrap_host : public relay_host {
public:
    wrap_host(revision speaks, const own_folder& folder, const words& behind, const words& options = {})
        : andon_(speaks, folder, behind, options) {
        andon_.open();
    }
    [[nodiscard]] wrapped& process() noexcept { return andon_; }

    void call(std::string_view raw_id, std::string_view tool, std::string_view raw_arguments = "{}",
              std::string_view raw_meta = {}) override {
        andon_.call(raw_id, tool, raw_arguments, raw_meta);
    }
    void cancel(std::string_view raw_id) override { andon_.cancel(raw_id); }
    std::string message_with(std::string_view /*raw_id*/, std::string_view text) override {
        return andon_.line_with(text);
    }
    void tell(std::string_view line) override { andon_.send(line); }
    std::vector<std::string> unheard(std::string_view raw_id) override {
        std::vector<std::string> all = andon_.lines();
        std::erase_if(all, [&](const std::string& each) {
            return each.find(R"(,"id":)" + std::string(raw_id) + ",\"") == std::string::npos;
        });
        return all;
    }

private:
    wrapped andon_;
};

/// One client of a gateway.
class http_host : public relay_host {
public:
    http_host(const gateway_in_front& gateway, revision speaks) : client_(gateway.caller(speaks)) { client_.open(); }
    [[nodiscard]] http_caller& client() noexcept { return client_; }

    void call(std::string_view raw_id, std::string_view tool, std::string_view raw_arguments = "{}",
              std::string_view raw_meta = {}) override {
        streams_.insert_or_assign(std::string(raw_id), stream{client_.call(raw_id, tool, raw_arguments, raw_meta)});
    }
    void cancel(std::string_view raw_id) override {
        if (client_.modern()) {
            streams_.erase(std::string(raw_id));
        } else {
            client_.cancel(raw_id);
        }
    }
    std::string message_with(std::string_view raw_id, std::string_view text) override {
        stream& of = streams_.at(std::string(raw_id));
        while (const auto next = of.next()) {
            if (next->find(text) != std::string::npos) return *next;
            of.unheard.push_back(*next);
        }
        ADD_FAILURE() << "the stream of " << raw_id << " has ended without " << text;
        return {};
    }
    void tell(std::string_view line) override { EXPECT_LT(client_.tell(line), 500); }
    std::vector<std::string> unheard(std::string_view raw_id) override {
        const auto found = streams_.find(std::string(raw_id));
        if (found == streams_.end()) return {};
        if (!found->second.connection.quiet()) {
            while (const auto next = found->second.next()) found->second.unheard.push_back(*next);
        }
        return found->second.unheard;
    }

private:
    struct stream {
        http_client connection;
        bool begun = false;
        bool in_events = false;
        std::vector<std::string> unheard{};

        /// Nothing: that was all.
        std::optional<std::string> next() {
            if (!begun) {
                begun = true;
                in_events = connection.head().in_events();
                if (!in_events) return connection.body();
            }
            if (!in_events) return std::nullopt;
            for (;;) {
                auto event = connection.event();
                if (!event) return std::nullopt;
                if (!event->data.empty()) return event->data;
            }
        }
    };

    http_caller client_;
    std::map<std::string, stream, std::less<>> streams_;
};

}  // namespace andon
