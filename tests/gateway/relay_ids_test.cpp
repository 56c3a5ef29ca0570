// Ids and progress tokens through a relay: whatever a host calls its requests, the server is never told another's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "andon/wire/error.hpp"
#include "gateway/recording.hpp"
#include "gateway/relay_hosts.hpp"

namespace andon {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view cancelled = R"("notifications/cancelled")";

struct front_case {
    const char* name;
    front_door by;
    revision speaks;
};

void PrintTo(const front_case& which, std::ostream* to) { *to << which.name; }

/// A recording_server of the host's era behind andon.
class relay_ids : public testing::TestWithParam<front_case> {
protected:
    relay_ids() {
        const words server = recorded.server(era_of(GetParam().speaks));
        with = relayed::through(GetParam().by, GetParam().speaks, folder, server);
        host = with.host.get();
    }
    [[nodiscard]] std::unique_ptr<relay_host> another_host() const {
        return std::make_unique<http_host>(*with.gateway, GetParam().speaks);
    }
    [[nodiscard]] static bool modern() { return era_of(GetParam().speaks) == era::modern; }
    /// Over HTTP a modern host cancels by closing its stream, and its ids are nobody's business.
    [[nodiscard]] static bool by_closing() { return GetParam().by == front_door::gateway && modern(); }
    /// The id that the server knows the call by whose arguments have this.
    [[nodiscard]] std::int64_t id_upstream(std::string_view text) const {
        const auto found = recorded.await(text);
        return found.empty() ? 0 : found.front().message().at("id").as_int64();
    }
    [[nodiscard]] std::vector<std::int64_t> cancels() const {
        std::vector<std::int64_t> all;
        for (const auto& each : recorded.with(cancelled)) {
            all.push_back(each.message().at("params").at("requestId").as_int64());
        }
        return all;
    }

    own_folder folder;
    recording recorded{folder};
    relayed with;
    relay_host* host = nullptr;
};

constexpr front_case fronts[] = {
    {"wrap_legacy", front_door::wrap, revision::v2025_11_25},
    {"wrap_modern", front_door::wrap, revision::v2026_07_28},
    {"gateway_legacy", front_door::gateway, revision::v2025_11_25},
    {"gateway_modern", front_door::gateway, revision::v2026_07_28},
};
INSTANTIATE_TEST_SUITE_P(fronts, relay_ids, testing::ValuesIn(fronts),
                         [](const auto& which) { return std::string(which.param.name); });

const std::string long_id = '"' + std::string(1'024, 'x') + '"';
const words ids{"0",
                "-1",
                "\"\"",
                "1",
                "\"1\"",
                "9007199254740992",
                "9007199254740993",
                "9007199254740994",
                "9223372036854775807",
                "-9223372036854775808",
                "\"9007199254740993\"",
                "\"\\u0000\"",
                "\"\\u00e9\\n\\\"\"",
                "\"\xC3\xA9\"",
                "\"$ID\"",
                long_id};

TEST_P(relay_ids, MSG_3_every_id_comes_back_in_its_own_bytes) {
    words all = ids;
    for (const char* each : {"-8.0", "7.0", "7e1", "\"\\/\"", "\"\\u0041\""}) all.emplace_back(each);
    for (std::size_t i = 0; i < all.size(); ++i) {
        host->call(all[i], "echo", R"({"text":"for )" + std::to_string(i) + R"( alone"})");
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_THAT(host->answer(all[i]), HasSubstr("for " + std::to_string(i) + " alone")) << all[i].substr(0, 40);
    }
    std::set<std::int64_t> upstream;
    for (const auto& each : recorded.with("tools/call")) upstream.insert(each.message().at("id").as_int64());
    EXPECT_EQ(upstream.size(), all.size()) << "each is another request to the server";
}

TEST_P(relay_ids, a_progress_token_of_null_asks_for_none_and_is_passed_on) {
    host->call("1", "tick", with_key("ticks"), R"("progressToken":null)");
    const auto found = recorded.await("ticks");
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_TRUE(found.front().message().at("params").at("_meta").at("progressToken").is_null());
    host->fence();
    EXPECT_THAT(host->unheard("1"), IsEmpty());
}

/// It names its own revision where modern ones do: that is no key of its revision, and means nothing.
TEST(relayed_meta, what_a_legacy_client_writes_of_its_revision_makes_its_request_no_modern_one) {
    for (const era behind : {era::legacy, era::modern}) {
        const own_folder folder;
        const recording recorded(folder);
        const gateway_in_front gateway(folder, recorded.server(behind));
        http_host host(gateway, revision::v2025_11_25);
        host.call("1", "echo", R"({"text":"served"})", R"("io.modelcontextprotocol/protocolVersion":"2025-11-25")");
        EXPECT_THAT(host.answer("1"), HasSubstr("served"));
        const auto sent = recorded.await("served").front().message();
        const auto& version = sent.at("params").at("_meta").at("io.modelcontextprotocol/protocolVersion");
        EXPECT_EQ(version, behind == era::modern ? "2026-07-28" : "2025-11-25");
        // A modern one has to say so in its headers as well.
        http_client other =
            host.client().call("2", "echo", "{}", R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")");
        EXPECT_EQ(other.head().status, 400);
        EXPECT_THAT(other.body(), HasSubstr("MCP-Protocol-Version"));
    }
}

TEST_P(relay_ids, MSG_3_RCV_10_another_spelling_is_the_same_id) {
    if (by_closing()) GTEST_SKIP() << "each request has a scope of its own";
    host->call("12", "hold", with_key("first"));
    const std::int64_t first = id_upstream("first");
    host->call("12.0", "echo", with_key("second"));
    EXPECT_THAT(host->answer("12.0"), HasSubstr("already in flight"));
    host->cancel("120e-1");
    static_cast<void>(recorded.await(cancelled));
    EXPECT_THAT(cancels(), testing::ElementsAre(first));
    EXPECT_THAT(recorded.with("second"), IsEmpty());
}

TEST_P(relay_ids, MSG_3_a_cancel_reaches_the_one_that_it_names) {
    std::vector<std::int64_t> upstream;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        host->call(ids[i], "hold", with_key("<" + std::to_string(i) + ">"));
        upstream.push_back(id_upstream("<" + std::to_string(i) + ">"));
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
        host->cancel(ids[i]);
        static_cast<void>(recorded.await(cancelled, i + 1));
        ASSERT_THAT(cancels(), SizeIs(i + 1)) << recorded.all();
        EXPECT_EQ(cancels().back(), upstream[i]) << ids[i].substr(0, 40);
    }
    for (const std::string& id : ids) {
        for (const std::string& line : host->unheard(id)) EXPECT_THAT(line, HasSubstr("-32800"));
    }
}

TEST_P(relay_ids, MSG_3_what_is_no_id_is_refused_and_never_reaches_the_server) {
    host->fence();
    for (const char* raw : {"1.5", "null", "true", "{}", "[1]", "9223372036854775808"}) {
        host->call(raw, "echo", with_key("no id"));
        EXPECT_THAT(host->message_with(raw, "-32600"), HasSubstr("the id is neither a string nor an integer")) << raw;
    }
    const std::string too_long = '"' + std::string(1'025, 'x') + '"';
    host->call(too_long, "echo", with_key("no id"));
    EXPECT_THAT(host->message_with(too_long, "-32600"), HasSubstr("the id is too long"));
    host->fence();
    EXPECT_THAT(recorded.with("no id"), IsEmpty());
}

TEST_P(relay_ids, MSG_3_every_progress_token_comes_back_in_its_own_bytes) {
    int next = 100;
    for (const char* const token :
         {"0", "-1", "\"\"", "\"1\"", "1", "9007199254740993", "9223372036854775807", "\"\\u0041\\/\"", "\"\xC3\xA9\"",
          "7.0", "1.5", "18446744073709551616", "\"$TOKEN\""}) {
        const std::string id = std::to_string(++next);
        host->call(id, "tick", "{}", R"("progressToken":)" + std::string(token));
        EXPECT_THAT(host->message_with(id, "notifications/progress"),
                    HasSubstr(R"("progressToken":)" + std::string(token) + ","));
        host->cancel(id);
    }
    // And the same at the same time, for two calls.
    for (const char* id : {"1", "2"}) host->call(id, "tick", "{}", R"("progressToken":"same")");
    for (const char* id : {"1", "2"}) {
        EXPECT_THAT(host->message_with(id, "notifications/progress"), HasSubstr(R"("progressToken":"same")"));
    }
}

TEST_P(relay_ids, RCV_8_an_id_is_free_as_soon_as_it_was_cancelled) {
    if (by_closing()) GTEST_SKIP() << "each request has a scope of its own";
    for (int i = 0; i < 20; ++i) {
        const std::string text = "again " + std::to_string(i) + '.';
        host->call("5", "hold", with_key(text));
        host->cancel("5");
        host->call("5", "echo", R"({"text":")" + text + R"("})");
        EXPECT_THAT(host->answer("5"), HasSubstr(text));
    }
    host->fence();
    // Whoever was cancelled before it was sent is not sent (DIR-3); of the others each is cancelled, once.
    std::multiset<std::int64_t> held;
    for (const auto& each : recorded.with(R"("hold")")) held.insert(each.message().at("id").as_int64());
    const auto told = cancels();
    EXPECT_EQ(std::multiset<std::int64_t>(told.begin(), told.end()), held);
}

TEST_P(relay_ids, RCV_5_RCV_6_cancels_that_name_nothing_never_reach_the_server) {
    host->call("1", "hold", with_key("here"));
    const std::int64_t upstream = id_upstream("here");
    const auto cancel_of = [](std::string_view raw_params) {
        return R"({"jsonrpc":"2.0","method":"notifications/cancelled")" +
               (raw_params.empty() ? "" : R"(,"params":)" + std::string(raw_params)) + '}';
    };
    for (const std::string& raw :
         {std::string("2"), std::string("\"1\""), std::string("1.5"), std::string("null"), std::string("[1]"),
          std::string("{}"), std::string("true"), std::to_string(upstream), std::to_string(upstream + 1),
          '"' + std::to_string(upstream) + '"', std::string("-1"), std::string("18446744073709551617")}) {
        host->tell(cancel_line(raw));
    }
    for (const char* const raw_params : {"", "{}", "[]", "null", "\"1\"", "1", R"({"requestId":1,"reason":5})",
                                         R"({"requestId":1,"requestId":1})", R"({"request_id":1})"}) {
        host->tell(cancel_of(raw_params));
    }
    host->tell(R"({"jsonrpc":"2.0","id":77,"method":"notifications/cancelled","params":{"requestId":1}})");
    host->fence();
    EXPECT_THAT(recorded.with("cancelled"), IsEmpty()) << recorded.all();
    host->cancel("1");
    static_cast<void>(recorded.await(cancelled));
    EXPECT_THAT(cancels(), testing::ElementsAre(upstream));
    // A second one says nothing new (RCV-7).
    if (!by_closing()) host->cancel("1");
    host->fence();
    EXPECT_THAT(cancels(), SizeIs(1));
}

TEST_P(relay_ids, DIR_6_equal_ids_of_two_hosts_are_two_requests) {
    if (GetParam().by == front_door::wrap) GTEST_SKIP() << "it has one host";
    const auto other = another_host();
    host->call("2", "hold", with_key("first host"), R"("progressToken":2)");
    other->call("2", "tick", with_key("second host"), R"("progressToken":2)");
    EXPECT_THAT(other->message_with("2", "notifications/progress"), HasSubstr(R"("progressToken":2)"));
    const std::int64_t first = id_upstream("first host");
    EXPECT_NE(first, id_upstream("second host"));
    // What is not theirs is nobody's.
    if (!modern()) {
        other->call("3", "hold", with_key("the other's"));
        static_cast<void>(id_upstream("the other's"));
        host->tell(cancel_line("3"));
        host->fence();
        EXPECT_THAT(cancels(), IsEmpty());
    }
    host->cancel("2");
    static_cast<void>(recorded.await(cancelled));
    EXPECT_THAT(cancels(), testing::ElementsAre(first));
    other->fence();
    EXPECT_THAT(other->unheard("2"), IsEmpty());
    other->call("4", "echo", R"({"text":"for the second"})");
    host->call("4", "echo", R"({"text":"for the first"})");
    EXPECT_THAT(host->answer("4"), HasSubstr("for the first"));
    EXPECT_THAT(other->answer("4"), HasSubstr("for the second"));
}

}  // namespace
}  // namespace andon
