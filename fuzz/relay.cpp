// Hostile hosts and hostile servers with the relay between them: no process, no network, no clock. What one host writes
// reaches no other, every request has at most one answer, none comes after its cancel, servers hear of cancels only of
// what they were asked, and nothing is left when all are gone.
#include "gateway/relay/relay.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gateway/relay/call_desk.hpp"
#include "padded.hpp"
#include "require.hpp"

namespace {

using namespace andon;
using namespace andon::gateway;
using andon::fuzz::require;

struct input {
    const unsigned char* at;
    const unsigned char* end;
    unsigned next() { return at == end ? 0U : *at++; }
    template <class Pool>
    const auto& pick(const Pool& pool) {
        return pool[next() % std::size(pool)];
    }
    std::string bytes(std::size_t most) {
        const std::size_t wanted = next() % (most + 1);
        const std::size_t size = std::min(wanted, static_cast<std::size_t>(end - at));
        std::string taken(at, at + size);
        at += size;
        std::replace(taken.begin(), taken.end(), '\n', ' ');
        // Marks are put in by whose they are, and by nobody else.
        const bool forged = taken.find("host ") != std::string::npos || taken.find("server ") != std::string::npos ||
                            taken.find("for") != std::string::npos;
        return forged ? "" : taken;
    }
};

class nobody final : public call_observer {
    void on_begun(const relayed_call& /*call*/) override {}
    void on_asked_to_stop(const relayed_call& call) override { static_cast<void>(call.view()); }
    void on_ignored(const relayed_call& /*call*/) override {}
    void on_over(const relayed_call& call) override { static_cast<void>(call.entry()); }
    void on_amended(const relayed_call& call) override { static_cast<void>(call.entry()); }
    void on_resumed(const relayed_call& call) override { static_cast<void>(call.view()); }
    void on_over_again(const relayed_call& call) override { static_cast<void>(call.view()); }
    void on_late_message(const std::string& /*server*/) override {}
    void on_restart(const std::string& /*server*/) override {}
    void on_session(const std::string& /*server*/, bool /*begins*/) override {}
    void on_killed(const std::string& /*server*/, std::uint32_t /*processes*/) override {}
};

/// One end, in our hands.
class end_of_line {
public:
    /// What the relay has said since the last look.
    std::vector<std::string> said() { return std::exchange(said_, {}); }
    [[nodiscard]] bool open() const noexcept { return to_ != nullptr; }
    void hear(const std::string& text) {
        const fuzz::padded line(text);
        if (to_ != nullptr) to_->on_line(line.text());
    }
    void too_long() {
        if (to_ != nullptr) to_->on_line_too_long();
    }
    void hang_up() {
        if (to_ != nullptr) std::exchange(to_, nullptr)->on_closed("hung up");
    }

    class line final : public transport {
    public:
        explicit line(std::shared_ptr<end_of_line> end) : end_(std::move(end)) {}
        ~line() override { end_->to_ = nullptr; }
        void open(detail::event_loop& /*loop*/, events& to) override { end_->to_ = &to; }
        bool send(std::string_view text, const cancel_token* owner) override {
            if (owner != nullptr && owner->cancelled()) return false;
            end_->said_.emplace_back(text);
            return true;
        }
        void close() override { end_->to_ = nullptr; }

    private:
        std::shared_ptr<end_of_line> end_;
    };

private:
    transport::events* to_ = nullptr;
    std::vector<std::string> said_;
};

json::object message_in(const std::string& line) {
    require(line.find('\n') == std::string::npos, "what is sent is one line");
    auto value = value_from_json(line);
    require(value && value->is_object(), "and a message");
    return std::move(value->get_object());
}

/// Requests of one scope of ids that are to be answered yet, as the messages themselves say.
class expected_answers {
public:
    void sent(const std::string& text) {
        const fuzz::padded line(text);
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
    /// What came before the cancel was dealt with may still be among what was said.
    void heard(const std::vector<std::string>& lines) {
        for (const std::string& text : lines) {
            const fuzz::padded line(text);
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

/// What a server was asked, and what it may hear of it.
class asked_of_server {
public:
    /// Lines from the relay. Gives the ids of requests among them.
    void heard(const std::vector<std::string>& lines) {
        for (const std::string& line : lines) {
            const json::object message = message_in(line);
            const json::value* const method = message.if_contains("method");
            const json::value* const id = message.if_contains("id");
            if (method != nullptr && id != nullptr) {
                require(id->is_int64(), "ids are ours");
                require(!known_.contains(id->get_int64()) || open_.count(id->get_int64()) == 0, "and new ones");
                known_.insert(id->get_int64());
                open_.insert(id->get_int64());
                ids_.push_back(id->get_int64());
            } else if (method != nullptr && *method == "notifications/cancelled") {
                const std::int64_t which = message.at("params").at("requestId").as_int64();
                require(open_.erase(which) == 1, "a cancel names what the server was asked and has not answered, once");
            }
        }
    }
    void answered(std::int64_t id) { open_.erase(id); }
    [[nodiscard]] const std::vector<std::int64_t>& ids() const noexcept { return ids_; }

private:
    std::set<std::int64_t> known_;
    std::set<std::int64_t> open_;
    std::vector<std::int64_t> ids_;
};

constexpr std::array ids{"1", "2", "3", R"("a")", R"("1")", "0", "-1", R"("")", "9007199254740993", "16", "17", "18"};
constexpr std::array host_methods{"tools/call",
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
constexpr std::array server_methods{"notifications/progress",
                                    "notifications/progress",
                                    "notifications/message",
                                    "notifications/cancelled",
                                    "sampling/createMessage",
                                    "roots/list",
                                    "notifications/tools/list_changed",
                                    "notifications/resources/updated",
                                    "notifications/subscriptions/acknowledged",
                                    "x"};
constexpr std::array results{
    R"("protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"})",
    R"("resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}})",
    R"("content":[],"resultType":"complete")",
    R"("resultType":"input_required","inputRequests":{"k":{"method":"sampling/createMessage","params":{}}})",
    R"("tools":[],"nextCursor":"c")",
    R"("protocolVersion":5)"};
constexpr std::array errors{R"({"code":-32601,"message":"m"})", R"({"code":-32022,"message":"m"})", R"({"code":"x"})",
                            R"([])", R"({"code":-32800,"message":"m","data":{"supported":["2026-07-28"]}})"};

std::string damaged(std::string text, input& in) {
    text[in.next() % text.size()] = static_cast<char>(in.next() | 0x10U);
    return text;
}

/// With the host's mark in it, wherever something of a host's can stand.
std::string host_line(input& in, const std::string& mark, bool modern) {
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

std::string server_line(input& in, const std::string& mark, const std::vector<std::int64_t>& asked, bool says_whose) {
    const unsigned shape = in.next();
    const std::int64_t id = asked.empty() || shape % 8 == 7
                                ? static_cast<std::int64_t>(in.next() % 64)
                                : asked[asked.size() - 1 - in.next() % std::min<std::size_t>(asked.size(), 8)];
    const std::string number = std::to_string(id);
    const std::string whose = says_whose ? R"("for":")" + number + R"(",)" : "";
    std::string text = R"({"jsonrpc":"2.0")";
    if ((shape & 8U) != 0) {
        text += R"(,"id":)" + number;
        if (shape & 16U) return text + R"(,"error":)" + in.pick(errors) + '}';
        return text + R"(,"result":{"of":")" + mark + R"(",)" + whose + in.pick(results) + "}}";
    }
    const std::string method = in.pick(server_methods);
    if (method.compare(0, 14, "notifications/") != 0) text += std::string(R"(,"id":)") + in.pick(ids);
    text += R"(,"method":")" + method + R"(","params":{)" + (method == "notifications/progress" ? whose : "") +
            R"("of":")" + mark + R"(","level":"error","progress":1,"uri":"u:")";
    if (method == "notifications/progress") text += R"(,"progressToken":)" + number;
    if (method == "notifications/cancelled") {
        text += R"(,"requestId":)" + ((shape & 32U) != 0 ? number : std::string(in.pick(ids)));
    }
    if (shape & 64U) text += R"(,"_meta":{"io.modelcontextprotocol/subscriptionId":)" + number + '}';
    return text + "}}";
}

// Far enough from each other that no damaged byte makes one of another.
constexpr std::array host_marks{"host alder", "host birch", "host cedar", "host maple"};
constexpr std::array server_marks{"server amber", "server coral", "server ivory"};

void require_no_mark(const std::vector<std::string>& lines, std::string_view mark) {
    for (const std::string& line : lines) {
        require(line.find(mark) == std::string::npos, "what one wrote does not reach another's");
    }
}

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

class everything {
public:
    explicit everything(bool server_is_modern) : desk_(told_) {
        config_.name = "fuzzed";
        around_->log = log_sink(log_sink_function());
        for (std::size_t i = 0; i < 2; ++i) {
            hosts_[i] = std::make_shared<end_of_line>();
            sessions_[i] = std::make_shared<relay>(
                around_, desk_, config_, lane::settings{.instead = [this, i] { return connect(i); }},
                std::make_unique<end_of_line::line>(hosts_[i]),
                relay::settings{.session = std::to_string(i),
                                .ask_era = [](auto then) { then(std::nullopt, "because"); }});
        }
        stateless_ = std::make_shared<relay>(
            around_, desk_, config_, lane::settings{.instead = [this] { return connect(2); }},
            std::make_unique<end_of_line::line>(std::make_shared<end_of_line>()),
            relay::settings{.session = {}, .stateless = true, .ask_era = [server_is_modern](auto then) {
                                then(server_is_modern ? era::modern : era::legacy, {});
                            }});
        on_loop([&] {
            for (const auto& each : sessions_) each->open();
            stateless_->open();
        });
    }

    ~everything() {
        on_loop([&] {
            for (const auto& each : scopes_) each->of.close(cancel_cause::disconnect, "gone", now());
            for (const auto& each : sessions_) each->close(cancel_cause::disconnect, "over");
            stateless_->close(cancel_cause::disconnect, "over");
        });
        look();
        require(desk_.size() == 0, "no call is left");
        require(around_->table.size() == 0, "nothing is left in the table");
    }

    void host_says(std::size_t which, const std::string& text) {
        if (!hosts_[which]->open() || envelope_reader::looks_like_batch(text)) return;
        awaited_[which].sent(text);
        on_loop([&] { hosts_[which]->hear(text); });
    }
    void host_hangs_up(std::size_t which) {
        on_loop([&] { hosts_[which]->hang_up(); });
    }
    void host_says_too_much(std::size_t which) {
        on_loop([&] { hosts_[which]->too_long(); });
    }

    /// Of one that has no session, on a connection of its own.
    void modern_host_says(std::size_t which, const std::string& text) {
        const fuzz::padded line(text);
        const envelope* const message = reader_.read(line.text());
        if (message == nullptr || scopes_.size() >= 32) return;
        auto scope = std::make_shared<connection>(connection{around_->table.open_session(), which});
        scopes_.push_back(scope);
        on_loop([&] { stateless_->talk().receive(*message, {.scope = {.in = &scope->of}, .reply = scope->reply}); });
    }
    void modern_host_leaves(unsigned which) {
        if (scopes_.empty()) return;
        const auto scope = scopes_[which % scopes_.size()];
        scope->reply->gone = true;
        on_loop([&] { scope->of.close(cancel_cause::disconnect, "gone", now()); });
    }

    void server_says(std::size_t which, input& in, bool damage) {
        if (!servers_[which] || !servers_[which]->open()) return;
        std::string text = server_line(in, server_marks[which], asked_[which].ids(), !damage);
        if (damage) text = damaged(std::move(text), in);
        const fuzz::padded line(text);
        const envelope* const message = reader_.read(line.text());
        if (message != nullptr && (message->kind == message_kind::result || message->kind == message_kind::error) &&
            message->has_id && !message->id.is_string()) {
            asked_[which].answered(message->id.number());
        }
        on_loop([&] { servers_[which]->hear(text); });
    }
    void server_says_bytes(std::size_t which, const std::string& text) {
        if (servers_[which]) on_loop([&] { servers_[which]->hear(text); });
    }
    void server_hangs_up(std::size_t which) {
        if (servers_[which]) on_loop([&] { servers_[which]->hang_up(); });
    }
    void operator_stops(unsigned number) {
        on_loop([&] {
            const call_selection which{.number = 16 + number};
            static_cast<void>(desk_.stop(which, "enough", "ann", {}));
        });
        look();
    }
    void list() {
        static_cast<void>(desk_.calls());
        static_cast<void>(desk_.upstreams());
    }

private:
    struct connection {
        session of;
        std::size_t host;
        std::shared_ptr<one_reply> reply = std::make_shared<one_reply>();
    };

    static time_point now() { return std::chrono::steady_clock::now(); }

    std::unique_ptr<transport> connect(std::size_t which) {
        servers_[which] = std::make_shared<end_of_line>();
        return std::make_unique<end_of_line::line>(servers_[which]);
    }

    template <class F>
    void on_loop(F f) {
        around_->loop.post(f);
        around_->loop.finish();
        look();
    }

    /// What everybody has heard since the last time.
    void look() {
        for (std::size_t i = 0; i < hosts_.size(); ++i) {
            const auto lines = hosts_[i]->said();
            awaited_[i].heard(lines);
            require_no_mark(lines, host_marks[1 - i]);
            require_no_mark(lines, host_marks[2]);
            require_no_mark(lines, host_marks[3]);
            require_no_mark(lines, server_marks[1 - i]);
            require_no_mark(lines, server_marks[2]);
        }
        for (std::size_t i = 0; i < servers_.size(); ++i) {
            if (!servers_[i]) continue;
            const auto lines = servers_[i]->said();
            asked_[i].heard(lines);
            for (std::size_t other = 0; other < 2; ++other) {
                if (other != i) require_no_mark(lines, host_marks[other]);
            }
            if (i < 2) {
                require_no_mark(lines, host_marks[2]);
                require_no_mark(lines, host_marks[3]);
            } else {
                learn_owners(lines);
            }
        }
        for (const auto& scope : scopes_) {
            const auto lines = std::exchange(scope->reply->said, {});
            for (std::size_t other = 0; other < 4; ++other) {
                if (other != scope->host) require_no_mark(lines, host_marks[other]);
            }
            require_no_mark(lines, server_marks[0]);
            require_no_mark(lines, server_marks[1]);
            for (const auto& [number, host] : owners_) {
                if (host != scope->host) require_no_mark(lines, R"("for":")" + number + '"');
            }
        }
    }
    void learn_owners(const std::vector<std::string>& lines) {
        for (const std::string& line : lines) {
            const json::object message = message_in(line);
            if (!message.contains("id") || !message.contains("method")) continue;
            for (const std::size_t host : {2U, 3U}) {
                if (line.find(host_marks[host]) != std::string::npos) {
                    owners_.emplace(json_text(message.at("id")), host);
                }
            }
        }
    }

    std::shared_ptr<detail::conversation::surroundings> around_ = std::make_shared<detail::conversation::surroundings>(
        in_flight_limits{.max_per_session = 64, .outcomes_kept = 16});
    nobody told_;
    call_desk desk_;
    server_config config_;
    envelope_reader reader_;
    std::array<std::shared_ptr<end_of_line>, 2> hosts_;
    std::array<expected_answers, 2> awaited_;
    std::array<std::shared_ptr<end_of_line>, 3> servers_;
    std::array<asked_of_server, 3> asked_;
    std::vector<std::shared_ptr<connection>> scopes_;
    std::map<std::string, std::size_t> owners_;
    std::array<std::shared_ptr<relay>, 2> sessions_;
    std::shared_ptr<relay> stateless_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    constexpr std::size_t longest = 2'048;
    if (size > longest) return 0;
    input in{data, data + size};
    everything all(in.next() % 2 == 0);
    while (in.at != in.end) {
        const unsigned what = in.next();
        const std::size_t which = what / 16 % 2;
        switch (what % 16) {
            case 0:
            case 1:
            case 2: all.host_says(which, host_line(in, host_marks[which], (what & 64U) != 0)); break;
            case 3: all.host_says(which, damaged(host_line(in, host_marks[which], (what & 64U) != 0), in)); break;
            case 4: all.host_says(which, in.bytes(48)); break;
            case 5:
            case 6:
            case 7: all.modern_host_says(2 + which, host_line(in, host_marks[2 + which], true)); break;
            case 8: all.modern_host_leaves(in.next()); break;
            case 9:
            case 10:
            case 11: all.server_says(what / 16 % 3, in, false); break;
            case 12: all.server_says(what / 16 % 3, in, true); break;
            case 13: all.server_says_bytes(what / 16 % 3, in.bytes(48)); break;
            case 14:
                if ((what & 128U) != 0) {
                    all.operator_stops(in.next() % 32);
                } else if ((what & 64U) != 0) {
                    all.host_says_too_much(which);
                } else {
                    all.list();
                }
                break;
            default:
                if ((what & 128U) == 0) break;
                if ((what & 64U) != 0) {
                    all.server_hangs_up(in.next() % 3);
                } else {
                    all.host_hangs_up(which);
                }
        }
    }
    return 0;
}
