// Calls that were not seen to stop, because others were in flight beside them: they are looked at again when those are
// over. And servers that compute for themselves, which tells nothing of a call.
#include <gmock/gmock.h>

#include "gateway/in_front.hpp"
#include "process/process_activity.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;

constexpr auto as_long_as_a_trial = 1'000ms;  // of half a second, and a few looks more
constexpr auto a_gap = 120ms;                 // between calls, in which there is time for a look

const in_front_settings restarts{.keys = "grace = \"200ms\"\non_ignored = \"restart\""};

/// One call to be cancelled, and one beside it that is held.
class unseen : public testing::TestWithParam<hosted> {
protected:
    void begin(in_front& front, const std::string& tool, const std::string& more = {}) {
        front.open();
        front.call("1", tool, with_key("k", more));
        note_begun(front);
        hold(front, "2", "beside");
    }
    void note_begun(in_front& front) {
        begun_ = front.began("k");
        its_.emplace(begun_.pid);
    }
    void hold(in_front& front, const std::string& id, const std::string& key) {
        front.call(id, "hold", with_key(key));
        static_cast<void>(front.began(key));
    }
    void release(in_front& front, const std::string& id, const std::string& key) {
        EXPECT_EQ(front.asked("release", with_key(key)), "done");
        EXPECT_EQ(text_of(front.answer(id)), "done");
    }
    void cancel_unseen(in_front& front, const std::string& tool, const std::string& id = "1") {
        front.cancel(id);
        const json::object entry = front.entry(tool);
        EXPECT_EQ(entry.at("evidence").as_string(), "unseen");
        EXPECT_FALSE(entry.at("ignored").as_bool());
    }
    void expect_killed(in_front& front, const std::string& tool) {
        EXPECT_TRUE(its_->wait_for_end());
        const json::object entry = front.entry(tool, [](const json::object& each) { return is_ignored(each); });
        EXPECT_EQ(entry.at("evidence").as_string(), "killed");
        EXPECT_NE(front.asked("pid"), pid());
    }
    void expect_left_alone(in_front& front) {
        std::this_thread::sleep_for(as_long_as_a_trial);
        EXPECT_EQ(front.asked("pid"), pid());
        EXPECT_EQ(front.andon().times_logged("cancel_ignored"), 0);
    }
    static bool is_ignored(const json::object& entry) { return entry.at("ignored").as_bool(); }
    [[nodiscard]] std::string pid() const { return std::to_string(begun_.pid); }
    in_front::beginning begun_{};
    std::optional<process_watch> its_;
};

TEST_P(unseen, RCV_2_one_that_burns_on_is_restarted_once_it_is_alone) {
    in_front front(GetParam(), restarts);
    begin(front, "burn");
    cancel_unseen(front, "burn");
    release(front, "2", "beside");
    expect_killed(front, "burn");
}

TEST_P(unseen, one_that_is_idle_once_it_is_alone_is_left_alone) {
    in_front front(GetParam(), restarts);
    begin(front, "sleep");
    cancel_unseen(front, "sleep");
    release(front, "2", "beside");
    expect_left_alone(front);
    EXPECT_EQ(front.entry("sleep").at("evidence").as_string(), "unseen");
}

INSTANTIATE_TEST_SUITE_P(gateway, unseen, testing::ValuesIn(all_hosts), hosted_name());

class unseen_behind_wrap : public unseen {};

TEST_P(unseen_behind_wrap, one_whose_children_live_on_is_restarted_with_them) {
    in_front front(GetParam(), restarts);
    begin(front, "fork");
    const auto all = front.children("k");
    cancel_unseen(front, "fork");
    release(front, "2", "beside");
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    expect_killed(front, "fork");
}

/// A child of the call that came later is none of its.
TEST_P(unseen_behind_wrap, children_of_later_calls_are_not_its) {
    in_front front(GetParam(), restarts);
    begin(front, "obey");
    cancel_unseen(front, "obey");
    front.call("3", "fork", with_key("forks", R"("ms":1)"));
    EXPECT_EQ(text_of(front.answer("3")), "done");
    release(front, "2", "beside");
    expect_left_alone(front);
}

TEST_P(unseen_behind_wrap, another_call_that_comes_and_goes_puts_it_off) {
    in_front front(GetParam(), restarts);
    begin(front, "burn");
    cancel_unseen(front, "burn");
    release(front, "2", "beside");
    hold(front, "3", "another");
    expect_left_alone(front);
    release(front, "3", "another");
    expect_killed(front, "burn");
}

/// Never alone for as long as a trial takes: what is seen from gap to gap is put together.
TEST_P(unseen_behind_wrap, RCV_2_one_that_burns_on_is_found_among_short_calls) {
    in_front front(GetParam(), restarts);
    begin(front, "burn");
    cancel_unseen(front, "burn");
    release(front, "2", "beside");
    EXPECT_TRUE(eventually([&] {
        static_cast<void>(front.asked("echo"));
        std::this_thread::sleep_for(a_gap);
        return its_->ended();
    }));
    expect_killed(front, "burn");
}

/// It is never at rest, as each leaves a little that goes on into the next gap.
TEST_P(unseen_behind_wrap, what_short_calls_leave_to_be_done_is_not_held_against_it) {
    in_front front(GetParam(), restarts);
    begin(front, "obey");
    cancel_unseen(front, "obey");
    release(front, "2", "beside");
    for (auto passed = 0ms; passed < 3 * as_long_as_a_trial; passed += a_gap) {
        EXPECT_EQ(front.asked("answer_and_burn", with_key("burns", R"("ms":200,"pause":15)")), "done");
        std::this_thread::sleep_for(a_gap);
    }
    expect_left_alone(front);
}

TEST_P(unseen_behind_wrap, SND_1_a_late_answer_before_the_look_settles_it) {
    in_front front(GetParam(), restarts);
    begin(front, "burn", R"("ms":700)");
    cancel_unseen(front, "burn");
    front.andon().mark("answered", "k");
    const json::object entry = front.entry("burn", [](const json::object& each) { return is_ignored(each); });
    EXPECT_EQ(entry.at("evidence").as_string(), "answered late");
    release(front, "2", "beside");
    std::this_thread::sleep_for(as_long_as_a_trial);
    EXPECT_EQ(front.asked("pid"), pid());
}

TEST_P(unseen_behind_wrap, of_two_that_are_unseen_the_one_that_works_is_enough) {
    in_front front(GetParam(), restarts);
    begin(front, "burn");
    front.call("3", "obey", with_key("obeys"));
    static_cast<void>(front.began("obeys"));
    cancel_unseen(front, "obey", "3");
    cancel_unseen(front, "burn");
    release(front, "2", "beside");
    expect_killed(front, "burn");
}

TEST_P(unseen_behind_wrap, two_that_are_idle_are_left_alone) {
    in_front front(GetParam(), restarts);
    begin(front, "sleep");
    front.call("3", "obey", with_key("obeys"));
    static_cast<void>(front.began("obeys"));
    cancel_unseen(front, "obey", "3");
    cancel_unseen(front, "sleep");
    release(front, "2", "beside");
    expect_left_alone(front);
}

TEST_P(unseen_behind_wrap, what_an_answered_call_leaves_to_be_done_is_not_held_against_it) {
    in_front front(GetParam(), restarts);
    begin(front, "obey");
    cancel_unseen(front, "obey");
    release(front, "2", "beside");
    EXPECT_EQ(front.asked("answer_and_burn", with_key("burns", R"("ms":250)")), "done");
    front.andon().mark("burnt", "burns");
    expect_left_alone(front);
}

/// What it does may be done by one that was cancelled after it, and has its grace time still.
TEST_P(unseen_behind_wrap, the_grace_time_of_another_is_waited_for) {
    in_front front(
        GetParam(),
        {.keys = "on_ignored = \"restart\"",
         .tables = "[servers.s.tools.sleep]\ngrace = \"50ms\"\n[servers.s.tools.burn]\ngrace = \"600ms\"\n"});
    front.open();
    front.call("1", "sleep", with_key("k"));
    note_begun(front);
    front.call("2", "burn", with_key("burns", R"("ms":400)"));
    static_cast<void>(front.began("burns"));
    front.cancel("2");
    front.cancel("1");
    EXPECT_EQ(front.entry("sleep").at("evidence").as_string(), "unseen");
    EXPECT_EQ(front.entry("burn").at("evidence").as_string(), "answered late");
    expect_left_alone(front);
}

TEST_P(unseen_behind_wrap, with_drop_it_is_shown_as_ignoring) {
    in_front front(GetParam(), {.keys = "grace = \"200ms\""});
    begin(front, "burn", R"("ms":2500)");
    cancel_unseen(front, "burn");
    release(front, "2", "beside");
    EXPECT_EQ(front.shown("burn", "ignoring").at("pid").as_int64(), begun_.pid);
    const json::object entry = front.entry("burn", [](const json::object& each) { return is_ignored(each); });
    EXPECT_EQ(entry.at("evidence").as_string(), "answered late");
    EXPECT_EQ(front.asked("pid"), pid());
}

INSTANTIATE_TEST_SUITE_P(gateway, unseen_behind_wrap, testing::Values(hosted::wrap), hosted_name());

/// A legacy server does not say whose a log message is: as long as one that was cancelled may have said it, it is
/// nobody's.
class doubtful : public unseen {
protected:
    /// Whether a call hears what the server logs meanwhile.
    static bool hears_log(in_front& front) {
        http_client connection =
            front.caller().call("\"logs\"", "log", with_key("l"), R"("io.modelcontextprotocol/logLevel":"debug")");
        const http_outcome all = outcome_of(connection);
        static_cast<void>(front.andon().times_logged("@"));  // a pipe that nobody reads is full in the end
        EXPECT_EQ(text_of(all.message.value()), "done");
        return std::ranges::any_of(
            all.events, [](const http_event& each) { return each.data.find("\"of l\"") != std::string::npos; });
    }
};

TEST_P(doubtful, until_the_process_was_seen_at_rest) {
    in_front front(GetParam(), {.arguments = {"--era", "legacy"}, .keys = "grace = \"200ms\""});
    front.open();
    EXPECT_TRUE(hears_log(front));
    front.call("1", "sleep", with_key("k"));
    note_begun(front);
    hold(front, "2", "beside");
    cancel_unseen(front, "sleep");
    release(front, "2", "beside");
    EXPECT_TRUE(eventually([&] { return hears_log(front); }));
}

TEST_P(doubtful, as_long_as_the_process_is_at_work) {
    in_front front(GetParam(), {.arguments = {"--era", "legacy"}, .keys = "grace = \"200ms\""});
    front.open();
    front.call("1", "burn", with_key("k", R"("ms":1200)"));
    note_begun(front);
    hold(front, "2", "beside");
    cancel_unseen(front, "burn");
    release(front, "2", "beside");
    EXPECT_FALSE(hears_log(front));
    EXPECT_FALSE(hears_log(front));
    front.andon().mark("answered", "k");
    EXPECT_TRUE(eventually([&] { return hears_log(front); }));
}

INSTANTIATE_TEST_SUITE_P(gateway, doubtful, testing::Values(hosted::modern_gateway), hosted_name());

/// A subscription waits, and does no work: what is done beside it is the call's.
TEST(unseen_calls, SUB_1_a_subscription_beside_it_hides_no_call) {
    in_front front(hosted::modern_gateway, restarts);
    front.open();
    front.request("1", "subscriptions/listen", R"("notifications":{"toolsListChanged":true})");
    front.andon().mark("told", "subscriptions/listen");
    front.call("2", "burn", with_key("k"));
    const process_watch its(front.began("k").pid);
    front.cancel("2");
    EXPECT_TRUE(its.wait_for_end());
    const json::object entry = front.entry("burn");
    EXPECT_EQ(entry.at("evidence").as_string(), "killed");
}

/// Nobody knows how many threads a server has, and a look is to be short.
TEST(unseen_calls, a_look_at_a_process_of_many_threads_does_not_take_longer) {
    in_front front(hosted::wrap, {});
    front.open();
    const pid_t pid = std::stoi(front.asked("pid"));
    const auto shortest_look = [pid] {
        auto shortest = std::chrono::steady_clock::duration::max();
        for (int i = 0; i < 10; ++i) {
            const auto since = std::chrono::steady_clock::now();
            EXPECT_FALSE(detail::activity_of(pid).processes.empty());
            shortest = std::min(shortest, std::chrono::steady_clock::now() - since);
        }
        return shortest;
    };
    EXPECT_EQ(front.asked("threads", R"({"count":256})"), "done");
    const auto few = shortest_look();
    EXPECT_EQ(front.asked("threads", R"({"count":3000})"), "done");
    EXPECT_LT(shortest_look(), 4 * few);
}

// Servers that are never at rest.

class computes : public unseen {
protected:
    /// A pause between two calls, in which it is seen what the server does by itself.
    void rest(in_front& front) {
        EXPECT_EQ(front.asked("echo"), "done");
        std::this_thread::sleep_for(300ms);
        EXPECT_EQ(front.asked("echo"), "done");
    }
    void expect_an_obeyed_cancel_kills_nothing(in_front& front) {
        front.call("1", "obey", with_key("k"));
        note_begun(front);
        cancel_unseen(front, "obey");
        expect_left_alone(front);
    }
    static constexpr auto has_started_after = 1'000ms;
    in_front_settings computing{.arguments = {"--computes"}, .keys = restarts.keys + "\nrestart_first = \"10ms\""};
};

TEST_P(computes, for_itself_and_a_call_that_obeys_is_unseen_and_nothing_is_killed) {
    in_front front(GetParam(), computing);
    front.open();
    rest(front);
    expect_an_obeyed_cancel_kills_nothing(front);
}

TEST_P(computes, RCV_2_for_itself_and_a_call_that_burns_beside_that_is_seen) {
    in_front front(GetParam(), computing);
    front.open();
    rest(front);
    front.call("1", "burn", with_key("k"));
    note_begun(front);
    front.cancel("1");
    expect_killed(front, "burn");
}

/// Nobody can know it of one that is called, cancelled and looked at before it had a pause: that is one too many.
TEST_P(computes, for_itself_and_is_killed_for_that_no_more_than_once) {
    in_front front(GetParam(), computing);
    front.open();
    for (std::size_t cancelled = 1; cancelled <= 4; ++cancelled) {
        front.call("1", "obey", with_key("k" + std::to_string(cancelled)));
        static_cast<void>(front.began("k" + std::to_string(cancelled)));
        front.cancel("1");
        EXPECT_TRUE(eventually([&] { return front.entries("obey").size() == cancelled; }));
    }
    EXPECT_LE(front.andon().times_logged("cancel_ignored"), 1);
}

TEST_P(computes, for_itself_which_is_known_of_the_process_that_replaces_it) {
    in_front front(GetParam(), computing);
    front.open();
    rest(front);
    EXPECT_NE(front.asked("crash"), "done");
    expect_an_obeyed_cancel_kills_nothing(front);
}

/// The other one of each kind ends at its first call: no process had a pause.
TEST_P(computes, for_itself_which_is_seen_before_its_first_call) {
    in_front front(GetParam(), computing);
    front.open();
    EXPECT_NE(front.asked("crash"), "done");
    const auto ready = [&] {
        for (const json::value& each : front.servers()) {
            if (each.at("state").as_string() == "ready") return true;
        }
        return false;
    };
    EXPECT_TRUE(eventually(ready));
    std::this_thread::sleep_for(has_started_after + 300ms);
    expect_an_obeyed_cancel_kills_nothing(front);
}

TEST_P(computes, only_while_it_starts_and_calls_that_burn_are_seen_each_time) {
    computing.arguments = {"--starts-for", "350"};
    in_front front(GetParam(), computing);
    front.open();
    for (std::size_t cancelled = 1; cancelled <= 2; ++cancelled) {
        front.call("1", "burn", with_key("k" + std::to_string(cancelled)));
        const process_watch its(front.began("k" + std::to_string(cancelled)).pid);
        front.cancel("1");
        EXPECT_TRUE(its.wait_for_end()) << cancelled;
    }
}

INSTANTIATE_TEST_SUITE_P(gateway, computes, testing::Values(hosted::wrap, hosted::modern_gateway), hosted_name());

}  // namespace
}  // namespace andon
