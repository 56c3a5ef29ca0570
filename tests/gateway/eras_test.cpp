// Clients of either era in front of servers of either era, over every pair of transports that the gateway joins.
#include <andon/client/client.hpp>
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "built_programs.hpp"
#include "gateway/listening_program.hpp"
#include "own_folder.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

struct era_case {
    const char* name;
    revision client;
    const char* server_era;  // empty: both
    bool url;                // the server is behind one
};

void PrintTo(const era_case& which, std::ostream* to) { *to << which.name; }

class eras : public testing::TestWithParam<era_case> {
protected:
    eras() {
        std::vector<std::string> server{built_program("everything_server")};
        if (*GetParam().server_era != '\0') server.insert(server.end(), {"--era", GetParam().server_era});
        std::vector<std::string> gateway{built_program("andon"), "gateway", "--port", "0", "--log-format", "human",
                                         "--journal-every-call"};
        if (GetParam().url) {
            server.insert(server.end(), {"--http", "0"});
            behind_ = std::make_unique<listening_program>(server, folder_);
            gateway.insert(gateway.end(), {"--url", behind_->url()});
        } else {
            gateway.emplace_back("--");
            gateway.insert(gateway.end(), server.begin(), server.end());
        }
        gateway_ = std::make_unique<listening_program>(gateway, folder_);
    }

    [[nodiscard]] client connected(client_options options = {}) const {
        options.revisions = {GetParam().client};
        options.log = {};
        return client::connect_http(gateway_->url(), {}, std::move(options));
    }

    [[nodiscard]] std::string journal() const { return journal_in(folder_); }

    own_folder folder_;
    std::unique_ptr<listening_program> behind_;
    std::unique_ptr<listening_program> gateway_;
};

/// Whatever they were for the server.
TEST_P(eras, the_journal_has_requests_as_the_host_sent_them) {
    const auto client = connected();
    const bool legacy = era_of(GetParam().client) == era::legacy;
    const auto has = [&](std::string_view method) {
        return journal().find("\"method\":\"" + std::string(method) + '"') != std::string::npos;
    };
    EXPECT_TRUE(eventually([&] { return has(legacy ? "initialize" : "server/discover"); })) << journal();
    EXPECT_FALSE(has(legacy ? "server/discover" : "initialize")) << journal();
}

TEST_P(eras, lists_calls_and_reads_pass) {
    auto client = connected();
    EXPECT_GT(client.list_tools().size(), 5U);
    const auto echoed = client.call_tool("echo", {{"text", "there and back"}}).get();
    ASSERT_TRUE(echoed.completed()) << echoed.message;
    EXPECT_THAT(json_text(echoed.result), HasSubstr("there and back"));
    EXPECT_TRUE(client.request("prompts/list", {}).get().completed());
    EXPECT_TRUE(client.request("resources/list", {}).get().completed());
    EXPECT_EQ(client.request("resources/read", {{"uri", "no:such"}}).get().status, call_status::failed);
    EXPECT_EQ(client.request("no/such", {}).get().code, error_code::method_not_found);
}

TEST_P(eras, MSG_3_numbers_beyond_two_to_the_53rd_are_not_rounded) {
    auto client = connected();
    const auto echoed = client.call_tool("echo", {{"text", "9007199254740993"}}).get();
    EXPECT_THAT(json_text(echoed.result), HasSubstr("9007199254740993"));
}

TEST_P(eras, SND_3_SND_4_SND_5_a_cancel_reaches_the_work) {
    auto client = connected();
    event progressed;
    auto pending = client.call_tool("wait", {{"ms", 60'000}, {"tick_ms", 5}},
                                    {.on_progress = [&](const progress_update&) { progressed.set(); }});
    ASSERT_TRUE(progressed.happens());
    EXPECT_TRUE(pending.cancel("enough"));
    EXPECT_EQ(pending.get().status, call_status::cancelled);
    // It is in the journal once the work was seen to be over.
    EXPECT_TRUE(eventually([&] { return journal().find(R"("tool":"wait")") != std::string::npos; }));
    EXPECT_THAT(journal(), AnyOf(HasSubstr(R"("end":"cancelled")"), HasSubstr(R"("end":"disconnected")")));
    EXPECT_THAT(journal(), Not(HasSubstr(R"("ignored":true)")));
    EXPECT_TRUE(client.call_tool("echo", {{"text", "goes on"}}).get().completed());
}

TEST_P(eras, TIME_2_a_timeout_of_the_client_reaches_the_work) {
    auto client = connected();
    EXPECT_EQ(client.call_tool("park", {}, {.timeout = 200ms}).get().status, call_status::timed_out);
    EXPECT_TRUE(client.call_tool("echo", {{"text", "goes on"}}).get().completed());
}

TEST_P(eras, SUB_1_changes_are_told) {
    auto client = connected();
    std::atomic<int> changes = 0;
    const auto listening =
        client.listen({.tools = true}, {.on_event = [&](std::string_view, const json::object&) { ++changes; }});
    static_cast<void>(listening.agreed());
    // Every one: who changes the list and who listens to it have the same process.
    for (int i = 1; i <= 4; ++i) {
        EXPECT_TRUE(client.call_tool("test_trigger_tool_change").get().completed());
        EXPECT_TRUE(eventually([&] { return changes == i; }));
    }
}

constexpr era_case all_pairs[] = {
    {"legacy_to_legacy", revision::v2025_11_25, "legacy", false},
    {"legacy_to_modern", revision::v2025_11_25, "modern", false},
    {"modern_to_legacy", revision::v2026_07_28, "legacy", false},
    {"modern_to_modern", revision::v2026_07_28, "modern", false},
    {"oldest_to_modern", revision::v2024_11_05, "modern", false},
    {"legacy_to_both", revision::v2025_06_18, "", false},
    {"modern_to_both", revision::v2026_07_28, "", false},
    {"legacy_to_legacy_url", revision::v2025_11_25, "legacy", true},
    {"legacy_to_modern_url", revision::v2025_11_25, "modern", true},
    {"modern_to_legacy_url", revision::v2026_07_28, "legacy", true},
    {"modern_to_modern_url", revision::v2026_07_28, "modern", true},
};
INSTANTIATE_TEST_SUITE_P(gateway, eras, testing::ValuesIn(all_pairs),
                         [](const auto& which) { return which.param.name; });

}  // namespace
}  // namespace andon
