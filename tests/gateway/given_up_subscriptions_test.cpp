// A legacy host that subscribes at a modern server, and does not wait for it any more.
#include <gmock/gmock.h>

#include "gateway/in_front.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Of a subscriptions/listen that has this in its filter.
std::string id_of_listen(in_front& front, const std::string& uri) {
    std::string line;
    front.andon().wait_until(
        [&] {
            return !(line = front.andon().log_line_with({"@listens ", uri})).empty();
        },
        "a listen with " + uri);
    const std::size_t from = line.find("@listens ") + std::string_view("@listens ").size();
    return line.substr(from, line.find(' ', from) - from);
}

void subscribe(in_front& front, std::string_view raw_id, const std::string& uri) {
    front.request(raw_id, "resources/subscribe", R"("uri":")" + uri + '"');
}

TEST(given_up_subscriptions, RCV_12_the_subscription_goes_with_the_request_and_is_not_asked_for_again) {
    in_front front(hosted::legacy_gateway, {.arguments = {"--era", "modern"}});
    front.open();
    subscribe(front, "1", "a:1");
    EXPECT_EQ(code_of(front.answer("1")), 0);
    // More of them than may wait at once.
    for (int i = 0; i < 80; ++i) {
        const std::string uri = "silent:" + std::to_string(i) + '.';
        subscribe(front, "2", uri);
        const std::string listens = id_of_listen(front, uri);
        front.cancel("2");
        front.andon().mark("cancelled", listens);
        front.expect_silence("2");
    }
    subscribe(front, "3", "a:2");
    EXPECT_EQ(code_of(front.answer("3")), 0);
    EXPECT_THAT(front.andon().log_line_with({"@listens "}),
                AllOf(HasSubstr("a:1"), HasSubstr("a:2"), Not(HasSubstr("silent:"))));
    EXPECT_TRUE(front.in_flight().empty());
}

TEST(given_up_subscriptions, TIME_2_one_that_takes_too_long_goes_too) {
    in_front front(hosted::legacy_gateway, {.arguments = {"--era", "modern"}, .keys = "timeout = \"200ms\""});
    front.open();
    subscribe(front, "1", "silent:1");
    EXPECT_EQ(code_of(front.answer("1")), -32001);
    front.andon().mark("cancelled", id_of_listen(front, "silent:1"));
    subscribe(front, "2", "a:2");
    EXPECT_EQ(code_of(front.answer("2")), 0);
    EXPECT_THAT(front.andon().log_line_with({"@listens "}), AllOf(HasSubstr("a:2"), Not(HasSubstr("silent:"))));
}

}  // namespace
}  // namespace andon
