#include "transport/http/sse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <string>
#include <vector>

#include "core/named_case.hpp"

namespace andon::detail {
namespace {

using namespace std::string_literals;
using namespace std::chrono_literals;

/// An event as one text: `id|retry|type|data`, with "-" for what it does not have.
std::string shown(const sse_parser::event& event) {
    return event.id.value_or("-") + '|' + (event.retry ? std::to_string(event.retry->count()) : "-") + '|' +
           event.type + '|' + event.data;
}

std::vector<std::string> events_of(std::string_view bytes, std::size_t chunk, std::size_t largest = 1'000) {
    sse_parser parser(largest);
    std::vector<std::string> events;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(chunk, bytes.size()))) {
        std::string_view part = bytes.substr(0, chunk);
        while (const auto event = parser.next(part)) events.push_back(shown(*event));
        EXPECT_TRUE(part.empty());
    }
    if (parser.failed()) events.emplace_back("(failed)");
    return events;
}

struct sse_case {
    const char* name;
    std::string bytes;
    std::vector<std::string> events;
    std::size_t largest = 1'000;
};

class sse : public testing::TestWithParam<sse_case> {};

TEST_P(sse, gives_the_same_events_wherever_the_chunks_end) {
    const sse_case& given = GetParam();
    for (std::size_t chunk = 1; chunk <= given.bytes.size(); ++chunk) {
        EXPECT_EQ(events_of(given.bytes, chunk, given.largest), given.events) << "in chunks of " << chunk;
    }
}

INSTANTIATE_TEST_SUITE_P(
    cases, sse,
    testing::Values(
        sse_case{"a_message", "event: message\ndata: {\"a\":1}\n\n", {"-|-|message|{\"a\":1}"}},
        sse_case{"without_a_name_it_is_a_message", "data: x\n\n", {"-|-|message|x"}},
        sse_case{"everything", "id: 7\nretry: 250\nevent: endpoint\ndata: /x\n\n", {"7|250|endpoint|/x"}},
        sse_case{"ends_of_lines_of_every_kind",
                 "data: a\r\n\r\ndata: b\r\rdata: c\n\ndata: d\r\n\n",
                 {"-|-|message|a", "-|-|message|b", "-|-|message|c", "-|-|message|d"}},
        sse_case{"a_return_and_a_newline_are_one_end", "data: a\r\ndata: b\r\n\r\n", {"-|-|message|a\nb"}},
        sse_case{"a_newline_and_a_return_are_two", "data: a\n\rdata: b\n\n", {"-|-|message|a", "-|-|message|b"}},
        sse_case{"several_lines_of_data", "data: a\ndata\ndata:\ndata:  b\n\n", {"-|-|message|a\n\n\n b"}},
        sse_case{
            "one_space_only_is_no_part_of_the_value", "data:  x \n\ndata:y\n\n", {"-|-|message| x ", "-|-|message|y"}},
        sse_case{"a_colon_in_the_value", "data: a:b\n\n", {"-|-|message|a:b"}},
        sse_case{"empty_data_is_data", "data:\n\ndata\n\n", {"-|-|message|", "-|-|message|"}},
        sse_case{"an_event_to_resume_from", "id: s-1\ndata:\n\n", {"s-1|-|message|"}},
        sse_case{"an_id_alone_is_told", "id: 5\n\n", {"5|-|message|"}},
        sse_case{"a_retry_alone_is_told", "retry: 10\n\n", {"-|10|message|"}},
        sse_case{"an_empty_id_takes_it_back", "id\ndata: x\n\n", {"|-|message|x"}},
        sse_case{"the_last_id_of_an_event_holds", "id: 1\nid: 2\ndata: x\n\n", {"2|-|message|x"}},
        sse_case{"an_id_with_a_nul_is_ignored", "id: 1\nid: a\0b\ndata: x\n\n"s, {"1|-|message|x"}},
        sse_case{"an_id_is_not_carried_over", "id: 1\ndata: x\n\ndata: y\n\n", {"1|-|message|x", "-|-|message|y"}},
        sse_case{"a_name_alone_is_nothing", "event: x\n\ndata: y\n\n", {"-|-|message|y"}},
        sse_case{"blank_lines_are_nothing", "\n\n\r\n\r\rdata: y\n\n\n\n", {"-|-|message|y"}},
        sse_case{"comments", ": hello\n\n:\n:data: no\ndata: y\n: again\n\n:\n\n", {"-|-|message|y"}},
        sse_case{"fields_that_nobody_knows", "data : x\nDATA: x\nfoo: x\nfoo\ndata: y\n\n", {"-|-|message|y"}},
        sse_case{"a_mark_of_the_byte_order",
                 "\xEF\xBB\xBF"
                 "data: x\n\n",
                 {"-|-|message|x"}},
        sse_case{"a_mark_before_a_comment", "\xEF\xBB\xBF: x\ndata: y\n\n", {"-|-|message|y"}},
        sse_case{"a_mark_anywhere_else_belongs_to_the_name",
                 "\n\xEF\xBB\xBF"
                 "data: x\ndata: y\n\n",
                 {"-|-|message|y"}},
        sse_case{"two_marks_are_one_too_many",
                 "\xEF\xBB\xBF\xEF\xBB\xBF"
                 "data: x\ndata: y\n\n",
                 {"-|-|message|y"}},
        sse_case{"half_a_mark",
                 "\xEF\xBB"
                 "data: x\ndata: y\n\n",
                 {"-|-|message|y"}},
        sse_case{"what_the_end_cuts_off_is_lost", "data: x\n\nid: 2\ndata: y\n", {"-|-|message|x"}},
        sse_case{"a_retry_is_digits_only",
                 "retry: 1a\nretry: -5\nretry:\nretry: 5\nretry:  6\ndata: x\n\n",
                 {"-|5|message|x"}},
        sse_case{"a_retry_of_ages_is_a_day",
                 "retry: 99999999999999999999999999\n\nretry: 86400001\n\n",
                 {"-|86400000|message|", "-|86400000|message|"}},
        sse_case{"any_bytes_are_data", "data: \xFF\0\x1B\n\n"s, {"-|-|message|\xFF\0\x1B"s}},
        sse_case{"as_large_as_allowed", "data: 0123\n\n", {"-|-|message|0123"}, 10},
        sse_case{"one_byte_too_large",
                 "data: y\n\ndata: 01234\n\ndata: x\n\n",
                 {"-|-|message|y", "-|-|message|x", "(failed)"},
                 10},
        sse_case{"many_small_lines_are_large_together",
                 "data: x\n\ndata: 0\ndata: 1\ndata: 2\ndata: 3\n\n",
                 {"-|-|message|x", "(failed)"},
                 11},
        sse_case{"empty_lines_of_data_count", "data\ndata\ndata\ndata\ndata\ndata\n\n", {"(failed)"}, 7},
        sse_case{
            "the_name_and_the_id_count", "id: 0123\nevent: 0123\ndata: 0123\n\n", {"0123|-|0123|", "(failed)"}, 17},
        sse_case{"one_that_is_too_large_is_skipped_to_its_end",
                 "id: 7\ndata: 01234\ndata: x\n: no\r\n\r\ndata: y\n\n",
                 {"7|-|message|", "-|-|message|y", "(failed)"},
                 10},
        sse_case{"of_one_that_is_too_large_an_id_behind_its_data_is_kept",
                 "id: 7\ndata: 01234\nid: 8\nidea: 9\n\ndata: 01234\nid:a\0b\nid: " + std::string(2'000, 'x') + "\n\n"s,
                 {"8|-|message|", "(failed)"},
                 10},
        sse_case{"a_line_without_an_end", "0123456789a", {"(failed)"}, 10},
        sse_case{"a_long_comment_costs_nothing", ": 0123456789abcdef\ndata: x\n\n", {"-|-|message|x"}, 10}),
    by_name());

TEST(sse_parser, does_not_slow_down_on_lines_of_one_byte) {
    const std::string returns(4'000'000, '\r');
    std::string_view bytes = returns;
    sse_parser parser(1'000);
    EXPECT_FALSE(parser.next(bytes));  // quadratic, it would take hours
    EXPECT_FALSE(parser.failed());
}

TEST(sse_parser, an_endless_comment_is_not_kept) {
    sse_parser parser(10);
    std::string_view begin = ": ";
    EXPECT_FALSE(parser.next(begin));
    const std::string much(100'000, 'x');
    for (int i = 0; i < 100; ++i) {
        std::string_view bytes = much;
        EXPECT_FALSE(parser.next(bytes));
    }
    std::string_view end = "\ndata: x\n\n";
    const auto event = parser.next(end);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->data, "x");
}

TEST(sse_event, is_framed_on_lines_of_its_own) {
    EXPECT_EQ(sse_event(R"({"a":1})"), "event: message\ndata: {\"a\":1}\n\n");
    EXPECT_EQ(sse_event("x", "s-1"), "event: message\nid: s-1\ndata: x\n\n");
    EXPECT_EQ(sse_event("x", "s-1", 250ms), "event: message\nid: s-1\nretry: 250\ndata: x\n\n");
    EXPECT_EQ(sse_event("", "s-1"), "event: message\nid: s-1\ndata: \n\n");
    EXPECT_EQ(sse_event("x", "", -5ms), "event: message\nretry: 0\ndata: x\n\n");
}

TEST(sse_event, says_nothing_but_its_data_whatever_is_in_it) {
    for (const std::string& id : {"a\nb"s, "a\rdata: b"s, "a\0b"s}) {
        EXPECT_EQ(sse_event("x", id), "event: message\ndata: x\n\n");
    }
    EXPECT_EQ(events_of(sse_event("a\n\nid: 5\r\rb\r\nc\r"), 100),
              (std::vector<std::string>{"-|-|message|a\n\nid: 5\n\nb\nc\n"}));
}

RC_GTEST_PROP(sse_event, is_read_as_it_was_written, (std::string data)) {
    std::erase_if(data, [](char c) { return c == '\r'; });
    RC_ASSERT(events_of(sse_event(data, "7", 5ms), 7, 1U << 20U) == (std::vector<std::string>{"7|5|message|" + data}));
}

}  // namespace
}  // namespace andon::detail
