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

/// The events of one stream, over as many connections as it takes.
class read_again {
public:
    explicit read_again(http_client first) : connection_(std::move(first)) {}

    /// What there is until the stream ends, or the connection. False: that was it.
    bool read() {
        try {
            EXPECT_TRUE(connection_.head().in_events());
            while (read_event()) {
            }
            return true;
        } catch (const std::runtime_error&) {
            return false;
        }
    }
    /// Where the machine is busy it may be cut off again.
    void read_to_the_end(const http_caller& by) {
        for (int cuts = 0; !read(); ++cuts) {
            ASSERT_LT(cuts, 20);
            resume(by);
        }
    }
    void read_first() {
        EXPECT_TRUE(connection_.head().in_events());
        EXPECT_TRUE(read_event());
    }
    void resume(const http_caller& by) { connection_ = by.get(last_); }
    [[nodiscard]] http_client& connection() noexcept { return connection_; }
    [[nodiscard]] int last() const noexcept { return heard_.last(); }

private:
    bool read_event() {
        const auto event = connection_.event();
        if (!event) return false;
        if (event->id) last_ = *event->id;
        heard_.hear(event->data);
        return true;
    }

    http_client connection_;
    std::string last_;
    heard_numbers heard_;
};

const in_front_settings soon_cut_off{.tables = "[gateway]\nstalled_after = \"500ms\"\n"};
constexpr std::string_view cut_off = "read nothing for 500 ms and was cut off";

TEST_P(slow_host, HTTP_2_that_is_cut_off_comes_back_again_and_again_and_misses_nothing) {
    in_front front(hosted::legacy_gateway, soon_cut_off);
    front.open();
    http_caller other(front.caller());
    other.use_session({});
    other.open();
    read_again slow(front.caller().call("1", "pour", pour("k"), GetParam()));
    constexpr int cuts = 3;
    for (int i = 1; i <= cuts; ++i) {
        front.andon().wait_until([&] { return front.andon().times_logged(cut_off) == i; }, "the cut");
        EXPECT_EQ(text_of(*other.answered(std::to_string(i), "echo").message), "done");
        EXPECT_FALSE(slow.read());  // what was on its way
        slow.resume(front.caller());
    }
    EXPECT_FALSE(front.andon().marked("poured", "k"));
    slow.read_to_the_end(front.caller());
    EXPECT_EQ(slow.last(), poured);
    EXPECT_LT(front.andon().status("VmHWM"), kibibytes(most_memory));
    const std::string session = front.caller().session();
    EXPECT_THAT(front.andon().logged(cut_off), HasSubstr("s: from the host: session " + session.substr(0, 8)));
    EXPECT_EQ(front.andon().times_logged(session), 0) << "which is a secret";
}

TEST_P(slow_host, HTTP_2_that_is_cut_off_and_drops_what_its_system_has_got_misses_nothing_either) {
    in_front front(hosted::legacy_gateway, soon_cut_off);
    front.open();
    front.caller().how().connection.receive_buffer = 40'000;  // less than is kept
    read_again slow(front.caller().call("1", "pour", pour("k", 200), GetParam()));
    slow.read_first();
    front.andon().logged(cut_off);
    slow.connection().reset();
    slow.resume(front.caller());
    slow.read_to_the_end(front.caller());
    EXPECT_EQ(slow.last(), 200);
}

TEST_P(slow_host, HTTP_2_that_disconnects_holds_its_server_up_until_it_is_back) {
    in_front front(hosted::legacy_gateway, {});
    front.open();
    read_again gone(front.caller().call("1", "pour", pour("k", 200), GetParam()));
    front.andon().mark("stuck", "k");
    gone.connection().half_close();  // which is a disconnect
    EXPECT_FALSE(gone.read());
    EXPECT_FALSE(front.andon().marked("poured", "k"));
    gone.resume(front.caller());
    EXPECT_TRUE(gone.read());
    EXPECT_EQ(gone.last(), 200);
}

TEST_P(slow_host, HTTP_2_that_is_cut_off_and_does_not_come_back_is_gone) {
    in_front front(hosted::legacy_gateway,
                   {.tables = "[gateway]\nstalled_after = \"500ms\"\nabandon_after = \"500ms\"\n"});
    front.open();
    const http_client slow = front.caller().call("1", "pour", pour("k"), GetParam());
    front.andon().logged(cut_off);
    EXPECT_EQ(front.event("cancel", "pour").at("cause").as_string(), "disconnect");
    front.andon().mark("obeyed", "k");  // it is held up no longer
    EXPECT_EQ(front.asked("echo"), "done");
}

INSTANTIATE_TEST_SUITE_P(gateway, slow_host, testing::Values("", with_token),
                         [](const auto& each) { return each.param.empty() ? "unasked" : "progress"; });

TEST(slow_hosts, HTTP_2_whose_own_stream_is_cut_off_hold_nothing_up_and_are_told_what_they_missed) {
    in_front front(hosted::legacy_gateway, soon_cut_off);
    front.open();
    read_again own(front.caller().get());
    front.call("2", "obey", with_key("obeys"));
    static_cast<void>(front.began("obeys"));
    http_client call = front.caller().call("1", "pour", pour("k"));  // of whose it is nobody can tell
    front.andon().mark("stuck", "k");
    front.andon().logged(cut_off);
    EXPECT_EQ(text_of(*outcome_of(call).message), "poured");
    EXPECT_LT(front.andon().status("VmHWM"), kibibytes(most_memory));
    EXPECT_FALSE(own.read());
    EXPECT_GT(own.last(), 0);
    EXPECT_LT(own.last(), poured);
    own.resume(front.caller());
    const http_outcome refused = outcome_of(own.connection());
    EXPECT_EQ(refused.head.status, 400);
    EXPECT_THAT(json::serialize(*refused.message), HasSubstr("not kept any more"));
}

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

/// Four of them are below the 4 MiB from which on a peer is held up, and five are above that and what is in a pipe.
std::string a_fifth_of_what_waits() { return std::string(std::size_t{900} << 10U, '.'); }

TEST(slow_hosts, make_no_server_ignore_its_cancel) {
    in_front front(hosted::wrap, {.keys = "grace = \"200ms\"\non_ignored = \"restart\""});
    front.open();
    front.andon().read_output(false);
    // Answers: what waits of the cancelled call itself would hold nobody up.
    const std::string text = with_key("k", R"("text":")" + a_fifth_of_what_waits() + '"');
    for (int i = 1; i <= 5; ++i) front.call(std::to_string(i), "echo", text);
    front.andon().wait_until([&] { return front.andon().times_logged("@answered k") == 5; }, "the answers");
    front.call("6", "pour", pour("pours", 200), with_token);
    front.andon().mark("stuck", "pours");
    front.cancel("6");
    front.andon().mark("stuck_after_cancel", "pours");  // for longer than its grace time
    EXPECT_EQ(front.andon().times_logged("cancel_over"), 0) << "what it says is not read, so what it does says nothing";
    front.andon().read_output(true);
    front.andon().mark("obeyed", "pours");
    const json::object over = front.event("cancel_over", "pour");
    EXPECT_FALSE(over.at("ignored").as_bool()) << json::serialize(over);
    EXPECT_GT(over.at("late_messages").as_int64(), 0) << "they were in the pipe";
    EXPECT_EQ(front.asked("echo"), "done");
    EXPECT_EQ(front.andon().times_logged("cancel_ignored"), 0);
    EXPECT_EQ(front.processes_started(), 1);
}

TEST(slow_hosts, that_cancel_what_they_do_not_read_hold_its_server_up_no_longer) {
    in_front front(hosted::wrap, {});
    front.open();
    front.andon().read_output(false);
    front.call("1", "pour", pour("k"), with_token);
    front.andon().mark("stuck", "k");
    front.cancel("1");
    front.andon().mark("obeyed", "k");  // it could finish what it was writing
    EXPECT_FALSE(front.event("cancel_over", "pour").at("ignored").as_bool());
    front.andon().read_output(true);
    EXPECT_EQ(front.asked("echo"), "done");
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
    const std::string text = with_key("k", R"("padding":")" + a_fifth_of_what_waits() + '"');
    for (int i = 1; i <= 5; ++i) front.call(std::to_string(i), "echo", text);
    front.call("6", "echo");
    front.vanish();
    EXPECT_EQ(front.andon().exit(), (exit_status{false, 0}));
    EXPECT_TRUE(server.wait_for_end());
}

}  // namespace
}  // namespace andon
