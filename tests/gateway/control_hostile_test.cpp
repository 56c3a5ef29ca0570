// What nobody should do to a control socket.
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "gateway/control/control_protocol.hpp"
#include "gateway/control_caller.hpp"
#include "gateway/served_desk.hpp"

namespace andon::gateway {
namespace {

using testing::HasSubstr;

constexpr const char* list_line = "{\"op\":\"list\"}\n";

class hostile_control : public testing::Test {
protected:
    [[nodiscard]] control_caller connect() const { return control_caller(served.path()); }
    void expect_alive() { EXPECT_EQ(connect().ask(R"({"op":"hello"})").at("kind").as_string(), "wrap"); }

    served_desk served;
};

TEST_F(hostile_control, a_line_without_end_is_refused_and_dropped) {
    auto caller = connect();
    caller.write_until_full(std::string(longest_control_request + 1, 'x'));
    caller.write("\n");
    EXPECT_THAT(caller.line(), HasSubstr("at most 16384 bytes"));
    EXPECT_EQ(caller.line(), "");
    expect_alive();
}

TEST_F(hostile_control, who_asks_and_never_reads_costs_one_answer) {
    for (int i = 0; i < 2'000; ++i) served.add(std::string(200, 't'));
    auto deaf = connect();
    // Until neither of the two takes anything any more.
    std::string many;
    for (int i = 0; i < 1'000; ++i) many += list_line;
    std::size_t before = 1;
    while (before != 0) {
        before = deaf.write_until_full(many);
        expect_alive();
    }
    EXPECT_LT(served.on_loop([&] { return served.desk().looked_at; }), 20);
}

TEST_F(hostile_control, many_who_never_read_make_room_for_one_who_does) {
    for (int i = 0; i < 600; ++i) served.add(std::string(2'000, 't'));
    std::vector<control_caller> deaf;
    constexpr int many = 40;
    for (int i = 0; i < many; ++i) deaf.push_back(connect());
    auto reader = connect();
    EXPECT_EQ(reader.ask(R"({"op":"hello"})").at("kind").as_string(), "wrap");
    for (control_caller& each : deaf) each.write(list_line);
    while (served.on_loop([&] { return served.desk().looked_at; }) < many) std::this_thread::yield();
    // Forty answers of more than a megabyte each; sixteen megabytes are kept.
    EXPECT_LT(served.connections(), 18U);
    reader.write(list_line);
    std::size_t calls = 0;
    while (reader.answer().contains("call")) ++calls;
    EXPECT_EQ(calls, 600U);
}

TEST_F(hostile_control, a_thousand_connections_do_not_keep_anybody_out) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit before = limit;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4'096);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    std::vector<control_caller> idle;
    for (int i = 0; i < 1'000; ++i) {
        idle.push_back(connect());
        ASSERT_LE(served.connections(), 64U);
    }
    expect_alive();
    idle.clear();
    expect_alive();
    ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(hostile_control, those_who_wait_are_limited_and_stopping_is_not) {
    const auto call = served.add("wait");
    std::vector<control_caller> waiting;
    int refused = 0;
    for (int i = 0; i < 60; ++i) {
        waiting.push_back(connect());
        EXPECT_EQ(waiting.back().ask(R"({"op":"stop","select":{"all":true},"wait":true})").at("asked"),
                  json::value(json::array{call}));
        expect_alive();
        if (waiting.back().something_came()) {
            EXPECT_THAT(waiting.back().line(), HasSubstr("too many are waiting"));
            ++refused;
        }
    }
    EXPECT_EQ(refused, 28);
    EXPECT_EQ(served.on_loop([&] { return served.desk().all.at(call).told.size(); }), 32U);
    std::vector<control_caller> idle;
    for (int i = 0; i < 100; ++i) idle.push_back(connect());
    expect_alive();
    served.on_loop([&] { served.desk().end(call, stop_evidence::quiet); });
    for (int i = 0; i < 32; ++i) EXPECT_THAT(waiting[static_cast<std::size_t>(i)].line(), HasSubstr("stopped"));
}

TEST_F(hostile_control, those_who_wait_and_leave_and_come_again_do_not_pile_up_at_the_desk) {
    const auto call = served.add("ignores everything");
    for (int i = 0; i < 2'000; ++i) {
        auto caller = connect();
        EXPECT_TRUE(caller.ask(R"({"op":"stop","select":{"all":true},"wait":true})").contains("asked"));
    }
    EXPECT_LE(served.on_loop([&] { return served.desk().all.at(call).told.size(); }), 256U);
}

TEST_F(hostile_control, a_flood_of_requests_leaves_four_fifths_of_the_time_to_others) {
    constexpr std::chrono::milliseconds each_takes{2};
    constexpr int lists = 20;
    served.on_loop([&] { served.desk().takes = each_takes; });
    std::vector<control_caller> flood;
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < 2; ++i) {
        flood.push_back(connect());
        for (int n = 0; n < lists; ++n) flood.back().write(list_line);
    }
    for (control_caller& each : flood) {
        for (int n = 0; n < lists; ++n) EXPECT_TRUE(each.answer().contains("done"));
    }
    EXPECT_GT(std::chrono::steady_clock::now() - begun, (2 * lists - 1) * 5 * each_takes);
}

TEST(slow_control, who_says_nothing_or_never_comes_to_the_end_of_a_request_is_dropped) {
    const served_desk served(std::chrono::milliseconds(200));
    control_caller silent(served.path());
    control_caller dripping(served.path());
    EXPECT_EQ(silent.line(), "");
    // A byte now and then does not help.
    while (dripping.write(" ")) std::this_thread::yield();
}

TEST(slow_control, who_does_not_read_its_answer_is_dropped) {
    served_desk served(std::chrono::milliseconds(200));
    for (int i = 0; i < 600; ++i) served.add(std::string(2'000, 't'));
    control_caller deaf(served.path());
    deaf.write(list_line);
    const auto until = std::chrono::steady_clock::now() + caller_patience;
    while (served.on_loop([&] { return served.desk().looked_at; }) == 0 || served.connections() != 0) {
        ASSERT_LT(std::chrono::steady_clock::now(), until);
    }
}

TEST(slow_control, who_waits_for_work_to_stop_has_all_the_time) {
    constexpr std::chrono::milliseconds shortly{50};
    served_desk served(shortly);
    const auto call = served.add("wait");
    control_caller waiting(served.path());
    EXPECT_TRUE(waiting.ask(R"({"op":"stop","select":{"all":true},"wait":true})").contains("asked"));
    control_caller silent(served.path());
    EXPECT_EQ(silent.line(), "") << "one who came later and was dropped: that time has passed";
    served.on_loop([&] { served.desk().end(call, stop_evidence::quiet); });
    EXPECT_TRUE(waiting.answer().contains("stopped"));
}

TEST_F(hostile_control, garbage_of_every_kind_is_survived) {
    std::uint32_t seed = 7;
    const auto any = [&] {
        seed = seed * 1'664'525U + 1'013'904'223U;
        return seed >> 16U;
    };
    const std::vector<std::string> pieces{
        "{\"op\":\"", "stop", "list",          "\",\"select\":{", "\"all\":true", "}", "\n",
        "\0\xff",     "[[[[", "\"wait\":true", "\\u0000",         "1e999",        ",", std::string(3'000, ' ')};
    for (int i = 0; i < 300; ++i) {
        auto caller = connect();
        std::string bytes;
        for (std::uint32_t n = any() % 30; n != 0; --n) bytes += pieces[any() % pieces.size()];
        caller.write_until_full(bytes.substr(0, any() % (bytes.size() + 1)) + "\n");
    }
    expect_alive();
}

}  // namespace
}  // namespace andon::gateway
