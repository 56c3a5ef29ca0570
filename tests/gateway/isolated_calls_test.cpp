// The policy `isolate`: each call has a process to itself, so that only that call dies.
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <set>
#include <sstream>

#include "gateway/in_front.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class isolated : public testing::TestWithParam<hosted> {
protected:
    static in_front_settings settings(std::string more = {}, std::vector<std::string> arguments = {}) {
        return {.arguments = std::move(arguments),
                .keys = "grace = \"300ms\"\non_ignored = \"isolate\"\n" + std::move(more)};
    }
};

TEST_P(isolated, RCV_2_only_the_call_that_ignores_its_cancel_dies) {
    in_front front(GetParam(), settings({}, {"--trap", "--stay"}));
    front.open();
    front.call("1", "fork", with_key("forks"));
    const auto begun = front.began("forks");
    auto all = front.children("forks");
    all.emplace_back(begun.pid);
    front.call("2", "obey", with_key("beside"));
    const auto beside = front.began("beside");
    EXPECT_NE(beside.pid, begun.pid);
    const auto asked = std::chrono::steady_clock::now();
    front.cancel("1");
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    EXPECT_LT(std::chrono::steady_clock::now() - asked, 300ms + (sanitized ? 5'000ms : 500ms));
    const json::object entry = front.entry("fork");
    EXPECT_EQ(entry.at("evidence").as_string(), "killed");
    EXPECT_EQ(entry.at("killed").as_int64(), 3);
    // The other one is untouched, and a third works.
    EXPECT_EQ(front.asked("echo"), "done");
    EXPECT_EQ(front.shown("obey", "running").at("pid").as_int64(), beside.pid);
    front.cancel("2");
    front.andon().mark("obeyed", "beside");
}

/// Dead, and not yet reported so: that looks like rest.
TEST_P(isolated, RCV_2_what_is_seen_of_one_that_is_being_killed_is_its_end) {
    in_front front(GetParam(), settings());
    front.open();
    front.call("1", "burn", with_key("k"));
    const process_watch its(front.began("k").pid);
    const pid_t guardian = hold_guardian(its.pid());
    front.cancel("1");
    static_cast<void>(front.event("cancel_ignored", "burn"));
    ::kill(its.pid(), SIGKILL);
    EXPECT_TRUE(its.wait_for_end());
    int status = 0;
    while (::waitpid(guardian, &status, __WALL) == guardian && WIFSTOPPED(status)) continue;
    EXPECT_EQ(front.entry("burn").at("evidence").as_string(), "killed");
}

TEST_P(isolated, one_that_was_asked_to_stop_takes_no_other_call) {
    in_front front(GetParam(), settings());
    front.open();
    front.call("1", "obey", with_key("k"));
    const auto begun = front.began("k");
    const process_watch its(begun.pid);
    front.cancel("1");
    front.andon().mark("obeyed", "k");
    EXPECT_TRUE(its.wait_for_end());  // although there is room for it among those that stand ready
    EXPECT_NE(front.asked("pid"), std::to_string(begun.pid));
}

TEST_P(isolated, one_that_answered_takes_the_next) {
    in_front front(GetParam(), settings("warm = 1"));
    front.open();
    std::set<std::string> used;
    for (int i = 0; i < 8; ++i) used.insert(front.asked("pid"));
    EXPECT_LE(used.size(), 3U);
}

TEST_P(isolated, a_pool_stands_warm_and_is_filled_again) {
    in_front front(GetParam(), settings("warm = 3", {"--trap", "--stay"}));
    front.open();
    EXPECT_EQ(front.asked("echo"), "done");
    const auto ready = [&] {
        std::size_t count = 0;
        for (const json::value& each : front.servers()) count += each.at("state").as_string() == "ready" ? 1U : 0U;
        return count;
    };
    const std::size_t shared = GetParam() == hosted::modern_gateway ? 0 : 1;  // the session's own
    EXPECT_TRUE(eventually([&] { return ready() >= 3 + shared; }));
    std::vector<process_watch> all;
    for (const char* const id : {"1", "2", "3"}) {
        front.call(id, "burn", with_key(id));
        all.emplace_back(front.began(id).pid);
    }
    for (const char* const id : {"1", "2", "3"}) front.cancel(id);
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    EXPECT_TRUE(eventually([&] { return front.in_flight().empty() && ready() == 3 + shared; }));
}

TEST_P(isolated, RCV_1_a_call_that_is_cancelled_while_it_waits_never_starts) {
    in_front front(GetParam(), settings("warm = 1\nrestart_first = \"2s\""));
    front.open();
    EXPECT_EQ(front.asked("echo"), "done");
    // All that are there die, those too that were just being started, and the next are not tried at once: the call
    // waits meanwhile.
    ASSERT_TRUE(eventually([&] {
        bool none = true;
        for (const json::value& each : front.servers()) {
            const auto pid = static_cast<pid_t>(each.at("pid").as_int64());
            if (pid > 0) none = ::kill(pid, SIGKILL) != 0 && none;
        }
        return none;
    }));
    front.call("1", "echo", with_key("never"));
    if (GetParam() != hosted::modern_gateway) static_cast<void>(front.shown("echo", "running"));
    front.cancel("1");
    const json::object entry = front.entry("echo");
    EXPECT_EQ(entry.at("evidence").as_string(), "");
    EXPECT_EQ(entry.at("pid").as_int64(), 0);
    EXPECT_EQ(front.asked("echo", with_key("then")), "done");
    EXPECT_FALSE(front.andon().marked("began", "never"));
}

TEST_P(isolated, a_crash_is_that_calls_and_those_that_wait_are_served) {
    in_front front(GetParam(), settings("warm = 1\nrestart_first = \"10ms\""));
    front.open();
    for (int round = 0; round < 3; ++round) {
        front.call("1", "sleep", with_key("s", R"("ms":50,"text":"slept")"));
        front.call("2", "crash", R"({"code":5})");
        front.call("3", "crash", R"({"signal":9})");
        front.call("4", "echo", R"({"text":"there"})");
        EXPECT_EQ(text_of(front.answer("4")), "there");
        EXPECT_THAT(message_of(front.answer("2")), HasSubstr("the server exited with status 5"));
        EXPECT_THAT(message_of(front.answer("3")), HasSubstr("the server was ended by signal 9"));
        EXPECT_EQ(text_of(front.answer("1")), "slept");
    }
}

/// In clock ticks since the machine's start.
long start_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string field;
    for (int i = 3; i <= 22; ++i) fields >> field;  // as proc(5) counts them
    return std::stol(field);
}

/// To start a process takes a while, in which andon does nothing else.
TEST(isolated_calls, many_that_need_processes_do_not_hold_up_one_that_needs_none) {
    in_front front(hosted::wrap, {.keys = "warm = 0", .tables = "[servers.s.tools.sleep]\non_ignored = \"isolate\"\n"});
    front.open();
    EXPECT_EQ(front.asked("echo"), "done");
    constexpr int many = 100;
    std::string lines;  // in one write, which is read in one piece
    for (int i = 0; i < many; ++i) lines += call_line(revision::v2025_11_25, std::to_string(i), "sleep") + '\n';
    front.andon().write(lines + call_line(revision::v2025_11_25, "\"quick\"", "clock") + '\n');
    const long served = std::stol(text_of(front.answer("\"quick\"")));
    front.andon().wait_until([&] { return front.andon().times_logged("@began ") >= many; }, "all of them");
    int before = 0;
    for (const pid_t each : front.started()) before += start_of(each) < served ? 1 : 0;
    EXPECT_LT(before, many / 2) << "of " << front.processes_started();
}

INSTANTIATE_TEST_SUITE_P(gateway, isolated, testing::ValuesIn(all_hosts), hosted_name());

}  // namespace
}  // namespace andon
