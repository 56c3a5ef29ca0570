#include "gateway/control/control_socket.hpp"

#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "gateway/control/control_protocol.hpp"
#include "gateway/control_caller.hpp"
#include "gateway/served_desk.hpp"

namespace andon::gateway {
namespace {

using testing::HasSubstr;

class control : public testing::Test {
protected:
    [[nodiscard]] control_caller connect() const { return control_caller(served.path()); }
    void expect_alive() { EXPECT_EQ(connect().ask(R"({"op":"hello"})").at("kind").as_string(), "wrap"); }

    served_desk served;
};

mode_t mode_of(const std::filesystem::path& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0);
    return status.st_mode & 07777U;
}

std::string refusal() {
    detail::event_loop loop;
    fake_desk desk;
    try {
        const control_socket socket(loop, desk, {"wrap", "x"}, log_sink([](log_level, std::string_view) {}));
    } catch (const std::exception& why) {
        return why.what();
    }
    return "";
}

TEST_F(control, the_socket_is_for_its_user_alone) {
    EXPECT_EQ(mode_of(served.path()), 0600U);
    EXPECT_EQ(mode_of(served.folder().path()), 0700U);
}

TEST_F(control, nothing_is_left_of_it_at_the_end) {
    EXPECT_EQ(served.folder().files(), 1U);
    auto open_still = connect();
    served.close_socket();
    EXPECT_EQ(served.folder().files(), 0U);
    EXPECT_EQ(open_still.line(), "");
}

TEST_F(control, somebody_elses_socket_of_the_same_name_is_left_alone_at_the_end) {
    std::filesystem::remove(served.path());
    std::ofstream(served.path()) << "another";
    served.close_socket();
    EXPECT_TRUE(std::filesystem::exists(served.path()));
}

TEST_F(control, a_second_one_of_the_same_process_is_refused) { EXPECT_THAT(refusal(), HasSubstr("is in use")); }

TEST(control_folder, is_made_where_it_is_missing) {
    const runtime_folder folder;
    const auto inside = folder.path() / "inside";
    ::setenv("ANDON_RUNTIME_DIR", inside.c_str(), 1);
    const mode_t before = ::umask(0);
    EXPECT_EQ(refusal(), "");
    ::umask(before);
    EXPECT_EQ(mode_of(inside), 0700U);
}

TEST(control_folder, that_is_a_link_or_open_to_others_or_relative_is_refused) {
    const runtime_folder folder;
    const auto link = folder.path() / "link";
    std::filesystem::create_directory(folder.path() / "real");
    std::filesystem::create_symlink(folder.path() / "real", link);
    ::setenv("ANDON_RUNTIME_DIR", link.c_str(), 1);
    EXPECT_THAT(refusal(), HasSubstr("is not a folder itself"));
    ASSERT_EQ(::chmod((folder.path() / "real").c_str(), 0755), 0);
    ::setenv("ANDON_RUNTIME_DIR", (folder.path() / "real").c_str(), 1);
    EXPECT_THAT(refusal(), HasSubstr("chmod 700"));
    ::setenv("ANDON_RUNTIME_DIR", "somewhere", 1);
    EXPECT_THAT(refusal(), HasSubstr("absolute"));
}

TEST(control_folder, of_another_user_is_refused) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make a folder for somebody else";
    const runtime_folder folder;
    ASSERT_EQ(::chown(folder.path().c_str(), 65'534, 65'534), 0);
    EXPECT_THAT(refusal(), HasSubstr("belongs to another user"));
}

TEST(control_folder, may_have_a_path_longer_than_the_address_of_a_socket) {
    const runtime_folder folder;
    const auto deep = folder.path() / std::string(200, 'd');
    ::setenv("ANDON_RUNTIME_DIR", deep.c_str(), 1);
    EXPECT_EQ(refusal(), "");
}

TEST(control_folder, a_socket_that_a_dead_process_left_is_replaced) {
    const runtime_folder folder;
    const auto left = folder.path() / socket_name(::getpid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, left.c_str(), left.string().size() + 1);
    {
        const detail::descriptor dead(::socket(AF_UNIX, SOCK_STREAM, 0));
        ASSERT_EQ(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);  // NOLINT
        ASSERT_EQ(::listen(dead.get(), 1), 0);
    }
    EXPECT_EQ(refusal(), "");
    EXPECT_EQ(folder.files(), 0U);
}

TEST_F(control, another_user_is_turned_away_even_where_the_permissions_let_him_in) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    ASSERT_EQ(::chmod(served.folder().path().c_str(), 0755), 0);
    ASSERT_EQ(::chmod(served.path().c_str(), 0666), 0);
    const auto path = served.path();
    const pid_t child = ::fork();
    if (child == 0) {
        constexpr int heard_something = 1;
        constexpr int not_even_connected = 2;
        if (::setuid(65'534) != 0) ::_exit(not_even_connected);
        try {
            control_caller stranger(path);
            stranger.say(R"({"op":"hello"})");
            ::_exit(stranger.line().empty() ? 0 : heard_something);
        } catch (const std::exception& why) {
            std::fprintf(stderr, "%s\n", why.what());
            ::_exit(not_even_connected);
        }
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    expect_alive();
}

TEST_F(control, hello_says_who_it_is) {
    served.on_loop([&] {
        served.desk().servers = {{.server = "everything", .state = "ready", .pid = 12, .restarts = 3, .in_flight = 1}};
    });
    const json::object hello = connect().ask(R"({"op":"hello"})");
    EXPECT_EQ(hello.at("pid").to_number<pid_t>(), ::getpid());
    EXPECT_EQ(hello.at("kind").as_string(), "wrap");
    EXPECT_EQ(hello.at("name").as_string(), "a server");
    EXPECT_FALSE(hello.at("version").as_string().empty());
    EXPECT_GT(hello.at("started_ms").to_number<std::int64_t>(), 0);
    EXPECT_EQ(server_of(hello.at("servers").at(0).as_object()).restarts, 3U);
}

TEST_F(control, list_gives_every_call_as_it_is) {
    relayed_call_view call;
    call.server = "everything";
    call.session = "0af1";
    call.method = "tools/call";
    call.tool = "wait";
    call.request_id = "9007199254740993";
    call.traceparent = "00-1-2-01";
    call.pid = 4711;
    call.started = std::chrono::system_clock::time_point(std::chrono::milliseconds(1'700'000'000'123));
    call.stage = call_stage::ignoring;
    call.progress = call_progress{0.5, 2.0, "half"};
    call.cause = cancel_cause::operator_;
    call.reason = "enough";
    call.asked_by = "operator ann";
    call.since_asked = std::chrono::milliseconds(1'500);
    call.number = std::numeric_limits<std::uint64_t>::max();
    served.on_loop([&] { served.desk().add(call); });

    auto caller = connect();
    const json::object first = caller.ask(R"({"op":"list"})");
    const relayed_call_view got = call_of(first.at("call").as_object());
    EXPECT_EQ(got.number, call.number);
    EXPECT_EQ(got.server, call.server);
    EXPECT_EQ(got.session, call.session);
    EXPECT_EQ(got.method, call.method);
    EXPECT_EQ(got.tool, call.tool);
    EXPECT_EQ(got.request_id, call.request_id);
    EXPECT_EQ(got.traceparent, call.traceparent);
    EXPECT_EQ(got.pid, call.pid);
    EXPECT_EQ(got.started, call.started);
    EXPECT_EQ(got.stage, call.stage);
    ASSERT_TRUE(got.progress);
    EXPECT_EQ(got.progress->done, 0.5);
    EXPECT_EQ(got.progress->total, 2.0);
    EXPECT_EQ(got.progress->message, "half");
    EXPECT_EQ(got.cause, call.cause);
    EXPECT_EQ(got.reason, call.reason);
    EXPECT_EQ(got.asked_by, call.asked_by);
    EXPECT_EQ(got.since_asked, call.since_asked);
    EXPECT_TRUE(caller.answer().at("done").as_bool());
}

TEST_F(control, one_connection_asks_as_often_as_it_likes_even_ahead_and_behind_its_own_end) {
    auto caller = connect();
    caller.write("{\"op\":\"hello\"}\n\n{\"op\":\"list\"}\n{\"op\":\"hello\"}\n");
    caller.end_input();
    EXPECT_EQ(caller.answer().at("kind").as_string(), "wrap");
    EXPECT_TRUE(caller.answer().contains("done"));
    EXPECT_EQ(caller.answer().at("kind").as_string(), "wrap");
    EXPECT_EQ(caller.line(), "");
}

TEST_F(control, MSG_4_stop_names_what_it_asked_and_carries_who_and_why_in_safe_words) {
    const auto wait = served.add("wait");
    const auto other = served.add("other");
    auto caller = connect();
    const json::object asked =
        caller.ask(R"({"op":"stop","select":{"tool":"wait"},"reason":"enough\u001b[2J\n","asked_by":"ann\u202e"})");
    EXPECT_EQ(asked.at("asked"), json::value(json::array{wait}));
    EXPECT_TRUE(caller.answer().at("done").as_bool());
    const auto views = served.on_loop([&] { return served.desk().calls(); });
    EXPECT_EQ(views[0].stage, call_stage::asked_to_stop);
    EXPECT_EQ(views[0].reason, R"(enough\x1b[2J\n)");
    EXPECT_EQ(views[0].asked_by, R"(operator ann\u{202e})");
    EXPECT_EQ(views[1].number, other);
    EXPECT_EQ(views[1].stage, call_stage::running);
    EXPECT_TRUE(served.on_loop([&] { return served.desk().all.at(wait).told.empty(); })) << "nobody waits";
}

TEST_F(control, MSG_4_an_endless_reason_is_cut) {
    const auto call = served.add("wait");
    auto caller = connect();
    static_cast<void>(
        caller.ask(R"({"op":"stop","select":{"all":true},"reason":")" + std::string(10'000, 'x') + "\"}"));
    EXPECT_LE(served.on_loop([&] { return served.desk().all.at(call).view.reason.size(); }), longest_control_reason);
}

TEST_F(control, each_way_to_select_reaches_the_desk) {
    served.add("a", "one");
    served.add("a", "two");
    served.add("b", "two");
    EXPECT_EQ(connect().ask(R"({"op":"stop","select":{"number":3}})").at("asked"), json::value(json::array{3}));
    EXPECT_EQ(connect().ask(R"({"op":"stop","select":{"session":"two"}})").at("asked"), json::value({2, 3}));
    EXPECT_EQ(connect().ask(R"({"op":"stop","select":{"all":true}})").at("asked"), json::value({1, 2, 3}));
    EXPECT_EQ(connect().ask(R"({"op":"stop","select":{"number":99}})").at("asked"), json::array());
}

TEST_F(control, with_wait_the_end_of_each_is_told_when_it_comes) {
    const auto first = served.add("wait");
    const auto second = served.add("wait");
    auto caller = connect();
    EXPECT_EQ(caller.ask(R"({"op":"stop","select":{"all":true},"wait":true})").at("asked"),
              json::value({first, second}));
    expect_alive();
    EXPECT_FALSE(caller.something_came());
    served.on_loop([&] { served.desk().end(second, stop_evidence::killed, std::chrono::microseconds(2'345'678)); });
    const stopped_call heard = stopped_call_of(caller.answer().at("stopped").as_object());
    EXPECT_EQ(heard.number, second);
    EXPECT_EQ(heard.evidence, stop_evidence::killed);
    EXPECT_EQ(heard.took, std::chrono::microseconds(2'345'678));
    EXPECT_FALSE(caller.something_came());
    served.on_loop([&] { served.desk().end(first, stop_evidence::quiet); });
    EXPECT_EQ(stopped_call_of(caller.answer().at("stopped").as_object()).number, first);
    EXPECT_TRUE(caller.answer().at("done").as_bool());
    EXPECT_EQ(caller.ask(R"({"op":"hello"})").at("kind").as_string(), "wrap") << "the connection goes on";
}

TEST_F(control, work_that_stops_at_once_is_told_behind_the_numbers) {
    served.add("wait");
    served.on_loop([&] { served.desk().obedient = true; });
    auto caller = connect();
    EXPECT_TRUE(caller.ask(R"({"op":"stop","select":{"all":true},"wait":true})").contains("asked"));
    EXPECT_TRUE(caller.answer().contains("stopped"));
    EXPECT_TRUE(caller.answer().contains("done"));
}

TEST_F(control, waiting_for_nothing_is_over_at_once) {
    auto caller = connect();
    EXPECT_TRUE(caller.ask(R"({"op":"stop","select":{"all":true},"wait":true})").contains("asked"));
    EXPECT_TRUE(caller.answer().contains("done"));
}

TEST_F(control, who_only_closed_its_sending_half_still_hears_the_end) {
    const auto call = served.add("wait");
    auto caller = connect();
    caller.say(R"({"op":"stop","select":{"all":true},"wait":true})");
    caller.end_input();
    EXPECT_TRUE(caller.answer().contains("asked"));
    expect_alive();
    served.on_loop([&] { served.desk().end(call, stop_evidence::quiet); });
    EXPECT_TRUE(caller.answer().contains("stopped"));
}

TEST_F(control, RCV_2_a_client_that_leaves_while_it_waits_is_forgotten_and_its_stop_stands) {
    const auto call = served.add("wait");
    {
        auto caller = connect();
        EXPECT_TRUE(caller.ask(R"({"op":"stop","select":{"all":true},"wait":true})").contains("asked"));
    }
    const auto until = std::chrono::steady_clock::now() + caller_patience;
    while (served.connections() != 0) ASSERT_LT(std::chrono::steady_clock::now(), until);
    served.on_loop([&] { served.desk().end(call, stop_evidence::quiet); });
    expect_alive();
}

TEST_F(control, the_socket_may_go_before_what_is_waited_for) {
    const auto call = served.add("wait");
    auto caller = connect();
    EXPECT_TRUE(caller.ask(R"({"op":"stop","select":{"all":true},"wait":true})").contains("asked"));
    served.close_socket();
    EXPECT_EQ(caller.line(), "");
    served.on_loop([&] { served.desk().end(call, stop_evidence::quiet); });
}

struct bad_request {
    const char* name;
    const char* line;
    const char* says;
};

class bad_requests : public testing::TestWithParam<bad_request> {};

TEST_P(bad_requests, get_an_error_and_stop_nothing) {
    served_desk served;
    served.add("wait");
    control_caller caller(served.path());
    caller.say(GetParam().line);
    EXPECT_THAT(std::string(caller.answer().at("error").as_string()), HasSubstr(GetParam().says));
    EXPECT_EQ(caller.ask(R"({"op":"hello"})").at("kind").as_string(), "wrap");
    EXPECT_EQ(served.on_loop([&] { return served.desk().calls()[0].stage; }), call_stage::running);
}

INSTANTIATE_TEST_SUITE_P(
    control, bad_requests,
    testing::Values(
        bad_request{"garbage", "\x01\xff{{{", "one JSON object a line"},
        bad_request{"an_array", "[1,2]", "one JSON object a line"},
        bad_request{"deep", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
                    "one JSON object a line"},
        bad_request{"no_op", "{}", "\"op\" is"}, bad_request{"op_of_another_kind", R"({"op":1})", "\"op\" is"},
        bad_request{"unknown_op", R"({"op":"reboot"})", "\"op\" is"},
        bad_request{"stop_of_nothing", R"({"op":"stop"})", "needs \"select\""},
        bad_request{"empty_selection", R"({"op":"stop","select":{}})", "exactly one"},
        bad_request{"two_selections", R"({"op":"stop","select":{"number":1,"all":true}})", "exactly one"},
        bad_request{"all_false", R"({"op":"stop","select":{"all":false}})", "\"select\" takes"},
        bad_request{"negative_number", R"({"op":"stop","select":{"number":-1}})", "\"select\" takes"},
        bad_request{"fraction", R"({"op":"stop","select":{"number":1.0}})", "\"select\" takes"},
        bad_request{"misspelt", R"({"op":"stop","select":{"tol":"wait"}})", "\"select\" takes"},
        bad_request{"reason_of_another_kind", R"({"op":"stop","select":{"all":true},"reason":7})", "\"reason\""},
        bad_request{"wait_of_another_kind", R"({"op":"stop","select":{"all":true},"wait":"yes"})", "\"wait\""}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace andon::gateway
