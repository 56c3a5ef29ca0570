#include "transport/http/message_stream.hpp"

#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "andon/core/in_flight.hpp"
#include "andon/wire/error.hpp"
#include "transport/http/served_connection.hpp"

namespace andon::detail {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string request = "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n";
constexpr std::string_view answer = R"({"answer":1})";

/// A stream on a loop, and clients that listen to it, one after the other.
class message_stream_test : public testing::Test {
protected:
    void make(message_stream_settings settings) {
        stream = on.on([&] { return message_stream::make(on.loop(), std::move(settings)); });
    }
    static message_stream_settings resumable() { return {.raw_ids = {"71"}, .event_prefix = "5-"}; }
    static message_stream_settings not_resumable() { return {.raw_ids = {"71"}}; }
    static message_stream_settings modern() { return {.raw_ids = {"71"}, .modern = true}; }

    /// Sends a request that the stream answers.
    std::unique_ptr<served_connection> attached() {
        return listening([this](http_connection& from) { stream->attach(from); });
    }
    /// One that comes back for what is behind an event.
    std::unique_ptr<served_connection> resumed(std::uint64_t last_seen) {
        return listening([this, last_seen](http_connection& from) {
            if (!stream->resume(from, last_seen)) from.respond(400, {}, {});
        });
    }
    std::unique_ptr<served_connection> listening(std::function<void(http_connection&)> begin) {
        std::promise<void> begun;
        auto one = std::make_unique<served_connection>(on, limits, [&](http_connection& from, const http_request&) {
            begin(from);
            begun.set_value();
        });
        one->client.write(request);
        begun.get_future().wait();
        return one;
    }
    void send(std::string_view line, const cancel_token* owner = nullptr) {
        on.on([&] { stream->send(line, owner); });
    }
    static std::vector<std::string> data_of(http_client& client) {
        std::vector<std::string> all;
        while (const auto event = client.event()) all.push_back(event->data);
        return all;
    }
    /// The same where the head was not read yet.
    static std::vector<std::string> all_of(http_client& client) {
        EXPECT_TRUE(client.head().in_events());
        return data_of(client);
    }

    running_loop on;
    http_connection_limits limits;
    in_flight table;
    std::shared_ptr<message_stream> stream;
};

TEST_F(message_stream_test, an_answer_without_anything_before_it_is_plain) {
    make(resumable());
    const auto one = attached();
    stream->answer(answer, 0);
    const http_answer head = one->client.head();
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.type(), "application/json");
    EXPECT_EQ(one->client.body(), answer);
    EXPECT_TRUE(on.on([&] { return stream->over(); }));
}

TEST_F(message_stream_test, HTTP_5_only_faults_of_the_protocol_have_a_status) {
    const auto status = [&](message_stream_settings settings, int code, bool refused) {
        make(std::move(settings));
        const auto one = attached();
        on.on([&] { refused ? stream->refuse(answer, code) : stream->answer(answer, code); });
        return one->client.head().status;
    };
    for (const bool refused : {false, true}) {
        EXPECT_EQ(status(modern(), error_code::method_not_found, refused), 404);
        EXPECT_EQ(status(resumable(), error_code::method_not_found, refused), 200);
        for (const int code : {error_code::parse_error, error_code::invalid_request, error_code::header_mismatch,
                               error_code::missing_client_capability, error_code::unsupported_version}) {
            EXPECT_EQ(status(modern(), code, refused), 400) << code;
        }
        EXPECT_EQ(status(modern(), error_code::internal_error, refused), 200);
        EXPECT_EQ(status(modern(), error_code::invalid_params, refused), refused ? 400 : 200);
    }
}

TEST_F(message_stream_test, HTTP_2_messages_come_once_and_in_order_to_whoever_listens) {
    make(resumable());
    {
        const auto one = attached();
        send("1");
        send("2");
        EXPECT_TRUE(one->client.head().in_events());
        EXPECT_EQ(one->client.event()->data, "1");
        const auto second = one->client.event();
        EXPECT_EQ(second->data, "2");
        EXPECT_EQ(second->id, "5-2");
    }
    send("3");  // nobody listens
    const auto two = resumed(1);
    send("4");
    EXPECT_TRUE(two->client.head().in_events());
    for (const std::string_view data : {"2", "3", "4"}) EXPECT_EQ(two->client.event()->data, data);
    const auto three = resumed(4);
    EXPECT_THAT(data_of(two->client), ElementsAre()) << "the one before is cut off, in good order";
    stream->answer(answer, 0);
    EXPECT_THAT(all_of(three->client), ElementsAre(answer));
    const auto four = resumed(2);
    EXPECT_THAT(all_of(four->client), ElementsAre("3", "4", answer)) << "it is over, and kept";
}

TEST_F(message_stream_test, HTTP_2_what_is_kept_has_a_bound_and_nothing_is_skipped_over) {
    auto settings = resumable();
    settings.keep_bytes = 100;
    make(std::move(settings));
    { const auto one = attached(); }
    const auto first = attached();
    for (int i = 0; i < 30; ++i) send("0123456789");
    EXPECT_LE(on.on([&] { return stream->kept_bytes(); }), 110U) << "beside the last";
    for (const std::uint64_t gone : {0U, 1U, 10U, 18U}) {
        const auto refused = resumed(gone);
        EXPECT_EQ(refused->client.head().status, 400) << gone;
    }
    for (const std::uint64_t never : {31U, 1'000'000U}) {
        const auto refused = resumed(never);
        EXPECT_EQ(refused->client.head().status, 400) << never;
    }
    const auto again = resumed(19);
    EXPECT_TRUE(again->client.head().in_events());
    for (int i = 20; i <= 30; ++i) EXPECT_EQ(again->client.event()->id, "5-" + std::to_string(i));
    send(std::string(1'000, 'x'));  // larger than the bound
    EXPECT_EQ(again->client.event()->data.size(), 1'000U);
    const auto last = resumed(30);
    EXPECT_TRUE(last->client.head().in_events());
    EXPECT_EQ(last->client.event()->data.size(), 1'000U);
}

TEST_F(message_stream_test, HTTP_2_what_all_streams_keep_has_a_bound_and_the_oldest_is_forgotten) {
    const auto budget = std::make_shared<kept_budget>(1'000);
    auto settings = resumable();
    settings.kept_by_all = budget;
    make(settings);
    const auto one = attached();
    send(std::string(600, 'a'));
    const auto older = stream;
    make(std::move(settings));
    const auto another = attached();
    send(std::string(600, 'b'));
    on.on([&] {
        EXPECT_EQ(older->kept_bytes(), 0U);
        EXPECT_EQ(stream->kept_bytes(), 600U);
        EXPECT_EQ(budget->used(), 600U);
        return 0;
    });
    send(std::string(2'000, 'c'));  // more than there is in all
    EXPECT_EQ(on.on([&] { return budget->used(); }), 0U);
    const auto refused = resumed(1);
    EXPECT_EQ(refused->client.head().status, 400);
    send("d");
    EXPECT_EQ(on.on([&] { return budget->used(); }), 1U);
}

TEST_F(message_stream_test, HTTP_2_what_a_client_was_sent_is_forgotten_before_what_another_was_not) {
    const auto budget = std::make_shared<kept_budget>(1'000);
    auto settings = resumable();
    settings.kept_by_all = budget;
    const auto away = [&] {
        make(settings);
        const auto first = attached();
        send("seen");
        EXPECT_EQ(first->client.head().status, 200);
        EXPECT_EQ(first->client.event()->data, "seen");
        first->client.close();
        EXPECT_TRUE(first->closes());
        return stream;
    };
    const auto older = away();
    send(std::string(300, 'a'));
    make(settings);
    const auto another = attached();
    for (int i = 0; i < 9; ++i) send(std::string(500, 'b'));
    EXPECT_EQ(on.on([&] { return older->kept_bytes(); }), 304U) << "its client misses it, and the other does not";

    const auto newer = away();
    send(std::string(800, 'c'));
    EXPECT_EQ(on.on([&] { return older->kept_bytes(); }), 0U);
    stream = older;
    send(std::string(300, 'd'));  // for which nobody can come back any more
    on.on([&] {
        EXPECT_EQ(older->kept_bytes(), 0U);
        EXPECT_EQ(newer->kept_bytes(), 804U);
        return 0;
    });
    EXPECT_EQ(resumed(1)->client.head().status, 400);
    stream = newer;
    EXPECT_EQ(resumed(1)->client.head().status, 200);
}

TEST_F(message_stream_test, HTTP_2_one_who_is_slow_to_read_what_was_missed_misses_nothing_of_it) {
    auto settings = resumable();
    settings.keep_bytes = std::size_t{4} << 20U;
    make(std::move(settings));
    const session in = table.open_session();
    auto begun = table.begin(in, direction::incoming, 71, std::chrono::steady_clock::now());
    const cancel_token token = begun.request.token();
    {
        const auto first = attached();
        send("1", &token);
    }
    constexpr std::size_t messages = 2'000;
    for (std::size_t i = 2; i <= messages; ++i) send(std::to_string(i) + std::string(1'000, '.'), &token);
    limits.waiting.soft = 10'000;  // far less than is kept, and than the kernel takes
    std::size_t seen = 1;
    for (int times = 0; seen < messages; ++times) {
        ASSERT_LT(times, 100);
        const auto again = resumed(seen);
        ASSERT_TRUE(again->client.head().in_events());
        try {
            while (seen < messages) {
                ASSERT_EQ(again->client.event()->id, "5-" + std::to_string(seen + 1)) << "something is missing";
                ++seen;
            }
        } catch (const std::runtime_error&) {  // cut off: it can come back
        }
    }
}

/// A call that is in flight, and whether whoever fills its stream has to wait.
class message_stream_crowd : public message_stream_test {
protected:
    void make(message_stream_settings settings, std::optional<duration> abandoned_after = std::chrono::hours(1)) {
        message_stream_test::make(std::move(settings));
        on.on([&] {
            stream->when_crowded([this](bool now) { crowded = now; });
            if (abandoned_after) stream->cancel_when_abandoned(*abandoned_after);
            stream->request_began(begun.request.token());
        });
    }
    static message_stream_settings keeps_a_thousand() {
        auto settings = resumable();
        settings.keep_bytes = 1'000;
        return settings;
    }
    /// Somebody has heard the first event, and is gone.
    void leave_after_first() { leave_after_first(attached()); }
    void leave_after_first(std::unique_ptr<served_connection> first) {
        send("1");
        EXPECT_TRUE(first->client.head().in_events());
        EXPECT_EQ(first->client.event()->data, "1");
        first->client.close();
        EXPECT_TRUE(first->closes());
    }
    void send_a_hundred_bytes() { send(std::string(100, '.')); }

    session in = table.open_session();
    begin_result begun = table.begin(in, direction::incoming, 71, std::chrono::steady_clock::now());
    std::atomic<bool> crowded = false;
};

TEST_F(message_stream_crowd, HTTP_2_a_client_that_is_away_is_waited_for_before_anything_is_forgotten) {
    make(keeps_a_thousand());
    leave_after_first();
    for (int i = 0; i < 5; ++i) send_a_hundred_bytes();
    EXPECT_FALSE(crowded);
    send_a_hundred_bytes();
    EXPECT_TRUE(crowded);
    const auto again = resumed(1);
    on.settle();
    EXPECT_FALSE(crowded);
    EXPECT_TRUE(again->client.head().in_events());
    for (int i = 2; i <= 7; ++i) EXPECT_EQ(again->client.event()->id, "5-" + std::to_string(i));
}

TEST_F(message_stream_crowd, HTTP_2_one_that_does_not_read_is_one_that_is_away) {
    limits.stalled = 300ms;
    auto settings = resumable();
    settings.keep_bytes = limits.waiting.soft;
    make(std::move(settings));
    std::size_t sent = 0;
    std::size_t seen = 0;
    auto reads = attached();
    for (int cut = 0; cut < 3; ++cut) {
        while (!crowded) send(std::to_string(++sent) + std::string(4'000, '.'));
        EXPECT_TRUE(reads->closes());
        EXPECT_TRUE(crowded);
        EXPECT_LT(on.on([&] { return stream->kept_bytes(); }), 2 * limits.waiting.soft);
        // What the kernel has of it is not lost.
        try {
            EXPECT_TRUE(reads->client.head().in_events());
            for (;; ++seen) ASSERT_EQ(reads->client.event()->id, "5-" + std::to_string(seen + 1));
        } catch (const std::runtime_error&) {
        }
        EXPECT_LT(seen, sent);
        reads = resumed(seen);
    }
    EXPECT_TRUE(reads->client.head().in_events());
    for (; seen < sent; ++seen) ASSERT_EQ(reads->client.event()->id, "5-" + std::to_string(seen + 1));
    on.settle();
    EXPECT_FALSE(crowded);
}

TEST_F(message_stream_crowd, HTTP_2_one_that_does_not_read_what_was_forgotten_is_not_waited_for) {
    limits.stalled = 300ms;
    auto settings = resumable();
    settings.kept_by_all = std::make_shared<kept_budget>(limits.waiting.hard);
    make(settings);
    const auto reads = attached();
    while (!crowded) send(std::string(4'000, '.'));
    const auto one = stream;
    message_stream_test::make(std::move(settings));
    leave_after_first();
    send(std::string(limits.waiting.hard - 1, '.'));
    EXPECT_EQ(on.on([&] { return one->kept_bytes(); }), 0U);
    EXPECT_TRUE(crowded);
    EXPECT_TRUE(reads->closes());
    on.settle();
    EXPECT_FALSE(crowded);
    stream = one;
    send("for nobody");
    EXPECT_EQ(on.on([&] { return stream->kept_bytes(); }), 0U);
}

TEST_F(message_stream_crowd, HTTP_2_one_who_comes_again_without_reading_has_it_waiting_once) {
    limits.stalled = 1h;  // that is not what it is closed for
    make(resumable());
    const auto first = attached();
    while (!crowded) send(std::string(4'000, '.'));
    const auto second = resumed(0);
    EXPECT_TRUE(first->closes());
    EXPECT_EQ(second->client.head().status, 200);
}

TEST_F(message_stream_crowd, HTTP_2_one_who_need_not_or_cannot_come_back_is_not_waited_for) {
    auto own = keeps_a_thousand();
    own.of_session = true;
    auto lost_to_others = keeps_a_thousand();
    lost_to_others.kept_by_all = std::make_shared<kept_budget>(400);
    struct row {
        std::string_view name;
        message_stream_settings settings;
        std::optional<duration> abandoned_after;
    };
    for (const row& each : std::vector<row>{{"there is no end to it", keeps_a_thousand(), std::nullopt},
                                            {"of a session", own, std::nullopt},
                                            {"not resumable", not_resumable(), 1h},
                                            {"forgotten, for others' sake", lost_to_others, 1h}}) {
        make(each.settings, each.abandoned_after);
        leave_after_first(each.settings.of_session ? listening([this](http_connection& from) { stream->listen(from); })
                                                   : attached());
        for (int i = 0; i < 20; ++i) {
            send_a_hundred_bytes();
            EXPECT_FALSE(crowded) << each.name;
        }
    }
}

TEST_F(message_stream_crowd, HTTP_2_one_who_comes_back_too_late_is_not_waited_for_any_more) {
    make(keeps_a_thousand());
    {
        const auto first = attached();
        for (int i = 0; i < 20; ++i) send_a_hundred_bytes();  // more than is kept of what was sent
        first->client.close();
        EXPECT_TRUE(first->closes());
    }
    for (int i = 0; i < 6; ++i) send_a_hundred_bytes();
    EXPECT_TRUE(crowded);
    EXPECT_EQ(resumed(1'000'000)->client.head().status, 400) << "there never was such an event";
    EXPECT_TRUE(crowded);
    EXPECT_EQ(resumed(1)->client.head().status, 400);
    EXPECT_FALSE(crowded);
    const auto again = resumed(20);
    EXPECT_TRUE(again->client.head().in_events()) << "it knew better after all";
    EXPECT_EQ(again->client.event()->id, "5-21");
}

TEST_F(message_stream_crowd, HTTP_2_the_wait_is_over_with_the_call) {
    make(keeps_a_thousand(), 20ms);
    leave_after_first();
    for (int i = 0; i < 6; ++i) send_a_hundred_bytes();
    while (!begun.request.token().cancelled()) on.settle();
    EXPECT_EQ(begun.request.token().cause(), cancel_cause::disconnect);
    stream->no_answer();
    on.settle();
    EXPECT_FALSE(crowded);
}

TEST_F(message_stream_test, HTTP_2_before_its_first_event_there_is_nothing_to_come_back_to) {
    make(resumable());
    const auto one = attached();
    const auto forged = resumed(0);
    EXPECT_EQ(forged->client.head().status, 400);
    stream->answer(answer, 0);
    EXPECT_EQ(one->client.head().status, 200);
    EXPECT_EQ(one->client.body(), answer);
}

TEST_F(message_stream_test, HTTP_2_the_first_event_is_an_id_and_a_time_where_the_revision_says_so) {
    auto settings = resumable();
    settings.primed = true;
    settings.retry = 250ms;
    make(std::move(settings));
    const auto one = attached();
    send("1");
    stream->answer(answer, 0);
    EXPECT_TRUE(one->client.head().in_events());
    const auto first = one->client.event();
    EXPECT_EQ(first->data, "");
    EXPECT_EQ(first->id, "5-1");
    EXPECT_EQ(first->retry, 250);
    EXPECT_THAT(data_of(one->client), ElementsAre("1", answer));
    const auto again = resumed(1);
    EXPECT_THAT(all_of(again->client), ElementsAre("1", answer));
}

TEST_F(message_stream_test, RCV_4_what_belongs_to_a_cancelled_request_is_not_told_again) {
    make(resumable());
    const session in = table.open_session();
    auto begun = table.begin(in, direction::incoming, 71, std::chrono::steady_clock::now());
    const cancel_token token = begun.request.token();
    const auto one = attached();
    send("1", &token);
    send("2", nullptr);
    begun.request.cancel(cancel_cause::peer, "", std::chrono::steady_clock::now());
    send("3", &token);
    stream->no_answer();
    on.settle();
    const auto again = resumed(0);
    const auto rest = all_of(again->client);
    ASSERT_EQ(rest.size(), 2U);
    EXPECT_EQ(rest[0], "2");
    EXPECT_THAT(rest[1], HasSubstr("-32800"));
}

TEST_F(message_stream_test, HTTP_3_the_end_without_an_answer) {
    struct row {
        message_stream_settings settings;
        bool begun;
        int status;                       // 0: the connection is closed without a byte
        std::vector<std::string> events;  // or the body, in its place
    };
    const std::string error = R"({"jsonrpc":"2.0","id":71,"error":{"code":-32800,"message":"Request cancelled"}})";
    auto events_only = resumable();
    events_only.wants_json = false;
    auto events_only_once = not_resumable();
    events_only_once.wants_json = false;
    const message_stream_settings of_notifications{};
    for (const row& each : std::vector<row>{{resumable(), false, 200, {error}},
                                            {not_resumable(), false, 200, {error}},
                                            {events_only, false, 200, {error}},
                                            {events_only_once, false, 200, {}},
                                            {of_notifications, false, 202, {}},
                                            {modern(), false, 0, {}},
                                            {resumable(), true, 200, {"1", error}},
                                            {not_resumable(), true, 200, {"1"}},
                                            {modern(), true, 200, {"1"}}}) {
        make(each.settings);
        const auto one = attached();
        if (each.begun) send("1");
        stream->no_answer();
        if (each.status == 0) {
            EXPECT_TRUE(one->client.closed());
            continue;
        }
        const http_answer head = one->client.head();
        EXPECT_EQ(head.status, each.status);
        if (head.in_events()) {
            EXPECT_EQ(data_of(one->client), each.events);
        } else {
            EXPECT_EQ(one->client.body(), each.events.empty() ? "" : each.events[0]);
        }
        send("too late");
        stream->answer(answer, 0);
        on.settle();
        EXPECT_TRUE(one->client.quiet());
    }
}

TEST_F(message_stream_test, RCV_9_threads_that_send_and_one_that_answers) {
    constexpr int threads = 4;
    constexpr int messages = 200;
    make(resumable());
    const auto one = attached();
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
        all.emplace_back([&, t] {
            for (int i = 0; i < messages; ++i) {
                EXPECT_TRUE(stream->send(std::to_string(t) + ' ' + std::to_string(i), nullptr));
            }
        });
    }
    for (std::thread& each : all) each.join();
    stream->answer(answer, 0);
    EXPECT_FALSE(stream->send("too late", nullptr));
    stream->answer("twice", 0);
    const std::vector<std::string> heard = all_of(one->client);
    ASSERT_EQ(heard.size(), static_cast<std::size_t>(threads * messages + 1));
    EXPECT_EQ(heard.back(), answer);
    std::vector<int> next(threads, 0);
    for (std::size_t i = 0; i + 1 < heard.size(); ++i) {
        const auto of = static_cast<std::size_t>(heard[i][0] - '0');
        EXPECT_EQ(heard[i].substr(2), std::to_string(next[of]++)) << "each thread's in its own order";
    }
}

TEST_F(message_stream_test, HTTP_2_a_client_that_was_let_go_and_does_not_come_back_is_one_that_left) {
    auto settings = resumable();
    settings.primed = true;
    make(std::move(settings));
    const session in = table.open_session();
    auto begun = table.begin(in, direction::incoming, 71, std::chrono::steady_clock::now());
    on.on([&] {
        stream->cancel_when_abandoned(20ms);
        stream->request_began(begun.request.token());
    });
    const auto one = attached();
    stream->let_go_of_connection();
    EXPECT_TRUE(one->client.head().in_events());
    EXPECT_EQ(one->client.event()->id, "5-1");
    EXPECT_FALSE(one->client.event());
    while (!begun.request.token().cancelled()) on.settle();
    EXPECT_EQ(begun.request.token().cause(), cancel_cause::disconnect);
}

TEST_F(message_stream_test, HTTP_1_HTTP_2_what_a_disconnect_means) {
    for (const bool is_cancel : {true, false}) {
        make(is_cancel ? modern() : resumable());
        bool over = false;
        on.on([&] { stream->when_over([&] { over = true; }); });
        auto one = attached();
        send("1");
        one->client.half_close();
        EXPECT_TRUE(one->closes());
        one.reset();
        EXPECT_EQ(on.on([&] { return over; }), is_cancel);
        EXPECT_EQ(on.on([&] { return stream->send("2", nullptr); }), !is_cancel);
    }
}

}  // namespace
}  // namespace andon::detail
