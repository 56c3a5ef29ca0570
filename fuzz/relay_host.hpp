// A host of the relay: what it says, and what it may hear.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "andon/wire/envelope.hpp"
#include "relay_line.hpp"
#include "require.hpp"

namespace andon::fuzz {

// Far enough from each other that no damaged byte makes one of another.
inline constexpr std::array host_marks{"host alder", "host birch", "host cedar", "host maple"};

inline constexpr std::array host_methods{"tools/call",
                                         "tools/call",
                                         "tools/call",
                                         "initialize",
                                         "ping",
                                         "notifications/cancelled",
                                         "notifications/cancelled",
                                         "notifications/initialized",
                                         "notifications/progress",
                                         "resources/subscribe",
                                         "logging/setLevel",
                                         "subscriptions/listen",
                                         "server/discover",
                                         "x"};
/// With the host's mark in it, wherever something of a host's can stand.
inline std::string host_line(input& in, const std::string& mark, bool modern) {
    const std::string method = in.pick(host_methods);
    const unsigned shape = in.next();
    std::string text = R"({"jsonrpc":"2.0")";
    if (shape % 16 == 15) {  // an answer
        return text + R"(,"id":)" + std::to_string(16 + in.next() % 32) + R"(,"result":{"of":")" + mark + R"("}})";
    }
    if (method.compare(0, 14, "notifications/") != 0 || shape % 16 == 14)
        text += std::string(R"(,"id":)") + in.pick(ids);
    text += R"(,"method":")" + method + R"(","params":{"name":"t","uri":"u:","of":")" + mark + '"';
    if (shape & 16U) text += std::string(R"(,"requestId":)") + in.pick(ids);
    if (shape & 32U) text += std::string(R"(,"progressToken":)") + in.pick(ids);
    if (method == "initialize") text += R"(,"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{})";
    text += R"(,"_meta":{"m":1)";
    if (shape & 64U) text += std::string(R"(,"progressToken":)") + in.pick(ids);
    if (modern) {
        text += R"(,"io.modelcontextprotocol/protocolVersion":"2026-07-28")"
                R"(,"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"debug")";
    }
    return text + "}}}";
}

/// Requests of one scope of ids that are to be answered yet, as the messages themselves say.
class expected_answers {
public:
    void sent(const std::string& text) {
        const padded line(text);
        const envelope* const message = reader_.read(line.text());
        std::string storage;
        if (message == nullptr) {
            if (const auto id = id_from_json(reader_.fault().raw_id, storage)) ++open_[request_id(*id)].often;
            return;
        }
        if (message->kind == message_kind::request) {
            auto& open = open_[request_id(message->id)];
            if (++open.often == 1) open.cancellable = message->method != "initialize";
        } else if (message->kind == message_kind::notification && message->method == "notifications/cancelled") {
            const auto id = id_from_json(message->raw_request_id, storage);
            const bool good = message->raw_reason.empty() || string_from_json(message->raw_reason);
            if (id && good) cancelled_.insert(request_id(*id));
        }
    }
    /// It was too long: a request is answered all the same, and anything else is as if it had not been said.
    void skipped(const std::string& text) {
        const padded line(text);
        const envelope* const message = reader_.read(line.text());
        if (message != nullptr && message->kind == message_kind::request) ++open_[request_id(message->id)].often;
    }
    /// What came before the cancel was dealt with may still be among what was said.
    void heard(const std::vector<std::string>& lines) {
        for (const std::string& text : lines) {
            const padded line(text);
            const envelope* const message = reader_.read(line.text());
            require(message != nullptr, "what a host hears is a message");
            if (message->kind == message_kind::request || message->kind == message_kind::notification) continue;
            if (!message->has_id) continue;
            const auto found = open_.find(request_id(message->id));
            require(found != open_.end() && found->second.often > 0, "an answer answers a request, once");
            --found->second.often;
        }
        for (const request_id& id : std::exchange(cancelled_, {})) {
            const auto found = open_.find(id);
            if (found != open_.end() && found->second.cancellable) open_.erase(found);
        }
    }

private:
    struct waiting {
        int often = 0;
        bool cancellable = true;
    };
    envelope_reader reader_;
    std::map<request_id, waiting> open_;
    std::set<request_id> cancelled_;
};

/// The stream of one modern request.
class one_reply final : public reply_path {
public:
    bool send(std::string_view line, const cancel_token* owner) override {
        if (owner != nullptr && owner->cancelled()) return false;
        require(!over, "nothing comes behind the answer");
        said.emplace_back(line);
        return true;
    }
    void answer(std::string_view line, int /*code*/) override {
        require(!std::exchange(over, true), "one answer");
        require(!gone, "and none to whom is gone");
        said.emplace_back(line);
    }
    void no_answer() override { over = true; }

    std::vector<std::string> said;
    bool over = false;
    bool gone = false;
};

}  // namespace andon::fuzz
