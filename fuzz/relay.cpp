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
#include "relay_host.hpp"
#include "relay_server.hpp"

namespace {

using namespace andon;
using namespace andon::fuzz;
using namespace andon::gateway;

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

void require_no_mark(const std::vector<std::string>& lines, std::string_view mark) {
    for (const std::string& line : lines) {
        require(line.find(mark) == std::string::npos, "what one wrote does not reach another's");
    }
}

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
    void host_says_too_much(std::size_t which, const std::string& text) {
        awaited_[which].skipped(text);
        on_loop([&] { hosts_[which]->hear_too_much(text); });
    }

    /// Of one that has no session, on a connection of its own.
    void modern_host_says(std::size_t which, const std::string& text) {
        const padded line(text);
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

    enum class manner { plain, damaged, too_much };
    void server_says(std::size_t which, input& in, manner how) {
        if (!servers_[which] || !servers_[which]->open()) return;
        const bool damage = how == manner::damaged;
        std::string text = server_line(in, server_marks[which], asked_[which].ids(), !damage);
        if (damage) text = damaged(std::move(text), in);
        const padded line(text);
        const envelope* const message = reader_.read(line.text());
        if (message != nullptr && (message->kind == message_kind::result || message->kind == message_kind::error) &&
            message->has_id && !message->id.is_string()) {
            asked_[which].answered(message->id.number());
        }
        on_loop([&] {
            if (how == manner::too_much) {
                servers_[which]->hear_too_much(text);
            } else {
                servers_[which]->hear(text);
            }
        });
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
            case 4: all.host_says(which, unmarked(in.bytes(48))); break;
            case 5:
            case 6:
            case 7: all.modern_host_says(2 + which, host_line(in, host_marks[2 + which], true)); break;
            case 8: all.modern_host_leaves(in.next()); break;
            case 9:
            case 10:
            case 11: all.server_says(what / 16 % 3, in, everything::manner::plain); break;
            case 12: all.server_says(what / 16 % 3, in, everything::manner::damaged); break;
            case 13: all.server_says_bytes(what / 16 % 3, unmarked(in.bytes(48))); break;
            case 14:
                if ((what & 128U) != 0) {
                    all.operator_stops(in.next() % 32);
                } else if ((what & 64U) != 0) {
                    all.host_says_too_much(which, host_line(in, host_marks[which], false));
                } else {
                    all.list();
                }
                break;
            default:
                if ((what & 128U) == 0) {
                    all.server_says(what / 16 % 3, in, everything::manner::too_much);
                    break;
                }
                if ((what & 64U) != 0) {
                    all.server_hangs_up(in.next() % 3);
                } else {
                    all.host_hangs_up(which);
                }
        }
    }
    return 0;
}
