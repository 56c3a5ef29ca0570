#include "gateway/control/control_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "gateway/control_caller.hpp"
#include "gateway/served_desk.hpp"

namespace andon::gateway {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(call_id, is_a_process_and_a_number_or_the_number_alone) {
    EXPECT_EQ(call_id_of("12.7"), (call_id{12, 7}));
    EXPECT_EQ(call_id_of("7"), (call_id{std::nullopt, 7}));
    EXPECT_EQ(call_id_of("18446744073709551615"), (call_id{std::nullopt, 18'446'744'073'709'551'615U}));
    for (const char* wrong : {"", ".", "12.", ".7", "-1.7", "12.-7", "0.7", "12.7.1", "a", "12 .7", "+7", "0x7",
                              "99999999999.1", "18446744073709551616"}) {
        EXPECT_EQ(call_id_of(wrong), std::nullopt) << wrong;
    }
}

/// Takes connections, and does nothing with them.
class mute_andon {
public:
    explicit mute_andon(const std::filesystem::path& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path.c_str(), path.string().size() + 1);
        EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);  // NOLINT
        EXPECT_EQ(::listen(socket_.get(), 0), 0);
    }
    [[nodiscard]] int fd() const noexcept { return socket_.get(); }

private:
    detail::descriptor socket_;
};

constexpr std::chrono::milliseconds short_limit{200};

TEST(control_client, without_any_andon_there_is_nothing_and_no_problem) {
    const runtime_folder folder;
    std::filesystem::remove(folder.path());
    const survey all = survey_andons();
    EXPECT_THAT(all.andons, IsEmpty());
    EXPECT_THAT(all.problems, IsEmpty());
}

TEST(control_client, finds_what_is_in_flight) {
    served_desk served;
    served.add("first");
    served.add("second");
    const survey all = survey_andons();
    ASSERT_EQ(all.calls.size(), 2U);
    EXPECT_EQ(all.calls[0].call.tool, "first");
    EXPECT_EQ(all.calls[1].id(), std::to_string(::getpid()) + ".2");
    ASSERT_EQ(all.andons.size(), 1U);
    EXPECT_EQ(all.andons[0].name, "a server");
    EXPECT_THAT(all.problems, IsEmpty());
}

TEST(control_client, one_that_hangs_is_a_problem_and_does_not_hide_the_others) {
    served_desk served;
    served.add("wait");
    const mute_andon mute(served.folder().path() / "99999.sock");
    const auto begun = std::chrono::steady_clock::now();
    const survey all = survey_andons(short_limit);
    EXPECT_GE(std::chrono::steady_clock::now() - begun, short_limit);
    EXPECT_EQ(all.calls.size(), 1U);
    EXPECT_THAT(all.problems, ElementsAre("andon 99999 does not answer"));
}

TEST(control_client, one_whose_queue_is_full_is_a_problem_too) {
    const runtime_folder folder;
    const auto path = folder.path() / "99999.sock";
    const mute_andon mute(path);
    const control_caller in_the_way(path);
    EXPECT_THAT(survey_andons(short_limit).problems, ElementsAre("andon 99999 does not answer"));
}

TEST(control_client, one_that_answers_nonsense_or_leaves_is_a_problem) {
    const runtime_folder folder;
    const mute_andon liar(folder.path() / "99999.sock");
    for (const std::string answer : {"[]\n", "no\n", ""}) {
        std::thread lies([&] {
            const detail::descriptor client(::accept(liar.fd(), nullptr, nullptr));
            std::array<char, 100> heard{};
            EXPECT_GT(::read(client.get(), heard.data(), heard.size()), 0);
            EXPECT_EQ(::write(client.get(), answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
        });
        const survey all = survey_andons();
        lies.join();
        EXPECT_THAT(all.problems, ElementsAre(HasSubstr(answer.empty() ? "left before" : "no answer")));
    }
}

TEST(control_client, MSG_4_what_another_process_says_is_made_safe_to_show) {
    const runtime_folder folder;
    const mute_andon liar(folder.path() / "99999.sock");
    std::thread lies([&] {
        const detail::descriptor client(::accept(liar.fd(), nullptr, nullptr));
        std::array<char, 100> heard{};
        const auto say = [&](std::string_view text) {
            EXPECT_GT(::read(client.get(), heard.data(), heard.size()), 0);
            EXPECT_EQ(::write(client.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
        };
        say("{\"name\":\"\\u001b[2J\"}\n");
        say("{\"call\":{\"number\":1,\"tool\":\"a\\nb\",\"started_ms\":1e300,\"progress\":{\"done\":1e400}}}\n"
            "{\"done\":true}\n");
    });
    const survey all = survey_andons();
    lies.join();
    ASSERT_EQ(all.calls.size(), 1U);
    EXPECT_EQ(all.calls[0].call.tool, "a\\nb");
    EXPECT_EQ(all.andons[0].name, "\\x1b[2J");
}

TEST(control_client, a_socket_of_a_dead_process_is_removed_by_who_finds_it) {
    const runtime_folder folder;
    { const mute_andon dead(folder.path() / "99999.sock"); }
    EXPECT_EQ(folder.files(), 1U);
    EXPECT_THAT(survey_andons().problems, IsEmpty());
    EXPECT_EQ(folder.files(), 0U);
}

TEST(control_client, what_is_no_socket_of_ours_is_left_alone) {
    const runtime_folder folder;
    for (const char* name : {"a.sock", "0.sock", "-1.sock", "12.sock.new", ".12.sock.new", "007.sock"}) {
        const mute_andon dead(folder.path() / name);
    }
    EXPECT_THAT(survey_andons().andons, IsEmpty());
    EXPECT_EQ(folder.files(), 6U);
}

struct told {
    std::vector<std::uint64_t> asked{};
    std::vector<stopped_call> stopped{};
    std::vector<std::string> problems{};
    std::function<void()> when_asked = [] {};
    [[nodiscard]] stop_events events() {
        return {.asked =
                    [this](pid_t, const std::vector<std::uint64_t>& numbers) {
                        asked = numbers;
                        when_asked();
                    },
                .stopped = [this](pid_t, const stopped_call& call) { stopped.push_back(call); },
                .problem = [this](const std::string& what) { problems.push_back(what); }};
    }
};

TEST(control_client, stop_returns_when_the_work_has_stopped) {
    served_desk served;
    const auto call = served.add("wait");
    told heard;
    heard.when_asked = [&] { served.on_loop([&] { served.desk().end(call, stop_evidence::exited); }); };
    const stop_summary end =
        stop_calls({.orders = {{.andon = 0, .which = {.tool = "wait"}}}, .wait = true}, heard.events());
    EXPECT_EQ(end.asked, 1U);
    EXPECT_EQ(end.stopped, 1U);
    EXPECT_FALSE(end.timed_out || end.unreachable);
    EXPECT_THAT(heard.asked, ElementsAre(call));
    EXPECT_EQ(heard.stopped.at(0).evidence, stop_evidence::exited);
}

TEST(control_client, the_waiting_has_its_limit) {
    served_desk served;
    served.add("wait");
    told heard;
    const stop_summary end = stop_calls(
        {.orders = {{.andon = 0, .which = {.all = true}}}, .wait = true, .timeout = short_limit}, heard.events());
    EXPECT_TRUE(end.timed_out);
    EXPECT_EQ(end.asked, 1U);
    EXPECT_EQ(end.stopped, 0U);
}

TEST(control_client, an_andon_that_leaves_while_it_is_waited_for_is_told) {
    served_desk served;
    served.add("wait");
    told heard;
    heard.when_asked = [&] { served.close_socket(); };
    const stop_summary end =
        stop_calls({.orders = {{.andon = 0, .which = {.all = true}}}, .wait = true}, heard.events());
    EXPECT_TRUE(end.unreachable);
    EXPECT_THAT(heard.problems, ElementsAre(HasSubstr("left before")));
}

}  // namespace
}  // namespace andon::gateway
