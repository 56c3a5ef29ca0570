// How far one has come in a stream of events.
#include "transport/http/event_cursor.hpp"

#include <gtest/gtest.h>

namespace andon::detail {
namespace {

using namespace std::chrono_literals;

std::string all(event_cursor& cursor, std::string_view bytes) {
    std::string messages;
    while (const auto data = cursor.next(bytes)) messages += '[' + *data + ']';
    return messages;
}

TEST(event_cursor, hands_out_messages_and_remembers_the_last_id) {
    event_cursor cursor(1'000);
    cursor.connected();
    EXPECT_FALSE(cursor.resumable());
    EXPECT_EQ(all(cursor, "id: 1\ndata: a\n\nid: 2\ndata:\n\nevent: ping\ndata: no\n\ndata: b\n\n"), "[a][b]");
    EXPECT_EQ(cursor.last_id(), "2");
    EXPECT_TRUE(cursor.resumable());
    EXPECT_EQ(all(cursor, "id:\ndata: c\n\n"), "[c]");
    EXPECT_FALSE(cursor.resumable()) << "an empty id takes it back";
}

TEST(event_cursor, an_id_that_cannot_stand_in_a_header_is_none) {
    event_cursor cursor(10'000);
    for (const std::string& id : {std::string("a\x01"), std::string("a\x7f"), std::string(2'000, 'x')}) {
        EXPECT_EQ(all(cursor, "id: ok\ndata: a\n\n"), "[a]");
        EXPECT_TRUE(cursor.resumable());
        EXPECT_EQ(all(cursor, "id: " + id + "\ndata: a\n\n"), "[a]");
        EXPECT_FALSE(cursor.resumable());
    }
}

TEST(event_cursor, what_a_connection_left_half_said_is_forgotten) {
    event_cursor cursor(1'000);
    EXPECT_EQ(all(cursor, "id: 1\ndata: a\n\nid: 2\ndata: half"), "[a]");
    cursor.connected();
    EXPECT_EQ(cursor.last_id(), "1");
    EXPECT_EQ(all(cursor, "data: b\n\n"), "[b]");
}

TEST(event_cursor, waits_as_long_as_the_server_says_and_longer_after_failures) {
    event_cursor cursor(1'000);
    EXPECT_EQ(cursor.pause(), 1s);
    EXPECT_EQ(all(cursor, "retry: 500\ndata: a\n\n"), "[a]");
    EXPECT_EQ(cursor.pause(), 500ms);
    cursor.missed();
    cursor.missed();
    EXPECT_EQ(cursor.pause(), 2s);
    for (int i = 0; i < 100; ++i) cursor.missed();
    EXPECT_EQ(cursor.pause(), 30s);
    cursor.connected();
    EXPECT_EQ(cursor.pause(), 500ms);
    EXPECT_EQ(all(cursor, "retry: 60000\n\n"), "");
    cursor.missed();
    EXPECT_EQ(cursor.pause(), 60s);
    EXPECT_EQ(all(cursor, "retry: 0\n\n"), "");
    cursor.connected();
    EXPECT_EQ(cursor.pause(), 10ms);
}

TEST(event_cursor, a_server_that_wants_no_pause_and_says_nothing_does_not_keep_us_busy) {
    event_cursor cursor(1'000);
    EXPECT_EQ(all(cursor, "retry: 0\n\n"), "");
    for (int i = 0; i < 20; ++i) {
        cursor.connected();
        EXPECT_EQ(all(cursor, "retry: 0\nid: 1\n\n"), "");
        cursor.ended();
    }
    EXPECT_EQ(cursor.pause(), 1s);
    cursor.connected();
    EXPECT_EQ(all(cursor, "data: a\n\n"), "[a]");
    cursor.ended();
    EXPECT_EQ(cursor.pause(), 10ms);
    EXPECT_EQ(all(cursor, "retry: 1500\n\n"), "");
    EXPECT_EQ(cursor.pause(), 1500ms);
}

TEST(event_cursor, an_event_that_is_too_large_is_told_and_stepped_over) {
    event_cursor cursor(10);
    EXPECT_EQ(all(cursor, "data: a\n\nid: 2\ndata: far too large\n\n"), "[a]");
    EXPECT_EQ(cursor.last_id(), "2") << "it is not asked for again";
    EXPECT_TRUE(cursor.failed());
    EXPECT_TRUE(cursor.take_failure());
    EXPECT_EQ(all(cursor, "data: b\n\n"), "[b]");
    EXPECT_FALSE(cursor.take_failure());
}

}  // namespace
}  // namespace andon::detail
