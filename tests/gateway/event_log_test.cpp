#include "gateway/event_log.hpp"

#include <boost/json.hpp>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>

#include "gateway/journal/moment_text.hpp"
#include "gateway/journal_entries.hpp"
#include "own_folder.hpp"

namespace andon::gateway {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A pipe, or a terminal, that a log writes to.
class log_reader {
public:
    enum class kind { pipe, terminal };
    explicit log_reader(kind what) {
        int ends[2] = {-1, -1};
        if (what == kind::pipe) {
            EXPECT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
        } else {
            EXPECT_EQ(::openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr), 0);
            EXPECT_EQ(::fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
        }
        out_ = ends[0];
        in_ = ends[1];
    }
    ~log_reader() {
        ::close(out_);
        ::close(in_);
    }
    log_reader(const log_reader&) = delete;
    log_reader& operator=(const log_reader&) = delete;

    [[nodiscard]] int descriptor() const { return in_; }
    /// What is there: writing does not wait, so neither does this.
    [[nodiscard]] std::string text() const {
        std::string all;
        std::array<char, 65'536> some{};
        for (ssize_t size = 0; (size = ::read(out_, some.data(), some.size())) > 0;) {
            all.append(some.data(), static_cast<std::size_t>(size));
        }
        return all;
    }

private:
    int out_ = -1;
    int in_ = -1;
};

class event_lines : public testing::Test {
protected:
    own_variable no_color{"NO_COLOR", nullptr};
    own_variable term{"TERM", "xterm"};
    log_reader pipe{log_reader::kind::pipe};

    [[nodiscard]] json::object only_line() const {
        const std::string text = pipe.text();
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
        boost::json::error_code error;
        const json::value parsed = json::parse(text, error);
        EXPECT_FALSE(error) << text;
        return parsed.is_object() ? parsed.as_object() : json::object();
    }
};

TEST_F(event_lines, is_json_where_no_terminal_is) {
    const event_log log({}, pipe.descriptor());
    log.line(log_level::warning, "the server is gone");
    const json::object line = only_line();
    EXPECT_EQ(line.at("level"), "warning");
    EXPECT_EQ(line.at("message"), "the server is gone");
    EXPECT_THAT(std::string(line.at("time").as_string()), testing::MatchesRegex("2...-..-..T..:..:..\\....Z"));
    EXPECT_FALSE(line.contains("event"));
}

TEST_F(event_lines, is_for_people_on_a_terminal_with_colours) {
    const log_reader terminal(log_reader::kind::terminal);
    const event_log log({}, terminal.descriptor());
    log.line(log_level::warning, "the server is gone");
    EXPECT_THAT(terminal.text(), HasSubstr(" andon \x1b[33mwarning\x1b[0m: the server is gone"));
    log.line(log_level::info, "ready");
    EXPECT_THAT(terminal.text(), HasSubstr(" andon info: ready"));
}

TEST_F(event_lines, has_no_colours_where_they_are_not_wanted) {
    const log_reader terminal(log_reader::kind::terminal);
    {
        const own_variable no("NO_COLOR", "1");
        event_log({}, terminal.descriptor()).line(log_level::error, "x");
        EXPECT_THAT(terminal.text(), Not(HasSubstr("\x1b")));
    }
    const own_variable dumb("TERM", "dumb");
    event_log({}, terminal.descriptor()).line(log_level::error, "x");
    EXPECT_THAT(terminal.text(), Not(HasSubstr("\x1b")));
    event_log({.format = log_format::human}, pipe.descriptor()).line(log_level::error, "x");
    const std::string text = pipe.text();
    EXPECT_THAT(text, HasSubstr(" andon error: x\n"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    event_log({.format = log_format::json}, terminal.descriptor()).line(log_level::error, "x");
    EXPECT_THAT(terminal.text(), HasSubstr("\"message\":\"x\""));
}

TEST_F(event_lines, leaves_out_what_is_below_its_level) {
    const event_log log({.level = log_level::warning}, pipe.descriptor());
    log.line(log_level::info, "x");
    EXPECT_EQ(pipe.text(), "");
    log.line(log_level::error, "y");
    EXPECT_NE(pipe.text(), "");
}

TEST_F(event_lines, RCV_11_a_cancel_is_logged_with_its_cause_reason_request_and_session) {
    const journal_entry entry = full_entry();
    const event_log log({}, pipe.descriptor());
    log.cancel_asked(entry.call);
    const json::object asked = only_line();
    EXPECT_EQ(asked.at("event"), "cancel");
    EXPECT_EQ(asked.at("cause"), "peer");
    EXPECT_EQ(asked.at("reason"), "the user pressed Stop");
    EXPECT_EQ(asked.at("asked_by"), "host");
    EXPECT_EQ(asked.at("tool"), "search");
    EXPECT_EQ(asked.at("id"), "9007199254740993");
    EXPECT_EQ(asked.at("session"), "stdio");
    EXPECT_EQ(asked.at("server"), "files");
    EXPECT_EQ(asked.at("traceparent"), json::string(entry.call.traceparent));
    log.cancel_ignored(entry.call, "its process is killed");
    const json::object ignored = only_line();
    EXPECT_EQ(ignored.at("event"), "cancel_ignored");
    EXPECT_EQ(ignored.at("level"), "warning");
    EXPECT_EQ(ignored.at("doing"), "its process is killed");
    log.cancel_over(entry);
    const json::object over = only_line();
    EXPECT_EQ(over.at("event"), "cancel_over");
    EXPECT_EQ(over.at("evidence"), "killed");
    EXPECT_DOUBLE_EQ(over.at("time_to_stop_ms").as_double(), 2'041.007);
    EXPECT_EQ(over.at("ignored"), true);
    EXPECT_EQ(over.at("late_messages"), 3);
    EXPECT_EQ(over.at("killed"), 2);
    EXPECT_EQ(over.at("traceparent"), json::string(entry.call.traceparent));
}

TEST_F(event_lines, tells_people_the_way_of_a_cancel_in_words) {
    const journal_entry entry = full_entry();
    const event_log log({.format = log_format::human}, pipe.descriptor());
    log.cancel_asked(entry.call);
    EXPECT_THAT(pipe.text(), HasSubstr("files: request 9007199254740993 (tools/call search) of session stdio "
                                       "cancelled: peer, the user pressed Stop\n"));
    log.cancel_over(entry);
    EXPECT_THAT(pipe.text(), HasSubstr("ignored its cancel, and stopped after 2.04 s (killed), 3 late messages "
                                       "dropped, 2 processes killed\n"));
}

TEST_F(event_lines, MSG_4_a_reason_never_breaks_a_line_or_a_terminal) {
    const log_reader terminal(log_reader::kind::terminal);
    journal_entry entry = full_entry();
    for (const std::string& hostile :
         {std::string("a\nandon: forged\x1b[2J\x1b]0;t\x07"), std::string("\r\u2028\u202e\xFF\xC0"),
          std::string("\0x", 2), std::string(1'000'000, '\n'), std::string(1'000'000, '"'),
          "\"}{" + std::string(100'000, '\\')}) {
        entry.call.reason = entry.call.tool = entry.call.request_id = entry.call.asked_by = entry.call.session =
            hostile;
        event_log({}, pipe.descriptor()).cancel_over(entry);
        const json::object line = only_line();
        EXPECT_EQ(line.at("event"), "cancel_over");
        const event_log human({}, terminal.descriptor());
        human.cancel_asked(entry.call);
        human.sink()(log_level::info, hostile);
        const std::string text = terminal.text();
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
        EXPECT_THAT(text, Not(HasSubstr("\x1b[2J")));
        EXPECT_THAT(text, Not(HasSubstr("\x07")));
    }
}

TEST_F(event_lines, never_waits_for_a_reader_and_outlives_one_that_left) {
    const event_log log({}, pipe.descriptor());
    for (int i = 0; i < 2'000; ++i) log.line(log_level::info, std::string(500, 'x'));  // more than the pipe holds
    const std::string text = pipe.text();
    EXPECT_EQ(text.back(), '\n') << "whole lines";
    int ends[2] = {-1, -1};
    ASSERT_EQ(::pipe(ends), 0);
    ::close(ends[0]);
    event_log({}, ends[1]).line(log_level::info, "nobody hears this");
    ::close(ends[1]);
    event_log({}, ends[1]).line(log_level::info, "nor this");
}

TEST_F(event_lines, its_sink_outlives_it) {
    const log_sink_function sink = event_log({}, pipe.descriptor()).sink();
    sink(log_level::error, "late");
    EXPECT_EQ(only_line().at("message"), "late");
}

TEST(stop_text, says_how_the_work_came_to_its_end) {
    using namespace std::chrono_literals;
    journal_entry entry;
    EXPECT_EQ(stop_text(entry), "");
    entry.call.cause = cancel_cause::peer;
    entry.evidence = stop_evidence::quiet;
    entry.time_to_stop = 4'100us;
    EXPECT_EQ(stop_text(entry), "stopped in 4.1 ms (quiet)");
    entry.late_messages = entry.killed = 1;
    EXPECT_EQ(stop_text(entry), "stopped in 4.1 ms (quiet), 1 late message dropped, 1 process killed");
    journal_entry early;
    early.call.cause = cancel_cause::peer;
    early.time_to_stop = 0us;
    EXPECT_EQ(stop_text(early), "it had not begun");
    journal_entry unseen;
    unseen.call.cause = cancel_cause::timeout;
    unseen.evidence = stop_evidence::unseen;
    EXPECT_EQ(stop_text(unseen), "was not heard of again (unseen)");
}

}  // namespace
}  // namespace andon::gateway
