// Hosts that are gone: what they had in flight is cancelled where that is what a disconnect means, and nothing is left.
#include <csignal>
#include <functional>
#include <gmock/gmock.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "apps/andon_process.hpp"
#include "gateway/in_front.hpp"
#include "process/process_activity.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

using testing::HasSubstr;

std::vector<process_watch> with_children(in_front& front, const std::string& key) {
    auto all = front.children(key);
    all.emplace_back(front.began(key).pid);
    return all;
}

/// A server in the middle of its first call, with the children that it has started for it.
std::vector<process_watch> forked(in_front& front, const std::string& key) {
    front.open();
    front.call("1", "fork", with_key(key));
    return with_children(front, key);
}

struct leaving_case {
    const char* name;
    std::vector<std::string> arguments;
};

void PrintTo(const leaving_case& which, std::ostream* to) { *to << which.name; }

class left : public testing::TestWithParam<leaving_case> {};

TEST_P(left, input_that_ends_cancels_what_is_in_flight_and_reaps_everything) {
    in_front front(hosted::wrap, {.arguments = GetParam().arguments});
    const auto all = forked(front, "forks");
    front.call("2", "obey", with_key("obeys"));
    const auto obeys = front.began("obeys");
    front.vanish();
    EXPECT_EQ(front.andon().mark("cancelled", front.began("forks").id).empty(), false);
    front.andon().mark("cancelled", obeys.id);
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    EXPECT_EQ(front.andon().exit(), (exit_status{false, 0}));
    const json::object entry = front.entry("fork");
    EXPECT_EQ(entry.at("end").as_string(), "disconnected");
    EXPECT_EQ(entry.at("cause").as_string(), "disconnect");
    EXPECT_TRUE(std::filesystem::is_empty(front.folder() / "run")) << "a socket is left";
}

/// Its progress is not heard any more, and between two of them it is at rest.
TEST(left_at_work, RCV_2_what_went_on_until_it_was_killed_was_not_quiet) {
    in_front front(hosted::wrap, {.arguments = {"--trap", "--stay", "--unread"}});
    front.open();
    front.call("1", "tick", with_key("k", R"("every":100,"ms":60000)"), R"("progressToken":1)");
    const process_watch its(front.began("k").pid);
    EXPECT_TRUE(eventually([&] { return front.shown("tick", "running").at("progress").is_object(); }));
    front.vanish();
    EXPECT_TRUE(its.wait_for_end());
    EXPECT_EQ(front.andon().exit(), (exit_status{false, 0}));
    EXPECT_EQ(front.entry("tick").at("evidence").as_string(), "killed");
}

TEST_P(left, a_killed_andon_takes_everything_with_it) {
    in_front front(hosted::wrap, {.arguments = GetParam().arguments});
    const auto all = forked(front, "forks");
    ::kill(front.andon().pid(), SIGKILL);
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
}

TEST_P(left, SIGTERM_to_andon_is_a_cancel_and_an_end) {
    in_front front(hosted::wrap, {.arguments = GetParam().arguments});
    const auto all = forked(front, "forks");
    ::kill(front.andon().pid(), SIGTERM);
    front.andon().mark("cancelled", front.began("forks").id);
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    EXPECT_EQ(front.andon().exit(), (exit_status{false, 0}));
}

TEST_P(left, SIGHUP_to_andon_is_one_as_well) {
    in_front front(hosted::wrap, {.arguments = GetParam().arguments});
    const auto all = forked(front, "forks");
    ::kill(front.andon().pid(), SIGHUP);
    front.andon().mark("cancelled", front.began("forks").id);
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    EXPECT_EQ(front.andon().exit(), (exit_status{false, 0}));
    EXPECT_TRUE(std::filesystem::is_empty(front.folder() / "run")) << "a socket is left";
}

TEST_P(left, SIGQUIT_ends_andon_as_usual_and_everything_with_it) {
    in_front front(hosted::wrap, {.arguments = GetParam().arguments});
    const auto all = forked(front, "forks");
    const rlimit no_core{};
    ::prlimit(front.andon().pid(), RLIMIT_CORE, &no_core, nullptr);
    ::kill(front.andon().pid(), SIGQUIT);
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    EXPECT_EQ(front.andon().exit(), (exit_status{true, SIGQUIT}));
}

/// What nobody guards any more is andon's to end, also what has left its process group.
TEST_P(left, a_killed_guardian_takes_everything_with_it_and_the_server_is_started_again) {
    in_front front(hosted::wrap, {.arguments = GetParam().arguments, .keys = "restart_first = \"10ms\""});
    const auto all = forked(front, "forks");
    ::kill(detail::guardian_of(front.began("forks").pid), SIGKILL);
    EXPECT_EQ(message_of(front.answer("1")), "the server was killed: its guardian process is gone");
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    EXPECT_NE(front.asked("pid"), std::to_string(front.began("forks").pid));
    // The new one has a guardian of its own, which was not taken for an orphan.
    front.call("2", "obey", with_key("obeys"));
    static_cast<void>(front.began("obeys"));
    front.cancel("2");
    front.andon().mark("obeyed", "obeys");
}

/// Stopped means that it does not do its duty: it is woken for the end.
TEST_P(left, a_stopped_guardian_holds_up_neither_end) {
    for (const bool asked : {false, true}) {
        in_front front(hosted::wrap, {.arguments = GetParam().arguments});
        const auto all = forked(front, "forks");
        stop_guardian(front.began("forks").pid);
        asked ? static_cast<void>(::kill(front.andon().pid(), SIGTERM)) : front.vanish();
        for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
        EXPECT_EQ(front.andon().exit(), (exit_status{false, 0}));
    }
}

/// Nobody is there to wake it but the kernel, which wakes by itself only a process group that is nobody's any more:
/// with us as its new parent it is not.
TEST_P(left, a_stopped_guardian_is_woken_by_the_death_of_andon) {
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    in_front front(hosted::wrap, {.arguments = GetParam().arguments});
    const auto all = forked(front, "forks");
    stop_guardian(front.began("forks").pid);
    ::kill(front.andon().pid(), SIGKILL);
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
}

/// One that cannot be woken is killed, and andon ends what it guarded.
TEST_P(left, a_guardian_that_nothing_wakes_holds_up_the_end_no_longer_than_that) {
    in_front front(hosted::wrap, {.arguments = GetParam().arguments});
    const auto all = forked(front, "forks");
    const pid_t guardian = hold_guardian(front.began("forks").pid);
    ::kill(front.andon().pid(), SIGTERM);
    int status = 0;
    while (::waitpid(guardian, &status, __WALL) == guardian && WIFSTOPPED(status)) continue;
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    EXPECT_EQ(front.andon().exit(), (exit_status{false, 0}));
}

TEST_P(left, a_stopped_server_does_not_hold_up_the_end) {
    in_front front(hosted::wrap, {.arguments = GetParam().arguments});
    const auto all = forked(front, "forks");
    stop_process(front.began("forks").pid);
    ::kill(front.andon().pid(), SIGTERM);
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    EXPECT_EQ(front.andon().exit(), (exit_status{false, 0}));
}

/// A policy that kills reaches through a stopped guardian, too.
TEST_P(left, a_stopped_guardian_does_not_keep_a_server_from_being_restarted) {
    in_front front(hosted::wrap, {.arguments = GetParam().arguments,
                                  .keys = "on_ignored = \"restart\"\ngrace = \"50ms\"\nrestart_first = \"10ms\""});
    const auto all = forked(front, "forks");
    stop_guardian(front.began("forks").pid);
    front.cancel("1");
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    EXPECT_NE(front.asked("pid"), std::to_string(front.began("forks").pid));
}

const leaving_case all_servers[] = {{"a_server_that_leaves", {}}, {"a_server_that_stays", {"--trap", "--stay"}}};
INSTANTIATE_TEST_SUITE_P(wrap, left, testing::ValuesIn(all_servers), [](const auto& each) { return each.param.name; });

/// The jobs of a shell that has become andon are andon's children, and none of its business; nor is what they leave
/// behind.
TEST(left_by_andon, children_that_it_was_started_with_are_left_alone) {
    const own_folder folder;
    std::vector<std::string> environment;
    for (const auto& [name, value] : at_home_in(folder)) environment.push_back(name + '=' + value);
    const std::string script =
        "sleep 1000 >&- 2>&- & echo \"@job alone $!\" >&2\n"
        "sh -c 'echo \"@job parent $$\" >&2; setsid sleep 1000 >&- 2>&- & echo \"@job child $!\" >&2; wait' &\n"
        "exec \"$@\"";
    const std::string config =
        folder.write("andon.toml", "[servers.s]\ncommand = [\"" MISBEHAVING_SERVER "\"]\nrestart_first = \"10ms\"\n");
    server_process andon(revision::v2025_11_25, {.argv = {"/bin/sh", "-c", script, "sh", built_program("andon"), "wrap",
                                                          "--config", config, "--server", "s"},
                                                 .environment = environment});
    std::vector<process_watch> jobs;
    for (const char* const each : {"alone", "child", "parent"}) jobs.emplace_back(std::stoi(andon.mark("job", each)));
    const auto lose_guardian = [&](const std::string& key) {
        andon.call('"' + key + '"', "fork", with_key(key));
        std::istringstream pids(andon.mark("children", key) + ' ' + andon.mark("began", key));
        std::vector<process_watch> all;
        for (pid_t pid = 0; all.size() < 3 && pids >> pid;) all.emplace_back(pid);
        ::kill(detail::guardian_of(all.back().pid()), SIGKILL);
        for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
        static_cast<void>(andon.answer('"' + key + '"'));
        andon.call("\"after " + key + '"', "pid");  // everything was ended before a new one was started
        static_cast<void>(andon.answer("\"after " + key + '"'));
    };
    andon.open();
    lose_guardian("first");
    for (const auto& each : jobs) EXPECT_FALSE(each.ended());

    // Who waits for it has seen what it left behind.
    const pid_t parent = jobs.back().pid();
    EXPECT_EQ(::kill(parent, SIGKILL), 0);
    EXPECT_TRUE(eventually([&] { return ::kill(parent, 0) != 0; }));
    EXPECT_EQ(state_and_parent(jobs[1].pid()).second, andon.pid());
    lose_guardian("second");
    EXPECT_FALSE(jobs[0].ended());
    EXPECT_FALSE(jobs[1].ended());

    andon.close_input();
    EXPECT_EQ(andon.exit(), (exit_status{false, 0}));
    for (const int i : {0, 1}) {
        EXPECT_FALSE(jobs[static_cast<std::size_t>(i)].ended());
        EXPECT_EQ(::kill(jobs[static_cast<std::size_t>(i)].pid(), SIGKILL), 0);
    }
}

TEST(left_by_andon, SUB_2_a_host_that_still_listens_hears_that_its_subscription_has_ended) {
    const own_folder folder;
    wrap_host host(revision::v2026_07_28, folder, {"--", MISBEHAVING_SERVER, "--era", "modern"});
    host.request("7", "subscriptions/listen", R"("notifications":{"toolsListChanged":true})");
    EXPECT_THAT(host.message_with("7", "notifications/subscriptions/acknowledged"), HasSubstr("Id\":7"));
    ::kill(host.process().pid(), SIGTERM);
    EXPECT_THAT(host.message_with("7", "notifications/cancelled"), HasSubstr(R"("requestId":7)"));
    EXPECT_THAT(host.answer("7"), HasSubstr(R"("io.modelcontextprotocol/subscriptionId":7)"));
    EXPECT_EQ(host.process().exit(), (exit_status{false, 0}));
}

// Over HTTP.

bool nothing_in_flight(in_front& front) {
    return eventually([&] { return front.in_flight().empty(); });
}

/// Of andon: none is left of what is done again and again. What it has when this begins is what stays, and at most what
/// one round opens and is about to be closed: fewer than there are rounds.
void expect_no_descriptor_left(in_front& front, const std::function<void(const std::string& key)>& round) {
    const std::size_t before = front.andon().descriptors();
    for (int i = 0; i < 20; ++i) round("again " + std::to_string(i));
    front.vanish();
    EXPECT_TRUE(eventually([&] { return front.andon().descriptors() <= before; }))
        << front.andon().descriptors() << " descriptors, and not " << before;
}

TEST(vanished, HTTP_1_a_modern_disconnect_is_the_cancel) {
    in_front front(hosted::modern_gateway, {});
    front.open();
    const auto leave = [&](const std::string& key) {
        front.call("1", "obey", with_key(key));
        const auto begun = front.began(key);
        front.drop_connection("1");
        front.andon().mark("cancelled", begun.id);
        front.andon().mark("obeyed", key);
    };
    leave("first");
    EXPECT_EQ(front.entry("obey").at("cause").as_string(), "disconnect");
    EXPECT_TRUE(nothing_in_flight(front));
    expect_no_descriptor_left(front, leave);
}

TEST(vanished, HTTP_2_a_legacy_disconnect_is_not_and_the_end_of_the_session_is) {
    in_front front(hosted::legacy_gateway, {.arguments = {"--trap"}});
    const auto leave = [&](const std::string& key) {
        front.caller().use_session({});
        front.open();
        front.call("1", "fork", with_key(key));
        const auto begun = front.began(key);
        const auto all = with_children(front, key);
        front.drop_connection("1");
        EXPECT_EQ(front.asked("echo"), "done");  // the disconnect was seen before that
        EXPECT_FALSE(front.andon().marked("cancelled", begun.id));

        http_client goodbye = front.caller().send(front.caller().delete_bytes());
        EXPECT_LT(goodbye.head().status, 300);
        front.andon().mark("cancelled", begun.id);
        for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    };
    leave("first");
    EXPECT_EQ(front.entry("fork").at("end").as_string(), "disconnected");
    EXPECT_TRUE(nothing_in_flight(front));
    expect_no_descriptor_left(front, leave);
}

TEST(vanished, a_session_takes_its_processes_with_it_and_no_other_ones) {
    in_front front(hosted::legacy_gateway, {});
    front.open();
    const std::string first = front.asked("pid");
    http_caller other(front.caller());
    other.use_session({});
    other.open();
    const http_outcome theirs = other.answered("1", "pid");
    EXPECT_NE(text_of(*theirs.message), first);
    EXPECT_THAT(front.figures(), HasSubstr("\nandon_sessions{server=\"s\"} 2\n"));
    const process_watch its(std::stoi(first));
    http_client goodbye = front.caller().send(front.caller().delete_bytes());
    static_cast<void>(goodbye.head());
    EXPECT_TRUE(its.wait_for_end());
    EXPECT_THAT(front.figures(), HasSubstr("\nandon_sessions{server=\"s\"} 1\n"));
    EXPECT_EQ(text_of(*other.answered("2", "pid").message), text_of(*theirs.message));
}

/// SIGHUP as nohup has it, for what is started meanwhile.
class ignored_hangup {
public:
    ignored_hangup() { std::signal(SIGHUP, SIG_IGN); }
    ignored_hangup(const ignored_hangup&) = delete;
    ignored_hangup& operator=(const ignored_hangup&) = delete;
    ~ignored_hangup() { std::signal(SIGHUP, SIG_DFL); }
};

TEST(vanished, SIGHUP_that_was_ignored_from_the_beginning_stays_ignored) {
    std::optional<ignored_hangup> nohup(std::in_place);
    in_front front(hosted::wrap, {});
    nohup.reset();
    front.open();
    ::kill(front.andon().pid(), SIGHUP);
    EXPECT_EQ(front.asked("echo"), "done");
    ::kill(front.andon().pid(), SIGTERM);
    EXPECT_EQ(front.andon().exit(), (exit_status{false, 0}));
}

/// At any moment of its start. In the first, before it has come to its own code, there is nothing to be left in order.
TEST(vanished, SIGTERM_while_it_starts_leaves_nothing_behind) {
    std::chrono::microseconds at{};  // later and later, until it has been serving for a while
    for (int served = 0; served < 10; at += std::chrono::microseconds(400) + at / 16) {
        ASSERT_LT(at, std::chrono::seconds(10)) << "it never serves";
        const own_folder folder;
        andon_process starting({"gateway", "--port", "0", "--", MISBEHAVING_SERVER}, {}, at_home_in(folder));
        std::this_thread::sleep_for(at);
        ::kill(starting.pid(), SIGTERM);
        const int status = starting.end();
        EXPECT_THAT(status, testing::AnyOf(0, 128 + SIGTERM));
        served += status == 0 ? 1 : 0;
        if (!std::filesystem::exists(folder / "run")) continue;
        EXPECT_TRUE(std::filesystem::is_empty(folder / "run")) << "a socket is left";
        EXPECT_EQ(status, 0);
    }
}

class terminated : public testing::TestWithParam<hosted> {};

TEST_P(terminated, SIGTERM_to_the_gateway_ends_everything) {
    in_front front(GetParam(), {.arguments = {"--trap"}});
    const auto all = forked(front, "k");
    ::kill(front.andon().pid(), SIGTERM);
    front.expect_silence("1");  // and the stream ends as it should (HTTP-3)
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    EXPECT_EQ(front.andon().exit(), (exit_status{false, 0}));
    EXPECT_TRUE(std::filesystem::is_empty(front.folder() / "run")) << "a socket is left";
}

TEST_P(terminated, SIGHUP_to_the_gateway_does_too) {
    in_front front(GetParam(), {.arguments = {"--trap"}});
    const auto all = forked(front, "k");
    ::kill(front.andon().pid(), SIGHUP);
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    EXPECT_EQ(front.andon().exit(), (exit_status{false, 0}));
    EXPECT_TRUE(std::filesystem::is_empty(front.folder() / "run")) << "a socket is left";
}

TEST_P(terminated, SIGKILL_to_the_gateway_ends_everything_too) {
    in_front front(GetParam(), {.arguments = {"--trap", "--stay"}});
    const auto all = forked(front, "k");
    ::kill(front.andon().pid(), SIGKILL);
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
}

TEST_P(terminated, a_stopped_guardian_does_not_hold_up_the_end_of_the_gateway) {
    in_front front(GetParam(), {.arguments = {"--trap"}});
    const auto all = forked(front, "k");
    stop_guardian(front.began("k").pid);
    ::kill(front.andon().pid(), SIGTERM);
    for (const auto& each : all) EXPECT_TRUE(each.wait_for_end());
    EXPECT_EQ(front.andon().exit(), (exit_status{false, 0}));
}

INSTANTIATE_TEST_SUITE_P(gateway, terminated, testing::Values(hosted::legacy_gateway, hosted::modern_gateway),
                         hosted_name());

}  // namespace
}  // namespace andon
