// Up to 2025-11-25: a disconnect is no cancel, and what was missed is told to whoever comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "andon/wire/error.hpp"
#include "server/http_caller.hpp"

namespace andon {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::string_view with_progress = R"("progressToken":"token of 71")";

/// The numbers that progress messages report.
std::vector<std::int64_t> progress_in(const std::vector<http_event>& events) {
    std::vector<std::int64_t> all;
    for (const http_event& each : events) {
        if (each.data.find("notifications/progress") == std::string::npos) continue;
        all.push_back(each.message().at("params").at("progress").to_number<std::int64_t>());
    }
    return all;
}

std::vector<std::int64_t> numbers(std::int64_t last) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 1; i <= last; ++i) all.push_back(i);
    return all;
}

/// Reads the head and some events.
std::vector<http_event> read_some(http_client& connection, std::size_t how_many) {
    EXPECT_TRUE(connection.head().in_events());
    std::vector<http_event> events;
    while (events.size() < how_many) events.push_back(connection.event().value());
    return events;
}

class http_resume : public http_served {
protected:
    [[nodiscard]] http_client counts(std::string_view raw_id, int to) const {
        return client.call(raw_id, "wait", with_key("counts", R"("tick_ms":1,"ms":)" + std::to_string(to)),
                           with_progress);
    }
};

TEST_P(http_resume, HTTP_2_a_disconnect_is_no_cancel) {
    for (const std::string_view accept : {takes_both, takes_json}) {
        client.how().accept = std::string(accept);
        const std::string key(accept.substr(0, 20));
        http_client gone = client.call("71", "park", with_key(key));
        server.mark("start", key);
        gone.reset();
        // The server has read its end when it has read what came later on another connection that it knew before.
        for (int i = 0; i < 3; ++i) client.fence();
        EXPECT_FALSE(server.marked("cancel", key));
        client.cancel("71", R"("now it is one")");
        server.mark("cancel", key);
        EXPECT_THAT(server.logged("request 71 ("), HasSubstr("peer, now it is one"));
        client.until_free("71");
    }
}

TEST_P(http_resume, HTTP_2_each_message_exactly_once_and_in_order_across_any_number_of_cuts) {
    constexpr int last = 60;
    http_client first = counts("71", last);
    std::vector<http_event> all = read_some(first, 3);
    first.reset();
    for (int cut = 0;; ++cut) {
        http_client next = client.get(*all.back().id);
        ASSERT_TRUE(next.head().in_events());
        const std::size_t before = all.size();
        bool ended = false;
        while (all.size() < before + 7) {
            auto event = next.event();
            if (!event) {
                ended = true;
                break;
            }
            all.push_back(std::move(*event));
        }
        if (ended) break;
        if (cut % 2 == 0) next.close();
    }
    EXPECT_THAT(progress_in(all), ElementsAreArray(numbers(last)));
    EXPECT_EQ(text_of(all.back().message()), "waited 60 ms");
    EXPECT_FALSE(server.marked("cancel", "counts"));
}

TEST_P(http_resume, HTTP_2_picked_up_while_the_old_connection_is_still_open) {
    constexpr int last = 80;
    http_client first = counts("71", last);
    std::vector<http_event> all = read_some(first, 2);
    const std::string seen = *all.back().id;
    http_client second = client.get(seen);
    const http_outcome rest = outcome_of(second);
    all.insert(all.end(), rest.events.begin(), rest.events.end());
    EXPECT_THAT(progress_in(all), ElementsAreArray(numbers(last))) << "the second has all that the first had not";
    // The first ends as a stream does, with no more than it had until then.
    std::vector<http_event> others;
    while (auto event = first.event()) others.push_back(std::move(*event));
    for (const http_event& each : others) EXPECT_THAT(each.data, HasSubstr("notifications/progress"));
    EXPECT_LT(others.size(), static_cast<std::size_t>(last));
    first.write(client.call_bytes("72", "echo", R"({"text":"usable"})"));
    EXPECT_EQ(text_of(*outcome_of(first).message), "usable");
}

TEST_P(http_resume, HTTP_2_a_stream_that_is_over_is_told_again_from_any_point) {
    http_client first = counts("71", 10);
    const std::vector<http_event> all = outcome_of(first).events;
    for (std::size_t seen = 0; seen < all.size(); ++seen) {
        if (!all[seen].id) continue;
        http_client again = client.get(*all[seen].id);
        const http_outcome rest = outcome_of(again);
        EXPECT_EQ(rest.head.status, 200);
        ASSERT_THAT(rest.events, SizeIs(all.size() - seen - 1));
        for (std::size_t i = 0; i < rest.events.size(); ++i) {
            EXPECT_EQ(rest.events[i].id, all[seen + 1 + i].id);
            EXPECT_EQ(rest.events[i].data, all[seen + 1 + i].data);
        }
        // And the connection is good for more.
        again.write(client.call_bytes("72", "echo", R"({"text":"usable"})"));
        EXPECT_EQ(text_of(*outcome_of(again).message), "usable");
    }
}

TEST_P(http_resume, HTTP_2_the_answer_is_kept_for_one_who_was_away_when_it_came) {
    http_client first = client.call("71", "wait_ignore", with_key("works", R"("ms":100,"tick_ms":10)"), with_progress);
    const std::vector<http_event> some = read_some(first, 2);
    first.reset();
    server.mark("end", "works");
    client.until_free("71");
    http_client again = client.get(*some.back().id);
    const http_outcome rest = outcome_of(again);
    ASSERT_TRUE(rest.message);
    EXPECT_EQ(text_of(*rest.message), "ignored everything for 100 ms");
}

TEST_P(http_resume, HTTP_2_an_event_that_never_was_is_refused) {
    http_client first = counts("71", 10);
    const std::vector<http_event> all = outcome_of(first).events;
    const std::string last = all.back().id.value();
    const std::string stream = last.substr(0, last.find('-'));
    http_client parked = client.call("72", "park", with_key("parked"));
    server.mark("start", "parked");
    for (const std::string& id :
         {stream + "-1000000", std::string("4711-1"), std::string("x"), std::string("-"), std::string("1-"),
          std::string("-1"), std::string("1-1-1"), std::string("18446744073709551616-1"),
          // The parked call's stream has sent nothing: whoever names it made that up.
          std::to_string(std::stoi(stream) + 1) + "-0", std::string("0-1")}) {
        http_client refused = client.get(id);
        const http_outcome answer = outcome_of(refused);
        EXPECT_EQ(answer.head.status, 400) << id;
        ASSERT_TRUE(answer.message) << id;
        EXPECT_EQ(code_of(*answer.message), error_code::invalid_request) << id;
    }
    EXPECT_TRUE(parked.quiet());
    client.cancel("72");
    EXPECT_EQ(code_of(*outcome_of(parked).message), error_code::request_cancelled);
}

TEST_P(http_resume, HTTP_2_DIR_6_an_event_of_another_session_is_as_unknown_as_its_session) {
    http_client first = counts("71", 10);
    const std::vector<http_event> all = outcome_of(first).events;
    http_caller other = server.caller();
    other.open();
    http_client refused = other.get(*all[0].id);
    EXPECT_EQ(outcome_of(refused).head.status, 400) << "this session has no such stream";
    other.use_session("0123456789abcdef0123456789abcdef0123456789abcdef");
    http_client unknown = other.get(*all[0].id);
    EXPECT_EQ(outcome_of(unknown).head.status, 404);
}

TEST_P(http_resume, HTTP_2_ids_and_retry_are_those_of_the_revision) {
    http_client connection = counts("71", 5);
    const std::vector<http_event> all = outcome_of(connection).events;
    const bool primed = GetParam() >= revision::v2025_11_25;
    EXPECT_EQ(all.front().data.empty(), primed) << "an id alone, so that the client can come back at any time";
    EXPECT_EQ(all.front().retry.has_value(), primed);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_TRUE(all[i].id) << i;
        if (i > 0) {
            EXPECT_FALSE(all[i].retry) << i;
            EXPECT_NE(all[i].id, all[i - 1].id);
        }
    }
    if (!primed) return;
    http_client again = client.get(*all.front().id);
    EXPECT_THAT(outcome_of(again).events, SizeIs(all.size() - 1)) << "from the first event, everything";
}

TEST_P(http_resume, HTTP_2_two_streams_are_not_mixed_up) {
    http_client one = client.call("71", "wait", R"({"ms":40,"tick_ms":1})", R"("progressToken":"one")");
    http_client two = client.call("72", "wait", R"({"ms":40,"tick_ms":1})", R"("progressToken":"two")");
    const std::string seen_one = *read_some(one, 2).back().id;
    const std::string seen_two = *read_some(two, 2).back().id;
    one.reset();
    two.reset();
    http_client again_two = client.get(seen_two);
    http_client again_one = client.get(seen_one);
    const http_outcome rest_one = outcome_of(again_one);
    const http_outcome rest_two = outcome_of(again_two);
    EXPECT_EQ(rest_one.message->at("id").as_int64(), 71);
    EXPECT_EQ(rest_two.message->at("id").as_int64(), 72);
    for (const http_event& each : rest_one.events) EXPECT_EQ(each.data.find("\"two\""), std::string::npos);
    for (const http_event& each : rest_two.events) EXPECT_EQ(each.data.find("\"one\""), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(http, http_resume, testing::ValuesIn(legacy_http_revisions), revision_name());

/// With settings of their own.
class http_abandoned : public testing::TestWithParam<revision> {};

TEST_P(http_abandoned, HTTP_2_a_call_whose_client_does_not_come_back_is_cancelled_with_the_cause_disconnect) {
    http_process server(GetParam(), {"--abandon-ms", "100"});
    http_caller client = server.caller();
    client.open();
    http_client gone = client.call("71", "park", with_key("parked"));
    http_client stays = client.call("72", "park", with_key("stays"));
    server.mark("start", "parked");
    server.mark("start", "stays");
    gone.close();
    server.mark("cancel", "parked");
    EXPECT_THAT(server.logged("request 71 ("), HasSubstr("cancelled: disconnect, the client did not come back"));
    client.until_free("71");
    EXPECT_FALSE(server.marked("cancel", "stays"));
}

TEST_P(http_abandoned, HTTP_2_one_who_comes_back_in_time_stops_the_clock) {
    http_process server(GetParam(), {"--abandon-ms", "1000"});
    http_caller client = server.caller();
    client.open();
    http_client first =
        client.call("71", "wait", with_key("waits", R"("ms":2500,"tick_ms":50)"), R"("progressToken":1)");
    ASSERT_TRUE(first.head().in_events());
    std::string seen;
    while (seen.empty()) seen = first.event()->id.value_or("");
    first.reset();
    http_client again = client.get(seen);
    const http_outcome rest = outcome_of(again);  // longer than the limit
    ASSERT_TRUE(rest.message);
    EXPECT_EQ(text_of(*rest.message), "waited 2500 ms");
    EXPECT_EQ(server.times_logged("cancelled:"), 0);
}

TEST_P(http_abandoned, HTTP_2_the_clock_starts_again_with_every_cut) {
    http_process server(GetParam(), {"--abandon-ms", "100"});
    http_caller client = server.caller();
    client.open();
    http_client first =
        client.call("71", "wait", with_key("waits", R"("ms":600000,"tick_ms":5)"), R"("progressToken":1)");
    ASSERT_TRUE(first.head().in_events());
    std::string seen;
    while (seen.empty()) seen = first.event()->id.value_or("");
    http_client again = client.get(seen);
    ASSERT_TRUE(again.head().in_events());
    EXPECT_TRUE(again.event());
    first.close();
    again.reset();
    server.mark("cancel", "waits");
    EXPECT_THAT(server.logged("request 71 ("), HasSubstr("cancelled: disconnect"));
}

TEST_P(http_abandoned, HTTP_2_one_who_does_not_read_is_cut_off_and_comes_back_for_the_rest) {
    http_process server(GetParam(), {"--stalled-ms", "300"});
    http_caller client = server.caller({.connection = {.receive_buffer = 1}});
    client.open();
    // More than the kernels hold, and less than is kept.
    constexpr int last = 1'500;
    http_client slow = client.call("71", "wait", with_key("waits", R"("tick_ms":1,"ms":)" + std::to_string(last)),
                                   R"("progressToken":1)");
    EXPECT_THAT(server.logged("was cut off"),
                HasSubstr("session " + client.session().substr(0, 8) + ": the client read nothing for 300 ms"));
    std::vector<http_event> all = read_some(slow, 2);
    slow.reset();
    client.how().connection = {};
    http_client again = client.get(all.back().id.value());
    const http_outcome rest = outcome_of(again);
    all.insert(all.end(), rest.events.begin(), rest.events.end());
    EXPECT_THAT(progress_in(all), ElementsAreArray(numbers(last)));
    ASSERT_TRUE(rest.message);
    EXPECT_EQ(text_of(*rest.message), "waited 1500 ms");
    EXPECT_EQ(server.times_logged("was cut off"), 1);
    EXPECT_EQ(server.times_logged("cancelled:"), 0);
}

TEST_P(http_abandoned, HTTP_2_so_is_one_who_leaves_no_more_unread_than_the_kernel_holds) {
    http_process server(GetParam(), {"--stalled-ms", "1000"});
    http_caller client = server.caller({.connection = {.receive_buffer = 1}});
    client.open();
    http_client slow =
        client.call("71", "wait", with_key("waits", R"("tick_ms":20,"ms":600000)"), R"("progressToken":1)");
    EXPECT_THAT(server.logged("was cut off"), HasSubstr("the client read nothing for 1 s"));
    std::vector<http_event> all = read_some(slow, 2);
    slow.reset();
    client.how().connection = {};
    http_client again = client.get(all.back().id.value());
    const std::vector<http_event> more = read_some(again, 50);
    all.insert(all.end(), more.begin(), more.end());
    const auto heard = progress_in(all);
    for (std::size_t i = 0; i < heard.size(); ++i) EXPECT_EQ(heard[i], 20 * static_cast<std::int64_t>(i + 1));
    EXPECT_GE(heard.size(), 50U);
    client.cancel("71");
    server.mark("cancel", "waits");
}

TEST_P(http_abandoned, HTTP_2_what_cannot_be_resumed_has_no_ids_and_runs_on_all_the_same) {
    http_process server(GetParam(), {"--not-resumable"});
    http_caller client = server.caller();
    client.open();
    http_client first = client.call("71", "wait", R"({"ms":20,"tick_ms":2})", R"("progressToken":1)");
    const http_outcome answer = outcome_of(first);
    for (const http_event& each : answer.events) {
        EXPECT_FALSE(each.id);
        EXPECT_FALSE(each.retry);
        EXPECT_FALSE(each.data.empty());
    }
    EXPECT_EQ(text_of(*answer.message), "waited 20 ms");
    http_client gone = client.call("71", "block", with_key("blocks", R"("ms":50)"));
    server.mark("start", "blocks");
    gone.reset();
    server.mark("end", "blocks");
    client.until_free("71");
    EXPECT_EQ(server.times_logged("cancelled:"), 0);
}

INSTANTIATE_TEST_SUITE_P(http, http_abandoned, testing::ValuesIn(legacy_http_revisions), revision_name());

}  // namespace
}  // namespace andon
