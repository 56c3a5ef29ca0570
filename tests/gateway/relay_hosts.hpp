// andon in front of a server, as a process of its own, and hosts that call it.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/andon_process.hpp"
#include "built_programs.hpp"
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
        : server_process(speaks, {.argv = with_command(std::move(arguments)), .environment = at_home(folder)}) {}

private:
    static words with_command(words arguments) {
        arguments.insert(arguments.begin(), built_program("andon"));
        return arguments;
    }
    static words at_home(const own_folder& folder) {
        words all;
        for (const auto& [name, value] : at_home_in(folder)) all.push_back(name + '=' + value);
        return all;
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
        : andon_in_front(speaks, folder, joined(joined({"wrap"}, options), behind)) {}
};

class gateway_in_front : public andon_in_front {
public:
    gateway_in_front(const own_folder& folder, const words& behind, const words& options = {})
        : andon_in_front(newest_legacy, folder, joined(joined({"gateway", "--port", "0"}, options), behind)) {
        const std::string line = line_with(": http://");
        port_ = static_cast<std::uint16_t>(std::stoul(line.substr(line.rfind(':') + 1)));
    }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] http_caller caller(revision speaks) const { return http_caller(port_, speaks); }

private:
    std::uint16_t port_ = 0;
};

inline words everything_behind(const words& arguments = {}) {
    return joined({"--", built_program("everything_server")}, arguments);
}

/// Whether a host has shaken hands when it is made.
enum class opened : std::uint8_t { at_once, later };

/// A host, whichever way it reaches andon: calls by its own ids, and the answers in the bytes in which they come.
class relay_host {
public:
    explicit relay_host(revision speaks) : speaks_(speaks) {}
    relay_host(const relay_host&) = delete;
    relay_host& operator=(const relay_host&) = delete;
    virtual ~relay_host() = default;

    [[nodiscard]] revision speaks() const noexcept { return speaks_; }
    /// The handshake, where there is one.
    virtual void open() = 0;
    void call(std::string_view raw_id, std::string_view tool, std::string_view raw_arguments = "{}",
              std::string_view raw_meta = {}) {
        send(raw_id, call_line(speaks_, raw_id, tool, raw_arguments, raw_meta), "tools/call", tool);
    }
    /// Another request than of a tool.
    void request(std::string_view raw_id, std::string_view method, std::string_view raw_members) {
        send(raw_id, request_line(speaks_, raw_id, method, raw_members), method);
    }
    /// In the way of its revision and transport; the call is not waited for any more.
    virtual void cancel(std::string_view raw_id, std::string_view raw_reason = {}) = 0;
    /// Waits for the next message that has the text, among those for that call.
    virtual std::string message_with(std::string_view raw_id, std::string_view text) = 0;
    /// A notification as it is.
    virtual void tell(std::string_view line) = 0;
    /// Messages for that call that came and that nobody waited for.
    virtual std::vector<std::string> unheard(std::string_view raw_id) = 0;
    /// Its connections, or andon's standard input.
    virtual void vanish() = 0;

    std::string answer(std::string_view raw_id) {
        return message_with(raw_id, R"(,"id":)" + std::string(raw_id) + ",\"");
    }
    void fence() {
        call("\"fence\"", "echo", R"({"text":"fence"})");
        EXPECT_NE(answer("\"fence\"").find(R"("text":"fence")"), std::string::npos);
    }

private:
    /// A request as it is; what of it goes into headers as well.
    virtual void send(std::string_view raw_id, std::string_view line, std::string_view method,
                      std::string_view name = {}) = 0;

    revision speaks_;
};

class wrap_host : public relay_host {
public:
    wrap_host(revision speaks, const own_folder& folder, const words& behind, const words& options = {},
              opened when = opened::at_once)
        : relay_host(speaks), andon_(speaks, folder, behind, options) {
        if (when == opened::at_once) andon_.open();
    }
    [[nodiscard]] wrapped& process() noexcept { return andon_; }

    void open() override { andon_.open(); }
    void cancel(std::string_view raw_id, std::string_view raw_reason = {}) override {
        andon_.cancel(raw_id, raw_reason);
    }
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
    void vanish() override { andon_.close_input(); }

private:
    void send(std::string_view /*raw_id*/, std::string_view line, std::string_view /*method*/,
              std::string_view /*name*/) override {
        andon_.send(line);
    }

    wrapped andon_;
};

/// One client of a gateway.
class http_host : public relay_host {
public:
    http_host(const gateway_in_front& gateway, revision speaks, opened when = opened::at_once)
        : relay_host(speaks), client_(gateway.caller(speaks)) {
        if (when == opened::at_once) client_.open();
    }
    [[nodiscard]] http_caller& client() noexcept { return client_; }

    void open() override { client_.open(); }
    void cancel(std::string_view raw_id, std::string_view raw_reason = {}) override {
        if (client_.modern()) {
            drop(raw_id);
        } else {
            client_.cancel(raw_id, raw_reason);
        }
    }
    /// The connection that the call came on.
    void drop(std::string_view raw_id) { streams_.erase(std::string(raw_id)); }
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
    /// Waits for the end of the stream. The same, once nothing more can come.
    std::vector<std::string> unheard_to_the_end(std::string_view raw_id) {
        stream& of = streams_.at(std::string(raw_id));
        while (const auto next = of.next()) of.unheard.push_back(*next);
        return of.unheard;
    }
    void vanish() override { streams_.clear(); }

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
                std::string body = in_events ? std::string() : connection.body();
                if (!body.empty()) return body;
            }
            if (!in_events) return std::nullopt;
            for (;;) {
                auto event = connection.event();
                if (!event) return std::nullopt;
                if (!event->data.empty()) return event->data;
            }
        }
    };

    void send(std::string_view raw_id, std::string_view line, std::string_view method, std::string_view name) override {
        streams_.insert_or_assign(std::string(raw_id), stream{client_.send(client_.post(line, method, name))});
    }

    http_caller client_;
    std::map<std::string, stream, std::less<>> streams_;
};

enum class front_door : std::uint8_t { wrap, gateway };

/// One andon and one host of it.
struct relayed {
    std::unique_ptr<gateway_in_front> gateway{};  ///< null: the host has andon wrap to itself
    std::unique_ptr<relay_host> host{};
    server_process* andon = nullptr;  ///< whose standard error the server's is part of

    [[nodiscard]] static relayed through(front_door which, revision speaks, const own_folder& folder,
                                         const words& behind, const words& options = {},
                                         opened when = opened::at_once) {
        if (which == front_door::wrap) {
            auto host = std::make_unique<wrap_host>(speaks, folder, behind, options, when);
            server_process* const andon = &host->process();
            return {.host = std::move(host), .andon = andon};
        }
        auto gateway = std::make_unique<gateway_in_front>(folder, behind, options);
        auto host = std::make_unique<http_host>(*gateway, speaks, when);
        server_process* const andon = gateway.get();
        return {.gateway = std::move(gateway), .host = std::move(host), .andon = andon};
    }
};

}  // namespace andon
