// `andon stop` against real calls: the host is told by whom, the server is told to stop, and --wait sees it.
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include "apps/andon_process.hpp"
#include "gateway/in_front.hpp"

namespace andon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class operated : public testing::TestWithParam<hosted> {
protected:
    andon_run andon(std::vector<std::string> arguments) {
        return run_andon(std::move(arguments), {}, at_home_in(front.folder()));
    }
    static std::string id_of(const json::object& call) { return std::string(call.at("id").as_string()); }

    in_front front{GetParam(), {.keys = "grace = \"200ms\""}};

    void SetUp() override { front.open(); }
};

TEST_P(operated, by_id_the_host_is_told_and_wait_returns_with_the_evidence) {
    front.call("5", "obey", with_key("k"));
    const auto begun = front.began("k");
    const json::object shown = front.shown("obey", "running");
    const andon_run end = andon({"stop", id_of(shown), "--reason", "wrong folder", "--wait"});
    EXPECT_EQ(end.status, 0) << end.err;
    EXPECT_THAT(end.out, AllOf(HasSubstr("asked to stop  " + id_of(shown)), HasSubstr("it went quiet")));
    const json::object said = front.answer("5");
    EXPECT_EQ(code_of(said), -32800);
    EXPECT_EQ(message_of(said), "stopped by an operator: wrong folder");
    EXPECT_THAT(front.andon().mark("cancelled", begun.id), HasSubstr("wrong folder"));
    front.andon().mark("obeyed", "k");
    const json::object entry = front.entry("obey");
    EXPECT_EQ(entry.at("end").as_string(), "stopped by operator");
    EXPECT_EQ(entry.at("cause").as_string(), "operator");
    EXPECT_EQ(entry.at("reason").as_string(), "wrong folder");
    EXPECT_THAT(std::string(entry.at("asked_by").as_string()), HasSubstr("operator "));
    EXPECT_THAT(andon({"log"}).out, HasSubstr("stopped by operator"));
    EXPECT_EQ(front.asked("echo"), "done");
    EXPECT_EQ(andon({"stop", id_of(shown)}).status, 1);  // it is over
}

TEST_P(operated, by_tool_by_session_and_all) {
    for (const char* const id : {"1", "2", "3", "4"}) {
        front.call(id, *id == '1' ? "obey" : "sleep", with_key(id));
        static_cast<void>(front.began(id));
    }
    const std::string session(front.shown("obey", "running").at("session").as_string());
    EXPECT_EQ(andon({"stop", "--tool", "nothing"}).status, 1);
    const andon_run one = andon({"stop", "--tool", "obey", "--json"});
    EXPECT_EQ(one.status, 0);
    EXPECT_EQ(code_of(front.answer("1")), -32800);
    EXPECT_EQ(andon({"stop", "--session", "nobody"}).status, 1);
    EXPECT_EQ(andon({"stop", "--session", session, "--reason", "theirs"}).status, 0);
    for (const char* const id : {"2", "3", "4"}) {
        EXPECT_THAT(message_of(front.answer(id)), HasSubstr("stopped by an operator: theirs"));
    }
    front.call("5", "obey", with_key("5"));
    static_cast<void>(front.began("5"));
    EXPECT_EQ(andon({"stop", "--all", "--yes", "--wait"}).status, 0);
    EXPECT_EQ(code_of(front.answer("5")), -32800);
    EXPECT_TRUE(front.in_flight().empty());
}

TEST_P(operated, wait_has_an_end_where_the_work_has_none) {
    front.call("1", "burn", with_key("k"));
    static_cast<void>(front.began("k"));
    const andon_run end = andon({"stop", "--tool", "burn", "--wait", "--timeout", "700ms"});
    EXPECT_EQ(end.status, 4) << end.out << end.err;
    EXPECT_EQ(code_of(front.answer("1")), -32800);
    const json::object shown = front.shown("burn", "ignoring");
    EXPECT_THAT(std::string(shown.at("asked_by").as_string()), HasSubstr("operator "));
}

TEST_P(operated, wait_for_a_late_answer) {
    front.call("1", "burn", with_key("k", R"("ms":700)"));
    static_cast<void>(front.began("k"));
    const andon_run end = andon({"stop", "--tool", "burn", "--wait", "--json"});
    EXPECT_EQ(end.status, 0);
    EXPECT_THAT(end.out, AllOf(HasSubstr(R"("event":"asked")"), HasSubstr(R"("evidence":"answered late")")));
    EXPECT_EQ(code_of(front.answer("1")), -32800);
}

TEST_P(operated, what_has_stopped_is_remembered_and_no_more_in_flight) {
    front.call("1", "obey", with_key("k"));
    static_cast<void>(front.began("k"));
    EXPECT_EQ(andon({"stop", "--tool", "obey", "--wait"}).status, 0);
    const json::array all = json::parse(andon({"ps", "--all", "--json"}).out).as_array();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all.at(0).at("tool").as_string(), "obey");
    EXPECT_EQ(all.at(0).at("state").as_string(), "stopped");
    EXPECT_TRUE(front.in_flight().empty());
    const std::string id(all.at(0).at("id").as_string());
    EXPECT_THAT(andon({"stop", id}).err, HasSubstr(id + " is not in flight"));
    // What was answered was never asked to stop.
    EXPECT_EQ(front.asked("echo"), "done");
    EXPECT_EQ(json::parse(andon({"ps", "--all", "--json"}).out).as_array().size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(gateway, operated, testing::ValuesIn(all_hosts), hosted_name());

TEST(operator_sees, how_far_it_is_though_its_message_is_long) {
    in_front front(hosted::wrap, {});
    front.open();
    front.call("1", "pour", with_key("k", R"("bytes":8192,"count":1000000)"), R"("progressToken":1)");
    EXPECT_TRUE(eventually([&] {
        const json::object shown = front.shown("pour", "running");
        const json::value* const progress = shown.if_contains("progress");
        return progress != nullptr && progress->is_object() && progress->at("done").to_number<double>() > 0;
    }));
}

TEST(operator_stop, wait_for_a_kill) {
    in_front front(hosted::wrap, {.arguments = {"--trap"}, .keys = "grace = \"100ms\"\non_ignored = \"restart\""});
    front.open();
    front.call("1", "fork", with_key("k"));
    const auto all = front.children("k");
    static_cast<void>(front.began("k"));
    const andon_run end = run_andon({"stop", "--tool", "fork", "--wait"}, {}, at_home_in(front.folder()));
    EXPECT_EQ(end.status, 0);
    EXPECT_THAT(end.out, HasSubstr("it ignored the cancel and was killed"));
    for (const auto& each : all) EXPECT_TRUE(each.ended());
    EXPECT_THAT(message_of(front.answer("1")), HasSubstr("stopped by an operator"));
}

TEST(operator_stop, the_end_of_andon_ends_the_waiting) {
    in_front front(hosted::wrap, {.keys = "grace = \"30s\""});
    front.open();
    front.call("1", "burn", with_key("k"));
    static_cast<void>(front.began("k"));
    andon_process waits({"stop", "--tool", "burn", "--wait"}, {}, at_home_in(front.folder()));
    waits.until("asked to stop");
    front.andon().mark("cancelled", front.began("k").id);
    ::kill(front.andon().pid(), SIGKILL);
    EXPECT_EQ(waits.end(), 3);
}

TEST(operator_stop, DIR_4_a_handshake_that_is_stopped_is_not_cancelled_at_the_server) {
    in_front front(hosted::wrap, {.arguments = {"--mute"}});
    front.request("1", "initialize",
                  R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"})");
    front.andon().mark("told", "initialize");
    EXPECT_EQ(run_andon({"stop", "--all", "--yes"}, {}, at_home_in(front.folder())).status, 0);
    EXPECT_EQ(code_of(front.answer("1")), -32800);
    EXPECT_EQ(front.andon().times_logged("@told notifications/cancelled"), 0);
}

}  // namespace
}  // namespace andon
