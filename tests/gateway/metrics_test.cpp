#include "gateway/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

namespace andon::gateway {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

TEST(metrics, count_what_the_relay_does) {
    relay_metrics metrics;
    server_metrics& files = metrics.of("files");
    EXPECT_EQ(&files, &metrics.of("files"));
    for (int i = 0; i < 4; ++i) files.request_began();
    files.request_ended(call_end::completed);
    files.cancelled(cancel_cause::timeout);
    files.cancelled(cancel_cause::operator_);
    files.cancelled_ended(call_end::timed_out);
    files.ignored();
    files.late_dropped(4);
    files.restarted();
    files.killed(2);
    files.session_began();
    files.session_began();
    files.session_ended();
    metrics.journal_lost(7);
    const std::string text = metrics.text();
    for (const char* line : {
             "andon_requests_total{server=\"files\"} 4\n",
             "andon_request_ends_total{server=\"files\",end=\"completed\"} 1\n",
             "andon_request_ends_total{server=\"files\",end=\"timed out\"} 1\n",
             "andon_requests_in_flight{server=\"files\"} 1\n",
             "andon_requests_stopping{server=\"files\"} 1\n",
             "andon_sessions{server=\"files\"} 1\n",
             "andon_cancels_total{server=\"files\",cause=\"peer\"} 0\n",
             "andon_cancels_total{server=\"files\",cause=\"timeout\"} 1\n",
             "andon_cancels_total{server=\"files\",cause=\"operator\"} 1\n",
             "andon_cancels_ignored_total{server=\"files\"} 1\n",
             "andon_late_messages_dropped_total{server=\"files\"} 4\n",
             "andon_restarts_total{server=\"files\"} 1\n",
             "andon_processes_killed_total{server=\"files\"} 2\n",
             "andon_journal_lost_total 7\n",
             "# TYPE andon_requests_total counter\n",
             "# TYPE andon_time_to_stop_seconds histogram\n",
             "# TYPE andon_requests_in_flight gauge\n",
         }) {
        EXPECT_THAT(text, HasSubstr(line));
    }
}

TEST(metrics, histograms_are_cumulative) {
    relay_metrics metrics;
    server_metrics& files = metrics.of("files");
    for (const duration each : std::initializer_list<duration>{0ms, 1ms, 1001us, 40ms, 2s, 1h, -1s})
        files.stopped(each);
    files.noticed(3ms);
    const std::string text = metrics.text();
    for (const char* line : {
             "andon_time_to_stop_seconds_bucket{server=\"files\",le=\"0.001\"} 3\n",
             "andon_time_to_stop_seconds_bucket{server=\"files\",le=\"0.005\"} 4\n",
             "andon_time_to_stop_seconds_bucket{server=\"files\",le=\"0.05\"} 5\n",
             "andon_time_to_stop_seconds_bucket{server=\"files\",le=\"2.5\"} 6\n",
             "andon_time_to_stop_seconds_bucket{server=\"files\",le=\"300\"} 6\n",
             "andon_time_to_stop_seconds_bucket{server=\"files\",le=\"+Inf\"} 7\n",
             "andon_time_to_stop_seconds_sum{server=\"files\"} 3602.042001\n",
             "andon_time_to_stop_seconds_count{server=\"files\"} 7\n",
             "andon_time_to_notice_seconds_count{server=\"files\"} 1\n",
         }) {
        EXPECT_THAT(text, HasSubstr(line));
    }
}

TEST(metrics, labels_are_escaped) {
    relay_metrics metrics;
    metrics.of("a\"b\\c\nd\x1b").request_began();
    const std::string text = metrics.text();
    EXPECT_THAT(text, HasSubstr(R"(andon_requests_total{server="a\"b\\c\\nd\\x1b"} 1)"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(metrics, the_number_of_servers_is_bounded) {
    relay_metrics metrics;
    for (int i = 0; i < 10'000; ++i) metrics.of("server" + std::to_string(i)).request_began();
    const std::string text = metrics.text();
    EXPECT_THAT(text, HasSubstr("andon_requests_total{server=\"other\"} 9744\n"));
    EXPECT_THAT(text, HasSubstr("andon_requests_total{server=\"server255\"} 1\n"));
    EXPECT_THAT(text, Not(HasSubstr("server=\"server256\"")));
}

/// As the format has it: every line is a remark or a sample, and each family is announced once, before its samples.
TEST(metrics, the_text_is_well_formed) {
    relay_metrics metrics;
    static_cast<void>(metrics.of("a"));
    static_cast<void>(metrics.of("b"));
    std::istringstream text(metrics.text());
    std::set<std::string> announced;
    std::set<std::string> samples;
    std::string family;
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("# HELP ")) {
            family = line.substr(7, line.find(' ', 7) - 7);
            EXPECT_TRUE(announced.insert(family).second) << family << " twice";
        } else if (!line.starts_with("# TYPE " + family + ' ')) {
            EXPECT_TRUE(line.starts_with(family)) << line;
            EXPECT_THAT(line, testing::MatchesRegex("[a-z_]+([{][^}]*[}])? [0-9.]+"));
            EXPECT_TRUE(samples.insert(line.substr(0, line.rfind(' '))).second) << line << " twice";
        }
    }
    EXPECT_GT(announced.size(), 9U);
}

TEST(metrics, are_updated_and_read_from_any_thread) {
    relay_metrics metrics;
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&metrics, i] {
            for (int n = 0; n < 1'000; ++n) {
                server_metrics& one = metrics.of("server" + std::to_string(n % 3));
                one.request_began();
                one.stopped(1ms);
                if (i == 0 && n % 100 == 0) static_cast<void>(metrics.text());
            }
        });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_THAT(metrics.text(), HasSubstr("andon_requests_total{server=\"server0\"} 1336\n"));
}

}  // namespace
}  // namespace andon::gateway
