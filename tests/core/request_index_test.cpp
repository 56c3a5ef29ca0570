#include "core/request_index.hpp"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "core/test_time.hpp"

namespace andon::detail {
namespace {

// Hashes chosen by the test, to bring about what a keyed hash makes rare.
class index_fixture : public testing::Test {
protected:
    ~index_fixture() override {
        for (auto& [id, r] : live) {
            index.erase(*r);
            free(r);
        }
        in->release();
        while (auto* array = index.take_unused()) slot_array::destroy(array);
    }
    void insert(std::int64_t id, std::uint64_t hash) {
        auto* r = request::make(*in, key(id), hash, start, {});
        index.insert(*r, hash);
        live[id] = r;
        hashes[id] = hash;
    }
    void erase(std::int64_t id) {
        index.erase(*live.at(id));
        free(live.at(id));
        live.erase(id);
    }
    [[nodiscard]] bool has(std::int64_t id) {
        auto* found = index.find(key(id), hashes.at(id));
        EXPECT_EQ(index.try_find(key(id), hashes.at(id)), std::optional(found));
        return found != nullptr && found == (live.contains(id) ? live.at(id) : nullptr);
    }
    static void free(request* r) {
        r->end(start);
        r->release();
        r->release();
    }
    [[nodiscard]] request_key key(std::int64_t id) const { return {in->id, direction::incoming, id}; }

    session_record* in = new session_record(session_id(1), 1'000'000);
    request_index index;
    std::map<std::int64_t, request*> live;
    std::map<std::int64_t, std::uint64_t> hashes;
};

TEST_F(index_fixture, tells_apart_what_has_the_same_hash) {
    for (int id = 0; id < 10; ++id) insert(id, 5);
    for (int id = 0; id < 10; id += 2) erase(id);
    for (int id = 0; id < 10; ++id) EXPECT_EQ(has(id), id % 2 == 1);
}

TEST_F(index_fixture, finds_past_the_place_of_one_that_left) {
    insert(1, 3);
    insert(2, 3);
    insert(3, 4);
    erase(1);
    EXPECT_TRUE(has(2));
    EXPECT_TRUE(has(3));
    erase(2);
    EXPECT_TRUE(has(3));
}

TEST_F(index_fixture, probes_around_the_end_of_the_array) {
    for (int id = 0; id < 6; ++id) insert(id, 15);
    for (int id = 0; id < 6; ++id) EXPECT_TRUE(has(id));
    erase(0);
    erase(5);
    for (int id = 1; id < 5; ++id) EXPECT_TRUE(has(id));
}

TEST_F(index_fixture, coming_and_going_at_the_same_size_never_fills_up_with_what_is_gone) {
    std::mt19937_64 random(7);
    std::int64_t oldest = 0;
    std::int64_t next = 0;
    for (; next < 40; ++next) insert(next, random());
    for (int round = 0; round < 50'000; ++round, ++next, ++oldest) {
        insert(next, random());
        erase(oldest);
        ASSERT_TRUE(has(next));
        ASSERT_FALSE(has(oldest));
    }
    EXPECT_EQ(index.size(), 40U);
}

TEST_F(index_fixture, has_everything_at_every_moment_of_growing_and_shrinking) {
    std::mt19937_64 random(11);
    for (std::int64_t id = 0; id < 600; ++id) {
        insert(id, random());
        for (const auto& [other, r] : live) ASSERT_TRUE(has(other)) << other << " after " << id;
    }
    for (std::int64_t id = 0; id < 590; ++id) {
        erase(id);
        ASSERT_FALSE(has(id));
        for (const auto& [other, r] : live) ASSERT_TRUE(has(other)) << other << " after " << id;
    }
}

TEST_F(index_fixture, a_walk_sees_all_that_stays_whatever_moves) {
    std::mt19937_64 random(13);
    for (std::int64_t id = 0; id < 100; ++id) insert(id, random());
    for (const std::int64_t wave : {0, 1, 300}) {  // nothing, a little and a lot happens between two looks
        std::set<std::int64_t> seen;
        request_index::cursor at;
        std::int64_t extra = 1'000;
        bool growing = true;
        while (index.walk(at, 4, [&](request& r) { seen.insert(r.id().number()); })) {
            for (std::int64_t i = 0; i < wave; ++i) {
                if (growing) {
                    insert(extra++, random());
                } else if (extra > 1'000) {
                    erase(--extra);
                }
            }
            growing = extra < 3'000 && growing;
        }
        for (std::int64_t id = 0; id < 100; ++id) ASSERT_TRUE(seen.contains(id)) << id;
        while (extra > 1'000) erase(--extra);
    }
}

}  // namespace
}  // namespace andon::detail
