// Counts every allocation of the process.
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <malloc.h>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "andon/core/cancel_callback.hpp"
#include "andon/core/cancel_source.hpp"
#include "andon/core/in_flight.hpp"
#include "core/test_time.hpp"

namespace {
std::atomic<std::uint64_t> allocations{0};
}

void* operator new(std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace andon {
namespace {

using namespace std::chrono_literals;

template <class F>
std::uint64_t allocations_in(F f) {
    const auto before = allocations.load();
    f();
    return allocations.load() - before;
}

class memory : public testing::Test {
protected:
    memory() {
        // A shard makes its timing wheel with the first deadline: that is no request's.
        std::vector<active_request> first;
        for (int i = 0; i < 1'000; ++i) {
            first.push_back(table.begin(in, direction::incoming, i, start, {.limits = {.idle = 1h}}).request);
        }
    }
    in_flight table{{.outcomes_kept = 64}};
    session in = table.open_session();
};

TEST_F(memory, a_request_is_one_allocation_whatever_it_has) {
    const std::string id(200, 'x');
    const auto made = allocations_in([&] {
        for (int i = 0; i < 100; ++i) {
            auto request = table
                               .begin(in, direction::incoming, id, start,
                                      {.label = "tools/call", .limits = {.idle = 1s, .maximum = 10s}})
                               .request;
            request.progress(start);
            EXPECT_TRUE(request.begin_response());
            request.finish(start);
        }
    });
    EXPECT_EQ(made, 100U);
}

TEST_F(memory, a_cancelled_request_is_one_allocation_and_one_for_the_words_if_there_are_any) {
    const auto cancelled_with = [&](const char* words) {
        return allocations_in([&] {
            auto request = table.begin(in, direction::incoming, 1, start).request;
            table.cancel({in.id(), direction::incoming, 1}, cancel_cause::peer, words, start);
            request.notice(start);
            request.finish(start);
        });
    };
    cancelled_with("");
    EXPECT_EQ(cancelled_with(""), 1U);
    EXPECT_EQ(cancelled_with("Stop"), 2U);
    EXPECT_LE(cancelled_with("a reason longer than what a std::string keeps inside itself"), 4U);
}

TEST_F(memory, polling_callbacks_sections_and_tokens_allocate_nothing) {
    const auto request = table.begin(in, direction::incoming, 1, start).request;
    int called = 0;
    EXPECT_EQ(allocations_in([&] {
                  const auto token = request.token();
                  const cancel_callback callback(token, [&] { ++called; });
                  for (int i = 0; i < 100; ++i) {
                      EXPECT_FALSE(token.cancelled());
                      EXPECT_FALSE(table.is_cancelled(in.id(), 1));
                      const uninterrupted_section section(token);
                  }
                  table.cancel({in.id(), direction::incoming, 1}, cancel_cause::peer, {}, start);
                  const cancel_callback late(token, [&] { ++called; });
              }),
              0U);
    EXPECT_EQ(called, 2);
}

TEST_F(memory, a_child_hangs_below_its_parent_at_no_allocation_of_its_own) {
    const auto parent = table.begin(in, direction::incoming, 1, start).request;
    EXPECT_EQ(allocations_in([&] {
                  const auto child = table.begin(parent, direction::outgoing, 1, start).request;
                  parent.token().state()->cancel(cancel_cause::peer, reason(), start);
                  EXPECT_TRUE(child.token().cancelled());
              }),
              1U)
        << "the child's own record, and nothing for the link";
}

TEST_F(memory, RCV_5_unknown_cancels_allocate_nothing) {
    EXPECT_EQ(allocations_in([&] {
                  for (int id = 0; id < 10'000; ++id) {
                      table.cancel({in.id(), direction::incoming, id}, cancel_cause::peer, "who is this?", start);
                  }
                  table.cancel({in.id(), direction::incoming, "unknown"}, cancel_cause::peer, "who is this?", start);
              }),
              0U);
}

TEST_F(memory, deadlines_that_pass_allocate_nothing) {
    const auto request = table.begin(in, direction::incoming, 1, start, {.limits = {.idle = 1s}}).request;
    table.expire(at(10ms));  // the words for a timeout are made once
    EXPECT_LE(allocations_in([&] { table.expire(at(2s)); }), 4U);
    EXPECT_TRUE(request.token().cancelled());
    const auto second = table.begin(in, direction::incoming, 2, start, {.limits = {.idle = 1s}}).request;
    EXPECT_EQ(allocations_in([&] { table.expire(at(4s)); }), 0U);
    EXPECT_TRUE(second.token().cancelled());
}

std::size_t bytes_in_use() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// Everything at once from two threads, twice: what the second storm leaves is what the first one left.
TEST_F(memory, RCV_2_after_a_storm_memory_is_back_where_it_was) {
    const auto storm = [&](std::int64_t first) {
        std::vector<active_request> requests;
        for (std::int64_t id = first; id < first + 50'000; ++id) {
            requests.push_back(table.begin(in, direction::incoming, id, start, {.limits = {.idle = 1h}}).request);
            if (id % 3 == 0) {
                table.cancel({in.id(), direction::incoming, id}, cancel_cause::peer, "Stop", start);
            }
        }
        for (int i = 0; i < 500'000; ++i) {
            table.cancel({in.id(), direction::incoming, -1 - i}, cancel_cause::peer, "unknown", start);
        }
    };
    const auto both = [&] {
        std::thread a(storm, 0);
        std::thread b(storm, 1'000'000);
        a.join();
        b.join();
    };
    both();
    const auto before = bytes_in_use();
    both();
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(in.size(), 0U);
    EXPECT_EQ(table.counters().unknown, 2'000'000U);
    EXPECT_NEAR(static_cast<double>(bytes_in_use()), static_cast<double>(before), 4'096);
}

TEST(memory_alone, RCV_5_a_million_unknown_cancels_keep_nothing) {
    in_flight table;
    const auto in = table.open_session();
    ASSERT_FALSE(table.is_cancelled(in.id(), 0));  // a thread's first look-up gives the thread its place among readers
    const auto before = bytes_in_use();
    for (int id = 0; id < 1'000'000; ++id) {
        table.cancel({in.id(), direction::incoming, id}, cancel_cause::peer, "who is this?", start);
    }
    EXPECT_EQ(bytes_in_use(), before);
}

}  // namespace
}  // namespace andon
