// What outlives a request, through a relay; and answers that nobody can read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/listening_program.hpp"
#include "gateway/recording.hpp"
#include "gateway/relay_hosts.hpp"

namespace andon {
namespace {

using testing::HasSubstr;

constexpr auto legacy = revision::v2025_11_25;
constexpr auto modern = revision::v2026_07_28;

/// Of a client that knows tasks.
std::string modern_line(std::string_view raw_id, std::string_view method, const std::string& raw_members) {
    return request_line(legacy, raw_id, method,
                        raw_members + R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                                      R"("io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},)"
                                      R"("io.modelcontextprotocol/clientCapabilities":)"
                                      R"({"extensions":{"io.modelcontextprotocol/tasks":{}}}})");
}

json::object asked(const http_caller& by, std::string_view method, std::string_view name,
                   const std::string& raw_members) {
    http_client connection = by.send(by.post(modern_line("1", method, raw_members), method, name));
    return outcome_of(connection).message.value();
}

json::object asked_about(const http_caller& by, std::string_view method, const std::string& task) {
    return asked(by, method, task, R"("taskId":")" + task + '"');
}

class relay_tasks : public testing::Test {
protected:
    own_folder folder;
};

TEST_F(relay_tasks, TASK_5_a_task_answers_to_who_made_it_wherever_it_is) {
    for (const std::string processes :
         {"processes = \"per-session\"", "processes = \"pool\"", "on_ignored = \"isolate\""}) {
        const std::string config = folder.write(
            "andon.toml", "[gateway.tokens.ann]\nfile = \"" + folder.write("ann", "a-token") +
                              "\"\n[gateway.tokens.bob]\nfile = \"" + folder.write("bob", "b-token") +
                              "\"\n[servers.s]\ncommand = [\"" ANDON_EVERYTHING_SERVER "\"]\npath = \"/mcp\"\n" +
                              processes + '\n');
        const gateway_in_front gateway(folder, {}, {"--config", config});
        http_caller ann = gateway.caller(modern);
        ann.how().token = "a-token";
        http_caller bob = gateway.caller(modern);
        bob.how().token = "b-token";
        for (int i = 0; i < 3; ++i) {
            const json::object made =
                asked(ann, "tools/call", "task_wait", R"("name":"task_wait","arguments":{"ms":60000})");
            const std::string id(made.at("result").at("taskId").as_string());
            EXPECT_EQ(code_of(asked_about(bob, "tasks/get", id)), error_code::invalid_params) << processes;
            EXPECT_EQ(code_of(asked_about(bob, "tasks/cancel", id)), error_code::invalid_params) << processes;
            EXPECT_EQ(asked_about(ann, "tasks/get", id).at("result").at("status"), "working") << processes;
            EXPECT_EQ(code_of(asked_about(ann, "tasks/cancel", id)), 0) << processes;
            EXPECT_EQ(asked_about(ann, "tasks/get", id).at("result").at("status"), "cancelled") << processes;
        }
    }
}

TEST_F(relay_tasks, TASK_7_a_task_at_work_does_not_die_for_the_cancel_of_a_call_that_obeyed) {
    wrap_host host(legacy, folder, everything_behind(), {"--on-ignored", "restart", "--grace", "100ms"});
    server_process& andon = host.process();
    andon.send(request_line(legacy, "1", "tools/call", R"("name":"task_spin","arguments":{"ms":60000},"task":{})"));
    const std::string task =
        R"("taskId":")" + std::string(andon.answer("1").at("result").at("task").at("taskId").as_string()) + '"';
    andon.send(request_line(legacy, "2", "tasks/result", task));
    andon.cancel("2");
    host.call("3", "wait", R"({"ms":60000})");
    andon.cancel("3");
    EXPECT_TRUE(eventually([&] { return journal_in(folder).find(R"("tool":"wait")") != std::string::npos; }));
    EXPECT_TRUE(eventually([&] { return journal_in(folder).find("tasks/result") != std::string::npos; }));
    EXPECT_THAT(journal_in(folder), testing::Not(HasSubstr("killed\"}")));
    andon.send(request_line(legacy, "4", "tasks/get", task));
    EXPECT_EQ(andon.answer("4").at("result").at("status"), "working");
}

TEST_F(relay_tasks, an_answer_that_cannot_be_read_ends_its_call_at_once) {
    const recording recorded(folder);
    wrap_host host(legacy, folder, recorded.server());
    const std::string lines = json::serialize(
        json::object{{"lines", json::array{R"({"jsonrpc":"2.0","result":{"a":NaN}})"}}, {"quiet", true}});
    host.call("1", "say", lines);
    EXPECT_THAT(host.answer("1"), HasSubstr("the answer could not be read"));
    host.fence();
}

TEST_F(relay_tasks, half_of_a_surrogate_pair_passes_both_ways) {
    const recording recorded(folder);
    wrap_host host(legacy, folder, recorded.server());
    host.call("1", "echo", R"({"text":"cut \ud83d off"})");
    EXPECT_THAT(recorded.await(R"(cut \ud83d off)"), testing::SizeIs(1));
    host.process().send(cancel_line("1"));
}

}  // namespace
}  // namespace andon
