// What outlives a request, through a relay; and answers that nobody can read.
#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "andon/wire/error.hpp"
#include "apps/andon_process.hpp"
#include "built_programs.hpp"
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

std::string task_in(const json::object& made) { return std::string(made.at("result").at("taskId").as_string()); }

std::string endless_task(const http_caller& by) {
    return task_in(asked(by, "tools/call", "task_wait", R"("name":"task_wait","arguments":{"ms":60000})"));
}

json::value status_of(const http_caller& by, const std::string& task) {
    const json::object said = asked_about(by, "tasks/get", task);
    return said.contains("result") ? said.at("result").at("status") : said.at("error");
}

class relay_tasks : public testing::Test {
protected:
    /// With two clients that are told apart.
    [[nodiscard]] words configured(const std::string& keys) const {
        return {"--config",
                folder.write("andon.toml", "[gateway.tokens.ann]\nfile = \"" + folder.write("ann", "a-token") +
                                               "\"\n[gateway.tokens.bob]\nfile = \"" + folder.write("bob", "b-token") +
                                               "\"\n[servers.s]\ncommand = [\"" + built_program("everything_server") +
                                               "\"]\npath = \"/mcp\"\n" + keys + '\n')};
    }
    static http_caller client(const gateway_in_front& gateway, std::string token) {
        http_caller made = gateway.caller(modern);
        made.how().token = std::move(token);
        return made;
    }
    [[nodiscard]] std::size_t processes_ready() const {
        std::size_t count = 0;
        const auto shown = json::parse(run_andon({"ps", "--servers", "--json"}, {}, at_home_in(folder)).out);
        for (const json::value& each : shown.as_array()) count += each.at("state") == "ready" ? 1U : 0U;
        return count;
    }

    own_folder folder;
};

TEST_F(relay_tasks, TASK_5_a_task_answers_to_who_made_it) {
    for (const std::string keys : {"processes = \"per-session\"", "processes = \"pool\"", "on_ignored = \"isolate\""}) {
        const gateway_in_front gateway(folder, {}, configured(keys));
        const http_caller ann = client(gateway, "a-token");
        const http_caller bob = client(gateway, "b-token");
        const std::string id = endless_task(ann);
        EXPECT_EQ(code_of(asked_about(bob, "tasks/get", id)), error_code::invalid_params) << keys;
        EXPECT_EQ(code_of(asked_about(bob, "tasks/cancel", id)), error_code::invalid_params) << keys;
        EXPECT_EQ(status_of(ann, id), "working") << keys;
        EXPECT_EQ(code_of(asked_about(ann, "tasks/cancel", id)), 0) << keys;
        EXPECT_EQ(status_of(ann, id), "cancelled") << keys;
    }
}

TEST_F(relay_tasks, TASK_4_a_task_is_asked_about_where_it_is) {
    gateway_in_front gateway(folder, {}, configured("processes = \"pool\"\npool_size = 2"));
    const http_caller ann = client(gateway, "a-token");
    const std::string first = endless_task(ann);
    const http_client held = ann.call("\"held\"", "park", with_key("held"));
    gateway.mark("start", "held");
    ann.fence();  // the one process is at work: there is to be another
    ASSERT_TRUE(eventually([&] { return processes_ready() == 2; }));
    const std::string second = endless_task(ann);  // there, where nothing else is
    for (const std::string& each : {first, second, first}) EXPECT_EQ(status_of(ann, each), "working");
    for (const std::string& each : {first, second}) {
        EXPECT_EQ(code_of(asked_about(ann, "tasks/cancel", each)), 0);
        EXPECT_EQ(status_of(ann, each), "cancelled");
    }
}

/// With `isolate` the process of a call that was asked to stop goes, and with it whatever else is in it.
TEST_F(relay_tasks, TASK_7_a_task_is_in_no_process_of_one_call) {
    gateway_in_front gateway(folder, {}, configured("on_ignored = \"isolate\"\nwarm = 1\ngrace = \"100ms\""));
    const http_caller ann = client(gateway, "a-token");
    const std::string task = endless_task(ann);
    for (const std::string key : {"first", "second"}) {
        {
            const http_client dropped = ann.call("1", "park", with_key(key));
            gateway.mark("start", key);
        }
        gateway.mark("cancel", key);
        const int gone = key == "first" ? 1 : 2;
        EXPECT_TRUE(eventually([&] {
            const std::string all = journal_in(folder);
            return std::ranges::count(all, '\n') >= gone;
        }));
    }
    EXPECT_EQ(status_of(ann, task), "working");
}

TEST_F(relay_tasks, TASK_7_nor_is_one_of_2025_11_25) {
    wrap_host host(legacy, folder, everything_behind(), {"--on-ignored", "isolate"});
    server_process& andon = host.process();
    andon.send(request_line(legacy, "1", "tools/call", R"("name":"task_wait","arguments":{"ms":60000},"task":{})"));
    const std::string task(andon.answer("1").at("result").at("task").at("taskId").as_string());
    andon.send(request_line(legacy, "2", "tasks/get", R"("taskId":")" + task + '"'));
    EXPECT_EQ(andon.answer("2").at("result").at("status"), "working");
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
    EXPECT_THAT(journal_in(folder), testing::Not(HasSubstr(R"("evidence":"killed")")));
    andon.send(request_line(legacy, "4", "tasks/get", task));
    EXPECT_EQ(andon.answer("4").at("result").at("status"), "working");
}

std::string to_say(std::string_view line) {
    return json::serialize(json::object{{"lines", json::array{line}}, {"quiet", true}});
}

TEST_F(relay_tasks, an_answer_that_cannot_be_read_ends_its_call_at_once) {
    const recording recorded(folder);
    wrap_host host(legacy, folder, recorded.server());
    host.call("2", "hold", with_key("beside"));
    static_cast<void>(recorded.await("beside"));
    host.call("1", "say", to_say(R"({"jsonrpc":"2.0","id":$ID,"result":{"a":NaN}})"));
    EXPECT_THAT(host.answer("1"), HasSubstr("the answer could not be read"));
    host.fence();
    EXPECT_THAT(host.unheard("2"), testing::IsEmpty()) << "the other call is none of its business";
    EXPECT_THAT(recorded.with("@start"), testing::SizeIs(1));
}

/// It does not say whose it is: known only where there is one that waits.
TEST_F(relay_tasks, an_unreadable_answer_without_an_id_is_that_of_the_only_call) {
    const recording recorded(folder);
    wrap_host host(legacy, folder, recorded.server());
    const std::string unreadable = to_say(R"({"jsonrpc":"2.0","result":{"a":NaN}})");
    host.call("1", "say", unreadable);
    EXPECT_THAT(host.answer("1"), HasSubstr("the answer could not be read"));
    host.call("2", "hold", with_key("beside"));
    static_cast<void>(recorded.await("beside"));
    host.call("3", "say", unreadable);
    host.fence();
    for (const char* const id : {"2", "3"}) EXPECT_THAT(host.unheard(id), testing::IsEmpty());
}

TEST_F(relay_tasks, half_of_a_surrogate_pair_passes_both_ways) {
    for (const front_door by : {front_door::wrap, front_door::gateway}) {
        const own_folder own;
        const recording recorded(own);
        const relayed with = relayed::through(by, legacy, own, recorded.server());
        with.host->call("1", "echo", R"({"text":"cut \ud83d off"})");
        EXPECT_THAT(recorded.await(R"(cut \ud83d off)"), testing::SizeIs(1));
        with.host->cancel("1");  // the server's own reader does not take it
        with.host->call("2", "say", to_say(R"({"jsonrpc":"2.0","id":$ID,"result":{"text":"cut \ud83d off"}})"));
        EXPECT_THAT(with.host->answer("2"), HasSubstr(R"({"text":"cut \ud83d off"})"));
    }
}

}  // namespace
}  // namespace andon
