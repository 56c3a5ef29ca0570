// What a server says unasked, through a relay: its requests, its cancels of them, its log; to the host that it is for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/recording.hpp"
#include "gateway/relay_hosts.hpp"

namespace andon {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto legacy = revision::v2025_11_25;
constexpr auto modern = revision::v2026_07_28;

/// Arguments of the tool `say`.
std::string to_say(const std::vector<std::string>& lines, bool quiet = false) {
    json::array all(lines.begin(), lines.end());
    return json::serialize(json::object{{"lines", std::move(all)}, {"quiet", quiet}});
}

std::string question(std::string_view raw_id, std::string_view raw_meta = {}) {
    return R"({"jsonrpc":"2.0","id":)" + std::string(raw_id) +
           R"(,"method":"sampling/createMessage","params":{"maxTokens":1)" +
           (raw_meta.empty() ? "" : R"(,"_meta":{)" + std::string(raw_meta) + '}') + "}}";
}

std::string id_in(const std::string& line) { return json::serialize(json::parse(line).as_object().at("id")); }

class relay_questions : public testing::Test {
protected:
    own_folder folder;
    recording recorded{folder};
};

TEST_F(relay_questions, DIR_1_a_question_has_an_id_of_ours_and_the_answer_one_of_the_server) {
    wrap_host host(legacy, folder, recorded.server());
    host.call("1", "hold");
    for (const std::string id : {"1", "\"1\"", "\"q\\u0031\"", "-7", "9007199254740993", "0", "\"\""}) {
        host.call("9", "say", to_say({question(id, R"("progressToken":"t\u0031")")}));
        const std::string asked = host.message_with("9", "sampling/createMessage");
        const std::string ours = id_in(asked);
        EXPECT_THAT(host.answer("9"), HasSubstr("said"));
        host.tell(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
                  json::serialize(json::parse(asked).at("params").at("_meta").at("progressToken")) +
                  R"(,"progress":1}})");
        host.tell(R"({"jsonrpc":"2.0","id":)" + ours + R"(,"result":{"role":"assistant","seen":"yes"}})");
        host.tell(R"({"jsonrpc":"2.0","id":)" + ours + R"(,"result":{"role":"assistant","seen":"twice"}})");
        static_cast<void>(recorded.await(R"("id":)" + id + R"(,"result":{"role":"assistant","seen":"yes"})"));
        host.fence();
        EXPECT_THAT(recorded.with(R"("progressToken":"t\u0031","progress":1)"), testing::Not(IsEmpty()));
    }
    EXPECT_THAT(recorded.with("twice"), IsEmpty());
    EXPECT_THAT(recorded.with("notifications/cancelled"), IsEmpty());
}

TEST_F(relay_questions, DIR_1_a_server_takes_back_its_own_question_and_nothing_else) {
    wrap_host host(legacy, folder, recorded.server());
    host.call("5", "hold", with_key("held"));
    const std::string held = json::serialize(recorded.await("held").at(0).message().at("id"));
    host.call("6", "say", to_say({question("5"), question("\"5\"")}));
    const std::string first = id_in(host.message_with("6", "sampling/createMessage"));
    const std::string second = id_in(host.message_with("6", "sampling/createMessage"));
    EXPECT_NE(first, second);
    static_cast<void>(host.answer("6"));
    // The ids of the host's requests, of ours to the server and of ours to the host are no questions of the server.
    host.call("7", "say", to_say({cancel_line(held), cancel_line(first), cancel_line("6"), cancel_line("$ID")}));
    static_cast<void>(host.answer("7"));
    host.fence();
    EXPECT_EQ(host.process().heard("notifications/cancelled"), 0);
    host.call("8", "say", to_say({cancel_line("\"5\"", "\"never mind\"")}));
    static_cast<void>(host.answer("8"));
    const std::string told = host.message_with("8", "notifications/cancelled");
    EXPECT_THAT(told, HasSubstr(R"("requestId":)" + second));
    // The host's late answer finds nobody; the other question is still there.
    host.tell(R"({"jsonrpc":"2.0","id":)" + second + R"(,"result":{"seen":"late"}})");
    host.tell(R"({"jsonrpc":"2.0","id":)" + first + R"(,"result":{"seen":"in time"}})");
    static_cast<void>(recorded.await(R"("id":5,"result":{"seen":"in time"})"));
    host.fence();
    EXPECT_THAT(recorded.with("late"), IsEmpty());
    EXPECT_EQ(host.process().heard("notifications/cancelled"), 1);
    EXPECT_EQ(host.process().answers("5"), 0) << "the host's own request with that id is untouched";
}

TEST_F(relay_questions, DIR_6_a_question_goes_to_its_own_host_and_only_that_one_can_answer) {
    gateway_in_front gateway(folder, recorded.server());
    http_host a(gateway, legacy);
    http_host b(gateway, legacy);
    a.call("1", "say", to_say({question("3")}, true));
    b.call("1", "hold");
    const std::string asked = a.message_with("1", "sampling/createMessage");
    b.tell(R"({"jsonrpc":"2.0","id":)" + id_in(asked) + R"(,"result":{"seen":"from b"}})");
    b.fence();
    EXPECT_THAT(b.unheard("1"), IsEmpty());
    a.tell(R"({"jsonrpc":"2.0","id":)" + id_in(asked) + R"(,"result":{"seen":"from a"}})");
    static_cast<void>(recorded.await(R"("id":3,"result":{"seen":"from a"})"));
    EXPECT_THAT(recorded.with("from b"), IsEmpty());
}

/// A host that has no other stream would not hear of it, if that of its call ended with its cancel.
TEST_F(relay_questions, RCV_12_one_that_goes_with_its_call_is_taken_back_on_the_stream_of_that) {
    for (const bool taken_back : {true, false}) {
        gateway_in_front gateway(folder, recorded.server());
        http_host host(gateway, legacy);
        host.call("1", "say", to_say({question("3")}, true));
        const std::string asked = id_in(host.message_with("1", "sampling/createMessage"));
        host.cancel("1");
        if (taken_back) {
            host.call("2", "say", to_say({cancel_line("3")}));
            EXPECT_THAT(host.message_with("1", "notifications/cancelled"), HasSubstr(R"("requestId":)" + asked));
        }
        EXPECT_THAT(host.answer("1"), HasSubstr("-32800")) << "it ends all the same";
    }
}

TEST_F(relay_questions, DIR_2_a_modern_server_has_no_questions) {
    for (const bool over_http : {false, true}) {
        const own_folder own;
        const recording heard(own);
        std::unique_ptr<gateway_in_front> gateway;
        std::unique_ptr<relay_host> host;
        if (over_http) {
            gateway = std::make_unique<gateway_in_front>(own, heard.server(era::modern));
            host = std::make_unique<http_host>(*gateway, modern);
        } else {
            host = std::make_unique<wrap_host>(modern, own, heard.server(era::modern));
        }
        for (const std::string id : {"1", "2"}) {  // by the first, and by one that was started later
            host->call(id, "say", to_say({question("3"), cancel_line("$ID")}));
            EXPECT_THAT(host->answer(id), HasSubstr("said"));
            for (const std::string& line : host->unheard(id)) EXPECT_EQ(line.find("sampling"), std::string::npos);
        }
        if (auto* const wrap = dynamic_cast<wrap_host*>(host.get())) {
            EXPECT_EQ(wrap->process().heard("sampling"), 0);
        }
        // Nobody has a question to answer.
        for (int id = 1; id < 60; ++id) {
            host->tell(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{"seen":"a guess"}})");
        }
        host->fence();
        EXPECT_THAT(heard.with("a guess"), IsEmpty());
    }
}

/// Modern hosts share the server's process, and its log messages do not say whose they are.
TEST_F(relay_questions, DIR_6_what_a_cancelled_call_still_says_goes_to_nobody_else) {
    for (const era server : {era::modern, era::legacy}) {
        const own_folder own;
        const recording heard(own);
        const words behind = heard.server(server);
        const std::string config =
            own.write("andon.toml", "[servers.shared]\ncommand = [\"" + behind[1] + "\", \"" + behind[2] + "\", \"" +
                                        behind[3] + "\"]\npath = \"/mcp\"\npool_size = 1\n");
        gateway_in_front gateway(own, {"--config", config});
        http_host a(gateway, modern);
        http_host b(gateway, modern);
        const std::string wants_log = R"("io.modelcontextprotocol/logLevel":"debug")";
        const std::string log =
            R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":")";
        b.call("1", "say", to_say({log + "to the only one\"}}"}), wants_log);
        EXPECT_THAT(b.message_with("1", "notifications/message"), HasSubstr("to the only one"));
        a.call("1", "hold", with_key("held"), wants_log);
        static_cast<void>(heard.await("held"));
        a.cancel("1");
        static_cast<void>(heard.await("notifications/cancelled"));
        b.call("2", "say", to_say({log + "of a\"}}"}), wants_log);
        EXPECT_THAT(b.answer("2"), HasSubstr("said"));
        EXPECT_THAT(b.unheard("2"), IsEmpty()) << "it may be the cancelled call's, of another host";
        EXPECT_THAT(heard.with("@start"), SizeIs(2)) << "one to ask for its era";
    }
}

TEST_F(relay_questions, TASK_7_the_progress_of_a_task_goes_on_when_its_call_was_answered) {
    wrap_host host(legacy, folder, everything_behind());
    server_process& andon = host.process();
    andon.send(request_line(legacy, "1", "tools/call",
                            R"("name":"task_wait","arguments":{"ms":60000,"tick_ms":5},"task":{})",
                            R"("progressToken":"t\u0031")"));
    const json::object made = andon.answer("1");
    const std::string id(made.at("result").at("task").at("taskId").as_string());
    const std::size_t answered = andon.lines().size();
    andon.wait_until([&] { return andon.heard(R"("progressToken":"t\u0031")", answered) >= 3; }, "progress");
    andon.send(request_line(legacy, "2", "tasks/cancel", R"("taskId":")" + id + '"'));
    EXPECT_EQ(andon.answer("2").at("result").at("status"), "cancelled");
    const std::size_t cancelled = andon.lines().size();
    host.fence();
    EXPECT_EQ(andon.heard("notifications/progress", cancelled), 0);
}

}  // namespace
}  // namespace andon
