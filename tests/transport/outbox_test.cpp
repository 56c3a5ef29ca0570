#include "transport/outbox.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "andon/core/cancel_source.hpp"
#include "core/test_time.hpp"

namespace andon::detail {
namespace {

using ::testing::StartsWith;
using queued = outbox::queued;
using flushed = outbox::flushed;

/// A stream of bytes whose reader is the test; it holds little, so that it is soon full.
class small_pipe {
public:
    explicit small_pipe(bool socket = false) {
        if (socket) {
            EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()), 0);
        } else {
            EXPECT_EQ(::pipe2(ends_.data(), O_NONBLOCK), 0);
            ::fcntl(ends_[1], F_SETPIPE_SZ, 4'096);
        }
    }
    small_pipe(const small_pipe&) = delete;
    small_pipe& operator=(const small_pipe&) = delete;
    ~small_pipe() {
        close_reader();
        ::close(ends_[1]);
    }
    [[nodiscard]] int writer() const { return ends_[1]; }
    void close_reader() {
        if (ends_[0] >= 0) ::close(ends_[0]);
        ends_[0] = -1;
    }
    /// What is there now.
    std::string read() const {
        std::string all;
        std::array<char, 4'096> buffer{};
        for (ssize_t got = 0; (got = ::read(ends_[0], buffer.data(), buffer.size())) > 0;) {
            all.append(buffer.data(), static_cast<std::size_t>(got));
        }
        return all;
    }

private:
    std::array<int, 2> ends_{-1, -1};
};

std::string drained(outbox& box, const small_pipe& pipe) {
    std::string all;
    for (;;) {
        const flushed how = box.flush(pipe.writer());
        EXPECT_NE(how, flushed::broken);
        all += pipe.read();
        if (how != flushed::blocked) return all;
    }
}

/// While threads fill it, and to its end.
std::string drained_while(const std::atomic<int>& running, outbox& box, const small_pipe& pipe) {
    std::string all;
    while (running != 0) {
        EXPECT_NE(box.flush(pipe.writer()), flushed::broken);
        all += pipe.read();
    }
    return all + drained(box, pipe);
}

struct heard_lines {
    std::map<int, int> last{{0, -1}, {1, -1}, {2, -1}};
    std::map<int, int> count;
};
/// Of lines with the numbers of a thread and of the line, which are to be in each thread's order.
heard_lines heard_in(const std::string& all) {
    heard_lines heard;
    for (std::size_t begin = 0; begin < all.size();) {
        const std::size_t end = all.find('\n', begin);
        const int thread = all[begin] - '0';
        const int line = std::stoi(all.substr(begin + 2, end - begin - 2));
        EXPECT_GT(line, heard.last[thread]);
        heard.last[thread] = line;
        ++heard.count[thread];
        begin = end + 1;
    }
    return heard;
}

void cancel(cancel_source& source) { source.cancel(cancel_cause::peer, "Stop", start); }

class outbox_over : public testing::TestWithParam<bool> {
protected:
    small_pipe pipe{GetParam()};
    outbox box;
};

TEST_P(outbox_over, lines_come_out_in_the_order_in_which_they_were_put) {
    std::string expected;
    for (int i = 0; i < 2'000; ++i) {
        EXPECT_NE(box.put(std::to_string(i)), queued::no);
        expected += std::to_string(i) + '\n';
    }
    EXPECT_EQ(box.waiting(), expected.size());
    EXPECT_EQ(drained(box, pipe), expected);
    EXPECT_EQ(box.waiting(), 0U);
    EXPECT_EQ(box.lost(), 0U);
}

TEST_P(outbox_over, a_peer_that_is_gone_is_noticed) {
    EXPECT_EQ(box.put("a"), queued::wake);
    ::signal(SIGPIPE, SIG_IGN);  // the loop's thread blocks it
    pipe.close_reader();
    EXPECT_EQ(box.flush(pipe.writer()), flushed::broken);
    ::signal(SIGPIPE, SIG_DFL);
}

TEST_P(outbox_over, RCV_4_what_was_queued_before_the_cancel_is_dropped) {
    cancel_source work;
    cancel_source other;
    const auto token = work.token();
    const auto others = other.token();
    box.put("1 progress", &token);
    box.put("2 of nobody");
    box.put("3 progress", &token);
    box.put("4 of another", &others);
    box.put("5 progress", &token);
    cancel(work);
    EXPECT_EQ(drained(box, pipe), "2 of nobody\n4 of another\n");
    EXPECT_EQ(box.lost(), 3U);
    EXPECT_EQ(box.waiting(), 0U);
}

TEST_P(outbox_over, RCV_4_also_what_waits_for_a_peer_that_reads_slowly) {
    cancel_source work;
    const auto token = work.token();
    outbox large({.soft = 10U << 20U});
    const std::string filler(3U << 20U, 'x');
    EXPECT_EQ(large.put("first"), queued::wake);
    large.put(filler);
    for (int i = 0; i < 100; ++i) large.put("progress", &token);
    large.put("last");
    EXPECT_EQ(large.flush(pipe.writer()), flushed::blocked);
    for (int i = 0; i < 100; ++i) large.put("more progress", &token);
    cancel(work);
    EXPECT_TRUE(drained(large, pipe) == "first\n" + filler + "\nlast\n");
    EXPECT_EQ(large.lost(), 200U);
    EXPECT_EQ(large.waiting(), 0U);
}

TEST_P(outbox_over, a_message_that_has_begun_is_finished) {
    cancel_source work;
    const auto token = work.token();
    outbox large({.soft = 10U << 20U});
    const std::string message(3U << 20U, 'm');
    large.put(message, &token);
    large.put("another", &token);
    large.put("end");
    EXPECT_EQ(large.flush(pipe.writer()), flushed::blocked);
    cancel(work);
    EXPECT_TRUE(drained(large, pipe) == message + "\nend\n");
    EXPECT_EQ(large.lost(), 1U);
}

TEST_P(outbox_over, a_cancel_that_is_accepted_in_a_section_is_enough) {
    cancel_source work;
    const auto token = work.token();
    const uninterrupted_section section(token);
    box.put("progress", &token);
    cancel(work);
    EXPECT_FALSE(token.cancelled());
    EXPECT_EQ(drained(box, pipe), "");
}

TEST_P(outbox_over, a_token_that_cannot_be_cancelled_is_no_obstacle) {
    const cancel_token nobody;
    box.put("a", &nobody);
    EXPECT_EQ(drained(box, pipe), "a\n");
}

INSTANTIATE_TEST_SUITE_P(outbox, outbox_over, testing::Bool(),
                         [](const auto& each) { return each.param ? "a_socket" : "a_pipe"; });

TEST(outbox, wakes_the_loop_once_until_all_is_written) {
    small_pipe pipe;
    outbox box;
    EXPECT_EQ(box.put("a"), queued::wake);
    EXPECT_EQ(box.put("b"), queued::yes);
    EXPECT_EQ(box.flush(pipe.writer()), flushed::all);
    EXPECT_EQ(box.put("c"), queued::wake);
    EXPECT_EQ(box.put(std::string(100'000, 'x')), queued::yes);
    EXPECT_EQ(box.flush(pipe.writer()), flushed::blocked);
    EXPECT_EQ(box.put("d"), queued::yes);  // somebody waits for the descriptor already
    drained(box, pipe);
    EXPECT_EQ(box.put("e"), queued::wake);
}

TEST(outbox, above_the_soft_limit_only_what_may_be_lost_is_lost) {
    cancel_source work;
    const auto token = work.token();
    outbox box({.soft = 100, .hard = 1'000});
    EXPECT_EQ(box.put(std::string(90, 'a')), queued::wake);
    EXPECT_EQ(box.put(std::string(20, 'p'), &token), queued::no);
    EXPECT_EQ(box.put("p", &token), queued::yes);
    EXPECT_EQ(box.put(std::string(500, 'b')), queued::yes);
    EXPECT_EQ(box.put("p", &token), queued::no);
    EXPECT_EQ(box.lost(), 2U);
}

TEST(outbox, above_the_hard_limit_the_peer_is_taken_for_gone) {
    outbox box({.soft = 100, .hard = 1'000});
    EXPECT_EQ(box.put(std::string(99, 'a')), queued::wake);
    for (int i = 1; i < 11; ++i) EXPECT_EQ(box.put(std::string(99, 'a')), queued::yes);
    EXPECT_EQ(box.waiting(), 1'100U);
    EXPECT_EQ(box.put("b"), queued::overflow);
    EXPECT_EQ(box.waiting(), 1'100U);
}

TEST(outbox, one_large_line_is_no_sign_that_nobody_reads) {
    small_pipe pipe;
    outbox box({.soft = 100, .hard = 1'000});
    const std::string line(5'000, 'a');
    EXPECT_EQ(box.put("before"), queued::wake);
    EXPECT_EQ(box.put(line), queued::yes);
    EXPECT_EQ(box.put("behind"), queued::yes);
    for (int i = 0; i < 20; ++i) static_cast<void>(box.put(std::string(99, 'b')));
    EXPECT_EQ(box.put("c"), queued::overflow) << "the rest is one";
    EXPECT_THAT(drained(box, pipe), StartsWith("before\n" + line + "\nbehind\n"));
    EXPECT_EQ(box.put("c"), queued::wake);
}

TEST_P(outbox_over, what_was_cancelled_takes_nobodys_room) {
    cancel_source work;
    cancel_source other;
    const auto token = work.token();
    const auto others = other.token();
    outbox small({.soft = 10'000, .hard = 1'000'000});
    const std::string live(4'000, 'l');
    const std::string dead(5'000, 'd');
    EXPECT_EQ(small.put(live), queued::wake);
    EXPECT_EQ(small.put(dead, &token), queued::yes);
    EXPECT_EQ(small.put(live, &others), queued::no);
    cancel(work);
    EXPECT_EQ(small.put(live, &others), queued::yes);
    EXPECT_EQ(small.waiting(), 2 * (live.size() + 1));
    EXPECT_EQ(small.lost(), 2U);
    EXPECT_EQ(drained(small, pipe), live + '\n' + live + '\n');
    EXPECT_EQ(small.waiting(), 0U);
}

TEST_P(outbox_over, what_was_cancelled_gives_nobody_up) {
    cancel_source work;
    const auto token = work.token();
    outbox small({.soft = 1'000'000, .hard = 10'000});
    small.put("first");
    for (int i = 0; i < 30; ++i) small.put(std::string(500, 'd'), &token);
    EXPECT_EQ(small.put("live"), queued::overflow);
    cancel(work);
    EXPECT_EQ(small.put("live"), queued::yes);
    EXPECT_EQ(drained(small, pipe), "first\nlive\n");
}

TEST_P(outbox_over, what_was_cancelled_is_swept_out_of_what_is_being_written_too_but_for_what_has_begun) {
    cancel_source work;
    cancel_source other;
    const auto token = work.token();
    const auto others = other.token();
    outbox large({.soft = 64U << 20U});
    const std::string begun(3U << 20U, 'b');
    const std::string dead(1U << 20U, 'd');
    large.put(begun, &token);
    large.put(dead, &token);
    large.put("between", &others);
    large.put(dead, &token);
    large.put("behind");
    EXPECT_EQ(large.flush(pipe.writer()), flushed::blocked);
    large.put(dead, &token);  // of the next batch
    large.put("last", &others);
    cancel(work);
    const std::size_t before = large.waiting();
    large.drop_cancelled();
    EXPECT_EQ(before - large.waiting(), 3 * (dead.size() + 1));
    EXPECT_EQ(large.lost(), 3U);
    EXPECT_TRUE(drained(large, pipe) == begun + "\nbetween\nbehind\nlast\n");
    EXPECT_EQ(large.waiting(), 0U);
}

TEST(outbox, RCV_4_swept_out_while_others_write_each_in_order_and_what_lives_is_not_touched) {
    constexpr int threads = 3;
    constexpr int lines = 3'000;
    small_pipe pipe(true);
    outbox box({.soft = 20'000});  // at which every put sweeps, if it can
    std::atomic<int> running = threads;
    std::array<std::atomic<int>, threads> taken{};
    std::vector<std::jthread> writers;
    for (int t = 0; t < threads; ++t) {
        writers.emplace_back([&, t] {
            std::optional<cancel_source> work;
            for (int i = 0; i < lines; ++i) {
                // One call after the other; the second thread cancels each of its own.
                if (i % 100 == 0) {
                    if (work && t == 1) cancel(*work);
                    work.emplace();
                }
                const auto token = work->token();
                const auto how = box.put(std::to_string(t) + " " + std::to_string(i), t == 0 ? nullptr : &token);
                if (how == queued::yes || how == queued::wake) ++taken[static_cast<std::size_t>(t)];
            }
            if (t == 1) cancel(*work);
            --running;
        });
    }
    const std::string all = drained_while(running, box, pipe);
    auto count = heard_in(all).count;
    EXPECT_EQ(count[0], lines);
    EXPECT_EQ(count[2], taken[2]) << "nobody cancelled it";
    EXPECT_LE(count[1], taken[1]);
    EXPECT_EQ(box.lost(), static_cast<std::size_t>((lines - count[1]) + (lines - count[2])));
    EXPECT_EQ(box.waiting(), 0U);
}

TEST(outbox, RCV_4_from_several_threads_each_in_order_and_nothing_after_a_cancel_that_was_seen) {
    constexpr int threads = 3;
    constexpr int lines = 2'000;
    small_pipe pipe(true);
    outbox box({.soft = 64U << 20U});
    std::array<cancel_source, threads> work;
    std::atomic<int> running = threads;
    std::vector<std::jthread> writers;
    for (int t = 0; t < threads; ++t) {
        writers.emplace_back([&, t] {
            const auto token = work[static_cast<std::size_t>(t)].token();
            for (int i = 0; i < lines; ++i) {
                box.put(std::to_string(t) + " " + std::to_string(i), t == 0 ? nullptr : &token);
                if (t == 1 && i == lines / 2) cancel(work[1]);
            }
            --running;
        });
    }
    const std::string all = drained_while(running, box, pipe);
    auto [last, count] = heard_in(all);
    EXPECT_EQ(count[0], lines);
    EXPECT_EQ(count[2], lines);
    EXPECT_LE(last[1], lines / 2);
    EXPECT_EQ(box.lost(), static_cast<std::size_t>(lines - count[1]));
    EXPECT_EQ(box.waiting(), 0U);
}

}  // namespace
}  // namespace andon::detail
