// Hosts and servers that do not read for a while: whoever writes has to wait, nothing is lost, and memory is bounded.
#include <csignal>
#include <gmock/gmock.h>

#include "built_programs.hpp"
#include "gateway/in_front.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr int poured = 1'400;  // messages of 64 KiB: more than is ever kept for one that does not read
constexpr long most_memory = 64 << 10;
constexpr std::string_view with_token = R"("progressToken":"t")";

std::string pour(std::string_view key, int count = poured) {
    return with_key(key, R"("count":)" + std::to_string(count));
}

/// The numbers of what a host heard, in order.
class heard_numbers {
public:
    void hear(std::string_view line) {
        for (const std::string_view name : {R"("number":)", R"("progress":)"}) {
            const std::size_t at = line.find(name);
            if (at == std::string_view::npos) continue;
            const int number = std::stoi(std::string(line.substr(at + name.size(), 8)));
            EXPECT_EQ(number, last_ + 1);
            last_ = number;
            return;
        }
    }
    [[nodiscard]] int last() const noexcept { return last_; }

private:
    int last_ = 0;
};

class slow_host : public testing::TestWithParam<std::string_view> {};

TEST_P(slow_host, on_stdio_holds_its_server_up_and_misses_nothing) {
    in_front front(hosted::wrap, {});
    front.open();
    front.call("2", "obey", with_key("obeys"));
    const auto obeys = front.began("obeys");
    front.andon().read_output(false);
    front.call("1", "pour", pour("k"), GetParam());
    front.andon().mark("stuck", "k");
    EXPECT_LT(front.andon().status("VmHWM"), kibibytes(most_memory));
    // What the host says still arrives.
    front.cancel("2");
    front.andon().mark("cancelled", obeys.id);
    front.andon().mark("obeyed", "obeys");
    front.andon().read_output(true);
    EXPECT_EQ(text_of(front.answer("1")), "poured");
    heard_numbers heard;
    for (const std::string& line : front.andon().lines()) heard.hear(line);
    EXPECT_EQ(heard.last(), poured);
    EXPECT_LT(front.andon().status("VmHWM"), kibibytes(most_memory));
    front.vanish();
    EXPECT_EQ(front.andon().exit(), (exit_status{false, 0}));
}

TEST_P(slow_host, over_http_holds_its_server_up_and_no_other_session) {
    in_front front(hosted::legacy_gateway, {});
    front.open();
    http_caller other(front.caller());
    other.use_session({});
    other.open();
    http_client slow = front.caller().call("1", "pour", pour("k"), GetParam());
    front.andon().mark("stuck", "k");
    EXPECT_EQ(text_of(*other.answered("1", "echo").message), "done");
    front.call("2", "obey", with_key("obeys"));
    const auto obeys = front.began("obeys");
    front.cancel("2");
    front.andon().mark("cancelled", obeys.id);
    EXPECT_LT(front.andon().status("VmHWM"), kibibytes(most_memory));
    ASSERT_TRUE(slow.head().in_events());
    heard_numbers heard;
    while (const auto event = slow.event()) heard.hear(event->data);
    EXPECT_EQ(heard.last(), poured);
}

INSTANTIATE_TEST_SUITE_P(gateway, slow_host, testing::Values("", with_token),
                         [](const auto& each) { return each.param.empty() ? "unasked" : "progress"; });

TEST(slow_hosts, that_share_a_process_do_not_hold_it_up) {
    in_front front(hosted::modern_gateway, {});
    front.open();
    http_client slow = front.caller().call("1", "pour", pour("k"), with_token);
    front.andon().mark("poured", "k");
    EXPECT_FALSE(front.andon().marked("stuck", "k"));
    EXPECT_EQ(front.asked("echo"), "done");
    EXPECT_LT(front.andon().status("VmHWM"), kibibytes(most_memory));
}

TEST(slow_hosts, of_a_server_behind_a_url_hold_that_up_too) {
    in_front behind(hosted::legacy_gateway, {});
    const std::string line = behind.andon().logged("listening on http");
    const std::string url = line.substr(line.find("http://"), line.find("/mcp") + 4 - line.find("http://"));
    const own_folder folder;
    server_process wrap(revision::v2025_11_25, {.argv = {built_program("andon"), "wrap", "--url", url},
                                                .environment = {"ANDON_STATE_DIR=" + (folder / "state"),
                                                                "ANDON_RUNTIME_DIR=" + (folder / "run")}});
    wrap.open();
    wrap.call("2", "obey", with_key("obeys"));
    const auto obeys = behind.began("obeys");
    wrap.read_output(false);
    wrap.call("1", "pour", pour("k"), with_token);
    behind.andon().mark("stuck", "k");
    EXPECT_LT(wrap.status("VmHWM"), kibibytes(most_memory));
    wrap.cancel("2");
    behind.andon().mark("cancelled", obeys.id);
    wrap.read_output(true);
    EXPECT_EQ(text_of(wrap.answer("1")), "poured");
    heard_numbers heard;
    for (const std::string& each : wrap.lines()) heard.hear(each);
    EXPECT_EQ(heard.last(), poured);
}

TEST(slow_hosts, TIME_3_are_no_silence_of_the_server) {
    in_front front(hosted::wrap, {.keys = "timeout = \"200ms\""});
    front.open();
    front.andon().read_output(false);
    front.call("1", "pour", pour("k", 200), with_token);
    front.andon().mark("stuck", "k");  // for longer than that
    front.andon().read_output(true);
    EXPECT_EQ(text_of(front.answer("1")), "poured");
}

TEST(slow_hosts, make_no_server_ignore_its_cancel) {
    in_front front(hosted::wrap, {.keys = "grace = \"200ms\"\non_ignored = \"restart\""});
    front.open();
    front.call("2", "nap", with_key("naps", R"("ms":1000)"));
    static_cast<void>(front.began("naps"));
    front.andon().read_output(false);
    front.call("1", "pour", pour("k", 200), with_token);
    front.andon().mark("stuck", "k");
    front.cancel("1");
    front.andon().mark("awake", "naps");  // when its grace time is long over
    front.andon().read_output(true);
    front.andon().mark("obeyed", "k");
    const json::object over = front.event("cancel_over", "pour");
    EXPECT_FALSE(over.at("ignored").as_bool()) << json::serialize(over);
    EXPECT_EQ(front.asked("echo"), "done");
    EXPECT_EQ(front.processes_started(), 1);
}

TEST(slow_hosts, that_never_read_again_hold_up_no_leaving) {
    for (const bool asked : {true, false}) {
        in_front front(hosted::wrap, {});
        front.open();
        front.andon().read_output(false);
        front.call("1", "pour", pour("k"));
        front.andon().mark("stuck", "k");
        const process_watch server(front.began("k").pid);
        const auto since = std::chrono::steady_clock::now();
        if (asked) {
            ::kill(front.andon().pid(), SIGTERM);
        } else {
            front.andon().close_output();
        }
        EXPECT_EQ(front.andon().exit(), (exit_status{false, 0}));
        EXPECT_LT(std::chrono::steady_clock::now() - since, 3 * promptly);
        EXPECT_TRUE(server.wait_for_end());
    }
}

TEST(slow_hosts, that_only_write_are_given_up_at_last_and_that_is_no_success) {
    in_front front(hosted::wrap, {});
    front.open();
    front.andon().read_output(false);
    const std::string wrong = R"({"jsonrpc":"2.0","id":")" + std::string(1'000, 'i') + "\",\"method\":1}\n";
    std::string many;
    for (int i = 0; i < 64; ++i) many += wrong;
    for (int i = 0; i < 2'000 && front.andon().write(many); ++i) {
    }
    EXPECT_EQ(front.andon().exit(), (exit_status{false, 1}));
    EXPECT_THAT(front.andon().logged("given up"), HasSubstr("s: the host does not read what it is sent"));
}

TEST(slow_servers, hold_their_host_up_and_miss_nothing) {
    in_front front(hosted::wrap, {});
    front.open();
    front.call("0", "deaf", with_key("deaf", R"("ms":1500)"));
    const std::string text = with_key("k", R"("padding":")" + std::string(1 << 20, '.') + '"');
    constexpr int calls = 100;  // of a MiB each
    for (int i = 1; i <= calls; ++i) front.call(std::to_string(i), "echo", text);
    for (int i = 0; i <= calls; ++i) EXPECT_EQ(text_of(front.answer(std::to_string(i))), "done");
    EXPECT_LT(front.andon().status("VmHWM"), kibibytes(most_memory));
}

TEST(slow_servers, do_not_hide_that_their_host_is_gone) {
    in_front front(hosted::wrap, {.arguments = {"--trap"}});
    front.open();
    front.call("0", "nap", with_key("naps"));
    const process_watch server(front.began("naps").pid);
    ASSERT_EQ(::kill(server.pid(), SIGSTOP), 0);
    const std::string text = with_key("k", R"("padding":")" + std::string(1 << 20, '.') + '"');
    for (int i = 1; i <= 5; ++i) front.call(std::to_string(i), "echo", text);  // as much as is read ahead
    front.call("6", "echo");
    front.vanish();
    EXPECT_EQ(front.andon().exit(), (exit_status{false, 0}));
    EXPECT_TRUE(server.wait_for_end());
}

}  // namespace
}  // namespace andon
