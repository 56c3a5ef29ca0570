// Every call of the core from several threads at once, ten million operations and more: for the thread sanitizer, and
// for the invariants that must hold however the threads fall.
#include <atomic>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <vector>

#include "andon/core/cancel_callback.hpp"
#include "andon/core/cancel_source.hpp"
#include "andon/core/in_flight.hpp"
#include "andon/core/stop_token.hpp"
#include "core/test_time.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t ids = 64;  // few, so that the threads meet

// What one thread saw. Counted by every thread for itself.
struct tally {
    std::uint64_t operations = 0;
    std::uint64_t answered = 0;
    std::uint64_t ended_cancelled = 0;
    std::uint64_t callbacks = 0;
};

struct count_one {
    std::uint64_t* count;
    void operator()() const noexcept { ++*count; }
};

class storm {
public:
    storm() {
        for (int i = 0; i < 3; ++i) sessions_.push_back(table_.open_session());
    }

    // Begins requests, works on them, answers or notices that it must not.
    void work(std::uint64_t seed, std::uint64_t rounds, tally& t) {
        std::mt19937_64 random(seed);
        for (std::uint64_t i = 0; i < rounds; ++i) {
            auto& in = sessions_[random() % sessions_.size()];
            const auto id = static_cast<std::int64_t>(random() % ids);
            const auto limit = random() % 4 == 0 ? time_limits{.idle = 50ms} : time_limits{};
            auto begun = table_.begin(in, direction::incoming, id, now(), {.label = "work", .limits = limit});
            ++t.operations;
            if (!begun) continue;
            auto& request = begun.request;
            handle(request, random, t);
            t.operations += 4;
            const bool may_answer = request.begin_response();
            const bool cancelled = request.token().state()->cancel_accepted();
            ASSERT_NE(may_answer, cancelled) << "never both, never neither";
            if (cancelled) request.notice(now());
            ++(cancelled ? t.ended_cancelled : t.answered);
            request.finish(now());
        }
    }

    // Cancels by key, asks by key, expires, lists, reads the outcomes, stops whole sessions.
    void disturb(std::uint64_t seed, std::uint64_t rounds, tally& t) {
        std::mt19937_64 random(seed);
        for (std::uint64_t i = 0; i < rounds; ++i, ++t.operations) {
            const auto& in = sessions_[random() % sessions_.size()];
            const auto id = static_cast<std::int64_t>(random() % (2 * ids));
            const auto what = random() % 1'000;
            if (what < 500) {
                table_.cancel({in.id(), direction::incoming, id}, cancel_cause::peer, i % 2 == 0 ? "Stop" : "", now());
            } else if (what < 950) {
                static_cast<void>(table_.is_cancelled(in.id(), id));
            } else if (what < 990) {
                time_.fetch_add(1, std::memory_order_relaxed);
                table_.expire(now());
                static_cast<void>(table_.next_wake());
            } else if (what < 995) {
                table_.cancel_session(in.id(), cancel_cause::operator_, "all", now());
            } else if (what < 998) {
                for (const auto& info : table_.list())
                    ASSERT_TRUE(info.way == direction::outgoing || info.label == "work");
            } else {
                static_cast<void>(table_.recent_outcomes());
                static_cast<void>(table_.counters());
                static_cast<void>(table_.size());
            }
        }
    }

    [[nodiscard]] in_flight& table() { return table_; }
    [[nodiscard]] time_point now() const {
        return at(std::chrono::milliseconds(time_.load(std::memory_order_relaxed)));
    }

private:
    void handle(active_request& request, std::mt19937_64& random, tally& t) {
        const auto token = request.token();
        std::uint64_t called = 0;
        {
            const cancel_callback callback(token, count_one{&called});
            switch (random() % 8) {
                case 0: {
                    const uninterrupted_section section(token);
                    t.operations += 2;
                    break;
                }
                case 1: {
                    // A nested request of a thread of its own id, below this one.
                    const auto own = static_cast<std::int64_t>(random());
                    auto nested = table_.begin(request, direction::outgoing, own, now());
                    ASSERT_TRUE(nested);
                    if (nested.request.token().cancelled()) {
                        ASSERT_TRUE(token.state()->cancel_accepted() ||
                                    nested.request.token().cause() != cancel_cause::parent);
                    }
                    t.operations += 2;
                    break;
                }
                case 2: {
                    const cancel_source below(token, now());
                    const stop_on_cancel bridge(below.token());
                    t.operations += 4;
                    break;
                }
                case 3: request.progress(now()); break;
                case 4: request.limit({.maximum = 1ms}, now()); break;
                case 5: request.cancel(cancel_cause::operator_, "by hand", now()); break;
                default:
                    for (int i = 0; i < 50 && !token.cancelled(); ++i) ++t.operations;
            }
        }
        // Once the registration is gone: exactly once, or never and not before a cancel took effect.
        ASSERT_LE(called, 1U);
        if (called == 1) {
            ASSERT_TRUE(token.cancelled());
        }
        t.callbacks += called;
    }

    in_flight table_{{.outcomes_kept = 16}};
    std::vector<session> sessions_;
    std::atomic<std::int64_t> time_{0};
};

TEST(stress, RCV_9_ten_million_operations_of_every_kind_leave_nothing_behind) {
    storm s;
    constexpr int workers = 3;
    constexpr int disturbers = 2;
    std::vector<tally> tallies(workers + disturbers);
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < workers; ++i) {
            threads.emplace_back([&s, &t = tallies[static_cast<std::size_t>(i)], i] {
                s.work(static_cast<std::uint64_t>(i), 250'000, t);
            });
        }
        for (int i = workers; i < workers + disturbers; ++i) {
            threads.emplace_back([&s, &t = tallies[static_cast<std::size_t>(i)], i] {
                s.disturb(static_cast<std::uint64_t>(i), 1'000'000, t);
            });
        }
    }
    tally all;
    for (const auto& t : tallies) {
        all.operations += t.operations;
        all.answered += t.answered;
        all.ended_cancelled += t.ended_cancelled;
        all.callbacks += t.callbacks;
    }
    RecordProperty("operations", std::to_string(all.operations));
    std::printf("%llu operations: %llu answered, %llu cancelled, %llu callbacks\n",
                static_cast<unsigned long long>(all.operations), static_cast<unsigned long long>(all.answered),
                static_cast<unsigned long long>(all.ended_cancelled), static_cast<unsigned long long>(all.callbacks));
    EXPECT_GE(all.operations, 10'000'000U);
    EXPECT_GT(all.answered, 0U);
    EXPECT_GT(all.ended_cancelled, 0U);
    EXPECT_GT(all.callbacks, 0U);
    EXPECT_EQ(s.table().size(), 0U);
    std::uint64_t outcomes = 0;
    for (const auto& by_cause : s.table().counters().cause) outcomes += by_cause.ended;
    EXPECT_GE(outcomes, all.ended_cancelled) << "and the nested ones that were cancelled";
}

// Two threads fight over one registration, again and again, with the cancel on a third.
TEST(stress, a_callback_runs_once_or_never_and_not_after_it_is_gone) {
    for (int round = 0; round < 3'000; ++round) {
        cancel_source source;
        std::atomic<bool> alive{true};
        std::atomic<int> ran{0};
        std::atomic<int> ready{0};
        const auto meet = [&ready] {
            ++ready;
            while (ready < 2) std::this_thread::yield();
        };
        std::jthread canceller([&] {
            meet();
            source.cancel(cancel_cause::peer, "Stop", start);
        });
        {
            const cancel_callback callback(source.token(), [&] {
                ASSERT_TRUE(alive);
                ++ran;
            });
            meet();
        }
        alive = false;
        canceller.join();
        ASSERT_LE(ran, 1);
    }
}

}  // namespace
}  // namespace andon
