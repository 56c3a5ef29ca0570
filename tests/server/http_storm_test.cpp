// Clients that come and go at any moment, many at once: every handler is told once, and nothing is left behind.
#include <atomic>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <random>
#include <thread>

#include "server/http_listening.hpp"
#include "transport/http/certificate.hpp"

namespace andon {
namespace {

using std::chrono::milliseconds;

const int streams = sanitized ? 160 : 1'000;
constexpr int threads = 4;
constexpr std::string_view asks_for_progress = R"("progressToken":"p")";

// So that all memory is counted in one place.
const int one_arena [[maybe_unused]] = ::mallopt(M_ARENA_MAX, 1);

std::size_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// What became of the calls, as their handlers saw it.
struct tally {
    std::atomic<int> begun = 0;
    std::atomic<int> told = 0;
    std::atomic<int> told_again = 0;
    std::atomic<int> ended = 0;
    std::atomic<int> of_disconnect = 0;

    /// One call's view of it.
    class entry {
    public:
        explicit entry(tally& all, const call& of) : all_(&all), noticed_(of.token(), told{this, &of}) { ++all.begun; }
        ~entry() { ++all_->ended; }

    private:
        struct told {
            entry* self;
            const call* of;
            void operator()() const noexcept {
                ++(self->times_++ == 0 ? self->all_->told : self->all_->told_again);
                if (of->cause() == cancel_cause::disconnect) ++self->all_->of_disconnect;
            }
        };
        tally* all_;
        std::atomic<int> times_ = 0;
        cancel_callback<told> noticed_;
    };
};

/// Progress until somebody stops it, without a thread.
async<std::string> tick(call& call, tally& all) {
    const tally::entry here(all, call);
    for (double done = 1;; ++done) {
        call.progress(done);
        co_await call.async_sleep_for(milliseconds(2));
    }
}

/// The same with one.
std::string tick_in_thread(const call& call, tally& all) {
    const tally::entry here(all, call);
    for (double done = 1;; ++done) {
        call.progress(done);
        call.sleep_for(milliseconds(2));
    }
}

async<std::string> tick_a_few_times(call& call, tally& all) {
    const tally::entry here(all, call);
    for (int done = 1; done < 4; ++done) {
        call.progress(done);
        co_await call.async_sleep_for(milliseconds(1));
    }
    co_return "done";
}

void add_tools(server& to, tally& all) {
    to.tool("tick", "", [&](call& call) { return tick(call, all); });
    to.tool("tick_in_thread", "", [&](call& call) { return tick_in_thread(call, all); });
    to.tool("few", "", [&](call& call) { return tick_a_few_times(call, all); });
}

server_options storm_server() {
    server_options options = quiet_server();
    options.requests.outcomes_kept = 64;
    options.workers = 8;  // each keeps some memory that it was done with
    return options;
}

class dice {
public:
    explicit dice(int seed) : engine_(static_cast<unsigned>(seed)) {}
    /// 0 to most - 1
    int operator()(int most) { return static_cast<int>(engine_() % static_cast<unsigned>(most)); }

private:
    std::mt19937 engine_;
};

/// Opens a stream and drops it at some moment. The id of the last event that it saw.
std::string open_and_drop(const http_caller& client, int number, dice& roll) {
    const std::string bytes =
        client.call_bytes(std::to_string(number), roll(4) == 0 ? "tick_in_thread" : "tick", "{}", asks_for_progress);
    http_client connection = client.connection();
    std::string last_seen;
    switch (roll(4)) {
        case 0: connection.write(std::string_view(bytes).substr(0, static_cast<std::size_t>(roll(400)))); break;
        case 1: connection.write(bytes); break;
        case 2:
            connection.write(bytes);
            static_cast<void>(connection.head());
            break;
        default:
            connection.write(bytes);
            if (!connection.head().in_events()) break;  // the server is leaving
            for (int events = roll(5) + 1; events > 0; --events) {
                const auto heard = connection.event();
                if (!heard) break;  // somebody has ended its session
                last_seen = heard->id.value_or(last_seen);
            }
    }
    switch (roll(3)) {
        case 0: connection.reset(); break;
        case 1: connection.half_close(); [[fallthrough]];
        default: connection.close();
    }
    return last_seen;
}

template <class F>
void in_threads(F f) {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back([&f, i] { f(i); });
    for (std::thread& each : all) each.join();
}

void modern_storm(const http_listening& server, const http_caller_options& how = {}, int count = streams) {
    in_threads([&](int thread) {
        dice roll(thread);
        const http_caller client = server.caller(revision::v2026_07_28, how);
        for (int i = 0; i < count / threads; ++i) open_and_drop(client, i, roll);
    });
}

/// With resumes, posted cancels and ends of sessions in between.
void legacy_storm(const http_listening& server, revision speaks) {
    in_threads([&](int thread) {
        dice roll(thread);
        http_caller client = server.caller(speaks);
        for (int i = 0; i < streams / threads; ++i) {
            const std::string last_seen = open_and_drop(client, i, roll);
            switch (roll(8)) {
                case 0: client.cancel(std::to_string(i)); break;
                case 1:
                    EXPECT_EQ(client.send(client.delete_bytes()).head().status, 204);
                    client.use_session({});
                    client.open();
                    break;
                case 2:
                case 3:
                    if (!last_seen.empty()) {
                        http_client back = client.get(last_seen);
                        EXPECT_TRUE(back.head().in_events());
                        if (roll(2) == 0) static_cast<void>(back.event());
                    }
                    break;
                default: break;
            }
        }
    });
}

TEST(http_storm, HTTP_1_every_dropped_stream_is_one_cancel) {
    tally all;
    http_listening server(storm_server());
    add_tools(*server, all);
    const std::size_t before = open_descriptors();
    server.listen();
    modern_storm(server);
    EXPECT_TRUE(server.empties());
    EXPECT_GT(all.begun, streams / 2);
    EXPECT_TRUE(eventually([&] { return all.ended == all.begun; }));
    EXPECT_EQ(all.told, all.begun);
    EXPECT_EQ(all.told_again, 0);
    EXPECT_EQ(all.of_disconnect, all.begun);
    server.destroy();
    EXPECT_EQ(all.ended, all.begun);
    EXPECT_LE(open_descriptors(), before);  // the server's own are gone too
}

TEST(http_storm, HTTP_1_every_dropped_stream_is_one_cancel_with_tls) {
    const certificate self_signed;
    tally all;
    http_listening server(storm_server());
    add_tools(*server, all);
    server.listen({.certificate = self_signed.file(), .private_key = self_signed.key_file()});
    modern_storm(server, {.connection = {.trusted = self_signed.file()}}, streams / 4);
    EXPECT_TRUE(server.empties());
    EXPECT_TRUE(eventually([&] { return all.ended == all.begun; }));
    EXPECT_GT(all.begun, streams / 8);
    EXPECT_EQ(all.told, all.begun);
    EXPECT_EQ(all.told_again, 0);
}

class legacy_http_storm : public testing::TestWithParam<revision> {};
INSTANTIATE_TEST_SUITE_P(every, legacy_http_storm, testing::ValuesIn(legacy_http_revisions), revision_name());

TEST_P(legacy_http_storm, HTTP_2_every_stream_that_nobody_comes_back_for_is_one_cancel) {
    tally all;
    http_listening server(storm_server());
    add_tools(*server, all);
    server.listen({.abandon_after = milliseconds(50)});
    legacy_storm(server, GetParam());
    EXPECT_TRUE(server.empties());
    EXPECT_GT(all.begun, streams / 2);
    EXPECT_TRUE(eventually([&] { return all.ended == all.begun; }));
    EXPECT_EQ(all.told, all.begun);
    EXPECT_EQ(all.told_again, 0);
}

TEST_P(legacy_http_storm, RCV_9_a_posted_cancel_and_the_answer_never_both) {
    tally all;
    http_listening server(storm_server());
    add_tools(*server, all);
    server.listen();
    std::atomic<int> results = 0;
    std::atomic<int> cancelled = 0;
    in_threads([&](int thread) {
        dice roll(thread);
        const http_caller client = server.caller(GetParam());
        for (int i = 0; i < streams / threads / 2; ++i) {
            http_client stream = client.call(std::to_string(i), "few", "{}", asks_for_progress);
            const http_answer head = stream.head();
            for (int events = roll(5); events > 0 && stream.event(); --events) {
            }
            client.cancel(std::to_string(i));
            // What is left of it: an answer or an error, once; or nothing, where that was read already.
            int answers = 0;
            while (const auto heard = stream.event()) {
                if (heard->data.empty()) continue;
                const json::object message = heard->message();
                if (message.contains("result")) ++results;
                if (message.contains("error")) ++cancelled;
                answers += message.contains("result") || message.contains("error") ? 1 : 0;
            }
            EXPECT_LE(answers, 1);
        }
    });
    EXPECT_TRUE(server.empties());
    EXPECT_GT(results + cancelled, 0);
    EXPECT_EQ(all.begun, streams / threads / 2 * threads);
    // A handler that was told is one whose call was cancelled; a cancel that came behind the handler's end tells
    // nobody.
    EXPECT_LE(all.told, cancelled);
    EXPECT_EQ(all.told_again, 0);
}

TEST(http_storm, RCV_2_storms_leave_no_memory_and_no_descriptor_behind) {
    if (sanitized) GTEST_SKIP() << "the sanitizers have their own ways with memory";
    tally all;
    http_listening server(storm_server());
    add_tools(*server, all);
    server.listen({.abandon_after = milliseconds(20)});
    const auto storm = [&] {
        modern_storm(server);
        for (const revision each : legacy_http_revisions) {
            in_threads([&](int thread) {
                dice roll(thread);
                http_caller client = server.caller(each);
                for (int i = 0; i < streams / threads / 4; ++i) open_and_drop(client, i, roll);
                EXPECT_EQ(client.send(client.delete_bytes()).head().status, 204);
            });
        }
        EXPECT_TRUE(server.empties());
        EXPECT_TRUE(eventually([&] { return all.ended == all.begun; }));
        server.caller(revision::v2026_07_28).fence();
    };
    storm();
    const std::size_t descriptors = open_descriptors();
    const std::size_t memory = ::mallinfo2().uordblks;
    for (int i = 0; i < 3; ++i) storm();
    EXPECT_TRUE(eventually([&] { return open_descriptors() <= descriptors; })) << open_descriptors();
    // A hundred bytes for each stream would be three times that.
    EXPECT_TRUE(eventually([&] { return ::mallinfo2().uordblks < memory + 150'000; }))
        << memory << " bytes before, and then " << ::mallinfo2().uordblks;
}

class any_http_storm : public testing::TestWithParam<revision> {};
INSTANTIATE_TEST_SUITE_P(every, any_http_storm, testing::ValuesIn(http_revisions), revision_name());

TEST_P(any_http_storm, RCV_1_the_server_leaves_in_the_middle) {
    for (int round = 0; round < (sanitized ? 4 : 12); ++round) {
        tally all;
        recorded<int> calls;
        http_listening server(storm_server());
        add_tools(*server, all);
        server.listen();
        std::atomic<bool> over = false;
        std::vector<http_caller> clients;
        for (int i = 0; i < threads; ++i) clients.push_back(server.caller(GetParam()));
        std::thread storm([&] {
            in_threads([&](int thread) {
                dice roll(thread + round * threads);
                const http_caller& client = clients[static_cast<std::size_t>(thread)];
                std::vector<http_client> kept;
                try {
                    for (int i = 0; i < streams && !over; ++i) {
                        if (roll(2) == 0) {
                            kept.push_back(client.call(std::to_string(i + streams), "tick", "{}", asks_for_progress));
                        } else {
                            open_and_drop(client, i, roll);
                        }
                        if (kept.size() > 16) kept.erase(kept.begin());
                        calls.add(i);
                    }
                } catch (const std::exception&) {  // there is nobody to talk to any more
                }
            });
        });
        EXPECT_TRUE(calls.reach(static_cast<std::size_t>(20 * (round % 4 + 1))));
        server.destroy();
        over = true;
        storm.join();
        EXPECT_EQ(all.ended, all.begun);
        EXPECT_EQ(all.told, all.begun);
        EXPECT_EQ(all.told_again, 0);
    }
}

}  // namespace
}  // namespace andon
