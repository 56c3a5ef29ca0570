// Lines over descriptors, with a real loop.
#include "transport/descriptor_transport.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <fcntl.h>
#include <functional>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "andon/core/cancel_source.hpp"
#include "core/test_time.hpp"

namespace andon::detail {
namespace {

using namespace std::chrono_literals;

/// Keeps what came in, for a test that waits for it.
class listener final : public transport::events {
public:
    void on_line(std::string_view line) override {
        note(std::string(line));
        if (answer) answer(line);
    }
    void on_line_too_long(const skimmed_line& /*line*/) override { note("(too long)"); }
    void on_closed(std::string_view why) override {
        note("(closed: " + std::string(why) + ")");
        if (closed) closed();
    }

    /// Waits until something came that satisfies it.
    template <class Condition>
    bool wait(Condition&& holds) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, 30s, [&] { return holds(heard_); });
    }
    bool wait_for(const std::string& line) {
        return wait([&](const auto& heard) { return std::find(heard.begin(), heard.end(), line) != heard.end(); });
    }
    bool wait_for_end() {
        return wait([](const auto& heard) { return !heard.empty() && heard.back().starts_with("(closed"); });
    }
    std::vector<std::string> heard() {
        const std::lock_guard lock(mutex_);
        return heard_;
    }

    std::function<void(std::string_view)> answer;  // on the loop's thread
    std::function<void()> closed;

private:
    void note(std::string line) {
        const std::lock_guard lock(mutex_);
        heard_.push_back(std::move(line));
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> heard_;
};

class descriptor_transport_test : public testing::Test {
protected:
    ~descriptor_transport_test() override {
        on_loop([this] {
            if (ours) ours->close();
            if (theirs) theirs->close();
            ours.reset();
            theirs.reset();
        });
        loop.stop();
        thread.join();
        if (raw >= 0) ::close(raw);
    }

    void on_loop(std::function<void()> work) {
        std::promise<void> done;
        loop.post([&] {
            work();
            done.set_value();
        });
        done.get_future().wait();
    }
    /// A transport at both ends.
    void connect(const transport_limits& limits = {}) {
        std::tie(ours, theirs) = transport_pair(limits);
        on_loop([this] {
            ours->open(loop, heard);
            theirs->open(loop, heard_there);
        });
    }
    /// A transport at our end, a plain descriptor that waits at the other.
    void connect_raw(const transport_limits& limits = {}) {
        std::array<int, 2> ends{};
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
        raw = ends[1];
        ours = andon::descriptor_transport(ends[0], ends[0], limits);
        on_loop([this] { ours->open(loop, heard); });
    }
    void write_raw(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t wrote = ::write(raw, bytes.data(), bytes.size());
            ASSERT_GT(wrote, 0);
            bytes.remove_prefix(static_cast<std::size_t>(wrote));
        }
    }
    std::string read_raw_line() {
        std::array<char, 65'536> buffer{};
        for (;;) {
            if (const std::size_t end = unread.find('\n'); end != std::string::npos) {
                std::string line = unread.substr(0, end);
                unread.erase(0, end + 1);
                return line;
            }
            const ssize_t got = ::read(raw, buffer.data(), buffer.size());
            if (got <= 0) return std::exchange(unread, {});
            unread.append(buffer.data(), static_cast<std::size_t>(got));
        }
    }

    event_loop loop;
    listener heard;
    listener heard_there;
    std::unique_ptr<transport> ours;
    std::unique_ptr<transport> theirs;
    int raw = -1;
    std::string unread;
    std::thread thread{[this] { loop.run(); }};
};

TEST_F(descriptor_transport_test, lines_go_both_ways) {
    connect();
    heard_there.answer = [this](std::string_view line) { theirs->send("re: " + std::string(line), nullptr); };
    EXPECT_TRUE(ours->send("hello", nullptr));
    EXPECT_TRUE(heard.wait_for("re: hello"));
    EXPECT_THAT(heard_there.heard(), testing::ElementsAre("hello"));
}

TEST_F(descriptor_transport_test, many_lines_from_many_threads_come_in_the_order_of_each) {
    connect();
    constexpr int each = 2'000;
    {
        std::vector<std::jthread> writers;
        for (int t = 0; t < 3; ++t) {
            writers.emplace_back([this, t] {
                for (int i = 0; i < each; ++i) ours->send(std::to_string(t * each + i), nullptr);
            });
        }
    }
    ASSERT_TRUE(heard_there.wait([](const auto& lines) { return lines.size() == 3 * each; }));
    std::array<int, 3> last{-1, -1, -1};
    for (const std::string& line : heard_there.heard()) {
        const int number = std::stoi(line);
        const auto writer = static_cast<std::size_t>(number / each);
        EXPECT_GT(number, last[writer]);
        last[writer] = number;
    }
}

TEST_F(descriptor_transport_test, a_line_in_pieces_is_one_line) {
    connect_raw();
    for (const char c : std::string("{\"a\":1}\r\n")) write_raw({&c, 1});
    write_raw("\n\nnext\n");
    EXPECT_TRUE(heard.wait_for("next"));
    EXPECT_THAT(heard.heard(), testing::ElementsAre("{\"a\":1}\r", "next"));
}

TEST_F(descriptor_transport_test, huge_lines_go_both_ways) {
    connect({.longest_line = 8U << 20U});
    const std::string line(8U << 20U, 'x');
    heard_there.answer = [this](std::string_view got) { theirs->send(got, nullptr); };
    EXPECT_TRUE(ours->send(line, nullptr));
    EXPECT_TRUE(heard.wait([&](const auto& lines) { return !lines.empty() && lines.back() == line; }));
}

TEST_F(descriptor_transport_test, a_line_beyond_the_limit_is_skipped_and_the_next_one_heard) {
    connect_raw({.longest_line = 1'000});
    write_raw("before\n" + std::string(500'000, 'x') + "\nafter\n");
    EXPECT_TRUE(heard.wait_for("after"));
    EXPECT_THAT(heard.heard(), testing::ElementsAre("before", "(too long)", "after"));
}

TEST_F(descriptor_transport_test, the_peers_end_is_told_once_and_behind_the_last_line) {
    connect_raw();
    write_raw("last\nunfinished");
    ::close(std::exchange(raw, -1));
    EXPECT_TRUE(heard.wait_for_end());
    EXPECT_THAT(heard.heard(), testing::ElementsAre("last", "(closed: end of input)"));
    EXPECT_FALSE(ours->send("too late", nullptr));
}

TEST_F(descriptor_transport_test, the_end_is_noticed_though_nothing_is_read) {
    for (const bool half : {false, true}) {
        connect_raw();
        on_loop([this] { ours->hold(true); });
        write_raw("last\n");
        half ? ::shutdown(raw, SHUT_WR) : ::close(std::exchange(raw, -1));
        EXPECT_TRUE(heard.wait([&](const auto& all) { return all.size() == (half ? 4U : 2U); }));
        on_loop([this] { ours.reset(); });
    }
    EXPECT_THAT(heard.heard(),
                testing::ElementsAre("last", "(closed: end of input)", "last", "(closed: end of input)"));
}

TEST_F(descriptor_transport_test, a_peer_that_closed_is_noticed_by_whoever_writes) {
    connect_raw();
    heard.answer = [this](std::string_view) {
        ::close(std::exchange(raw, -1));
        ours->send("answer", nullptr);
    };
    write_raw("question\n");
    EXPECT_TRUE(heard.wait_for_end());
    EXPECT_EQ(heard.heard().size(), 2U);
}

TEST_F(descriptor_transport_test, may_be_destroyed_by_whoever_is_told_of_the_end) {
    connect_raw();
    std::promise<void> gone;
    heard.answer = [this](std::string_view) {
        ::close(std::exchange(raw, -1));
        ours->send("answer", nullptr);
    };
    heard.closed = [&] {
        ours.reset();
        gone.set_value();
    };
    write_raw("question\n");
    gone.get_future().wait();
    on_loop([] {});
    EXPECT_FALSE(ours);
}

TEST_F(descriptor_transport_test, may_be_destroyed_inside_a_line) {
    connect_raw();
    std::promise<void> gone;
    heard.answer = [&](std::string_view) {
        ours.reset();
        gone.set_value();
    };
    write_raw("one\ntwo\n");
    gone.get_future().wait();
    on_loop([] {});
    EXPECT_THAT(heard.heard(), testing::ElementsAre("one"));
}

TEST_F(descriptor_transport_test, a_peer_that_does_not_read_is_heard_all_the_same) {
    connect_raw();
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(ours->send(std::string(50'000, 'x'), nullptr));
    write_raw("are you there\n");
    EXPECT_TRUE(heard.wait_for("are you there"));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(read_raw_line().size(), 50'000U);
}

TEST_F(descriptor_transport_test, a_peer_that_never_reads_costs_the_limit_and_is_then_taken_for_gone) {
    connect_raw({.waiting_soft = 10'000, .waiting_hard = 2'000'000});
    cancel_source work;
    const auto token = work.token();
    bool taken = true;
    int lines = 0;
    for (; taken && lines < 10'000; ++lines) taken = ours->send(std::string(10'000, 'x'), nullptr);
    EXPECT_FALSE(ours->send("progress", &token));
    EXPECT_LT(lines, 400);
    EXPECT_TRUE(heard.wait_for("(closed: the peer does not read what it is sent)"));
}

TEST_F(descriptor_transport_test, RCV_4_a_peer_that_reads_after_its_stop_finds_nothing_of_the_stopped) {
    connect_raw();
    cancel_source work;
    const auto token = work.token();
    const std::string filler(1U << 19U, 'x');
    EXPECT_TRUE(ours->send(filler, nullptr));
    for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(ours->send("progress", &token));
    EXPECT_TRUE(ours->send("end", nullptr));
    work.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_EQ(read_raw_line(), filler);
    EXPECT_EQ(read_raw_line(), "end");
}

TEST_F(descriptor_transport_test, closing_writes_what_the_peer_takes_at_once) {
    connect_raw();
    on_loop([this] {
        ours->send("goodbye", nullptr);
        ours->close();
    });
    EXPECT_EQ(read_raw_line(), "goodbye");
    EXPECT_EQ(read_raw_line(), "");
    EXPECT_FALSE(ours->send("more", nullptr));
    EXPECT_THAT(heard.heard(), testing::IsEmpty());
}

TEST_F(descriptor_transport_test, over_two_pipes_a_reader_that_is_gone_is_noticed_without_writing) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    ASSERT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(out.data(), O_CLOEXEC), 0);
    raw = in[1];
    ours = andon::descriptor_transport(in[0], out[1], {});
    on_loop([this] { ours->open(loop, heard); });
    write_raw("hello\n");
    EXPECT_TRUE(heard.wait_for("hello"));
    ::close(out[0]);
    EXPECT_TRUE(heard.wait_for("(closed: the peer closed its input)"));
}

TEST_F(descriptor_transport_test, writing_without_waiting_does_not_change_what_others_share) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    {
        const descriptor writing = for_writing(descriptor(::fcntl(pipe[1], F_DUPFD_CLOEXEC, 3)));
        EXPECT_NE(::fcntl(writing.get(), F_GETFL) & O_NONBLOCK, 0);
        EXPECT_EQ(::fcntl(pipe[1], F_GETFL) & O_NONBLOCK, 0);
        EXPECT_EQ(::write(writing.get(), "x", 1), 1);
    }
    char c = 0;
    EXPECT_EQ(::read(pipe[0], &c, 1), 1);
    ::close(pipe[0]);
    ::close(pipe[1]);
}

}  // namespace
}  // namespace andon::detail
