// Modern calls that wait until it is known what the server speaks: as many as that, and no more.
#include <gmock/gmock.h>

#include "andon/wire/line_splitter.hpp"
#include "gateway/relay/call_desk.hpp"
#include "gateway/relay/relay.hpp"

namespace andon::gateway {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class nobody final : public call_observer {
    void on_begun(const relayed_call& /*call*/) override {}
    void on_asked_to_stop(const relayed_call& /*call*/) override {}
    void on_ignored(const relayed_call& /*call*/) override {}
    void on_over(const relayed_call& /*call*/) override {}
    void on_amended(const relayed_call& /*call*/) override {}
    void on_resumed(const relayed_call& /*call*/) override {}
    void on_over_again(const relayed_call& /*call*/) override {}
    void on_late_message(const std::string& /*server*/) override {}
    void on_restart(const std::string& /*server*/) override {}
    void on_session(const std::string& /*server*/, bool /*begins*/) override {}
    void on_killed(const std::string& /*server*/, std::uint32_t /*processes*/) override {}
};

/// Modern requests come each by its own way, and none by this.
class no_line final : public transport {
public:
    void open(detail::event_loop& /*loop*/, events& /*to*/) override {}
    bool send(std::string_view /*text*/, const cancel_token* /*owner*/) override { return false; }
    void close() override {}
};

/// What is answered to any of the calls.
class all_replies final : public reply_path {
public:
    bool send(std::string_view /*line*/, const cancel_token* /*owner*/) override { return true; }
    void answer(std::string_view line, int /*code*/) override { lines.emplace_back(line); }
    void no_answer() override {}

    std::vector<std::string> lines;
};

class undecided_calls : public testing::Test {
protected:
    undecided_calls() {
        on_loop([&] { relay_->open(); });
    }
    ~undecided_calls() override {
        on_loop([&] {
            for (session* const each : {&many_, &few_}) each->close(cancel_cause::disconnect, "gone", {});
            relay_->close(cancel_cause::disconnect, "over");
        });
    }
    template <class F>
    void on_loop(F f) {
        around_->loop.post(f);
        around_->loop.finish();
    }
    void call(session& from, std::size_t count) {
        on_loop([&] {
            for (std::size_t i = 0; i < count; ++i) {
                std::string line = R"({"jsonrpc":"2.0","id":)" + std::to_string(++id_) +
                                   R"(,"method":"tools/call","params":{"name":"t","_meta":{)"
                                   R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                                   R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
                const std::size_t size = line.size();
                line.append(line_splitter::padding, ' ');
                const envelope* const message = reader_.read(std::string_view(line).substr(0, size));
                ASSERT_NE(message, nullptr);
                relay_->talk().receive(*message, {.scope = {.in = &from}, .reply = replies_});
            }
        });
    }

    std::shared_ptr<detail::conversation::surroundings> around_ = std::make_shared<detail::conversation::surroundings>(
        in_flight_limits{.max_per_session = 2 * waiting_calls::most});
    nobody told_;
    call_desk desk_{told_};
    server_config config_;
    envelope_reader reader_;
    std::int64_t id_ = 0;
    std::shared_ptr<all_replies> replies_ = std::make_shared<all_replies>();
    std::function<void(std::optional<era>, const std::string&)> decide_;
    session many_ = around_->table.open_session();
    session few_ = around_->table.open_session();
    std::shared_ptr<relay> relay_ = std::make_shared<relay>(
        around_, desk_, config_, lane::settings{}, std::make_unique<no_line>(),
        relay::settings{.session = {}, .stateless = true, .ask_era = [this](auto then) { decide_ = then; }});
};

TEST_F(undecided_calls, are_not_without_number) {
    call(many_, waiting_calls::most - 2);
    call(few_, 2);
    EXPECT_THAT(replies_->lines, IsEmpty());
    call(many_, 1);
    ASSERT_THAT(replies_->lines, SizeIs(1));
    EXPECT_THAT(replies_->lines.front(), HasSubstr("too many calls wait for the server to start"));
    // Others can wait in the place of those that were cancelled.
    on_loop([&] { few_.close(cancel_cause::disconnect, "gone", std::chrono::steady_clock::now()); });
    call(many_, 2);
    EXPECT_THAT(replies_->lines, SizeIs(1));
    call(many_, 1);
    EXPECT_THAT(replies_->lines, SizeIs(2));
    replies_->lines.clear();
    on_loop([&] { decide_(std::nullopt, "it is not there"); });
    EXPECT_THAT(replies_->lines, SizeIs(waiting_calls::most));
    EXPECT_THAT(replies_->lines, Each(HasSubstr("could not be started: it is not there")));
}

/// Not each that is refused looks through all the others.
TEST_F(undecided_calls, make_room_again_though_many_were_refused) {
    call(few_, 1);
    call(many_, waiting_calls::most - 1);
    call(many_, 100);
    EXPECT_THAT(replies_->lines, SizeIs(100));
    on_loop([&] { few_.close(cancel_cause::disconnect, "gone", std::chrono::steady_clock::now()); });
    call(many_, waiting_calls::most / 8);
    EXPECT_THAT(replies_->lines, SizeIs(100 + waiting_calls::most / 8 - 1));
}

}  // namespace
}  // namespace andon::gateway
