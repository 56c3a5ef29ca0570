// Lists page by page, and what clients hear when they change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "server/raw_client.hpp"

namespace andon {
namespace {

using testing::ElementsAre;

std::string nothing(call&) { return ""; }

class lists : public testing::TestWithParam<revision> {
protected:
    void SetUp() override {
        for (const char* const name : {"a", "b", "c", "d", "e"}) what.tool(name, "Does nothing", nothing);
        served.emplace(what, GetParam());
    }
    [[nodiscard]] raw_client& client() { return served->client; }
    /// The names on each page.
    std::vector<std::string> pages() {
        std::vector<std::string> all;
        for (json::object params;;) {
            const json::object result = client().ask("tools/list", params).at("result").as_object();
            all.push_back(names(result));
            const json::value* const next = result.if_contains("nextCursor");
            if (next == nullptr) return all;
            params["cursor"] = *next;
        }
    }
    static std::string names(const json::object& result) {
        std::string text;
        for (const json::value& tool : result.at("tools").as_array()) text += tool.at("name").as_string();
        return text;
    }

    server what{{.name = "lists", .page_size = 2, .log = {}}};
    std::optional<served_here> served;
};

INSTANTIATE_TEST_SUITE_P(each_era, lists, testing::Values(revision::v2025_11_25, revision::v2026_07_28),
                         [](const auto& each) { return name_of(each.param); });

TEST_P(lists, come_page_by_page_without_an_empty_one_at_the_end) {
    EXPECT_THAT(pages(), ElementsAre("ab", "cd", "e"));
    what.remove_tool("e");
    EXPECT_THAT(pages(), ElementsAre("ab", "cd"));
}

TEST_P(lists, go_on_behind_a_tool_that_is_gone_by_then) {
    const json::object first = client().ask("tools/list").at("result").as_object();
    what.remove_tool("b");
    const json::object second = client().ask("tools/list", {{"cursor", first.at("nextCursor")}});
    EXPECT_EQ(names(second.at("result").as_object()), "cd");
}

TEST_P(lists, a_cursor_of_somebody_else_is_refused) {
    for (const json::value& cursor : {json::value("no cursor"), json::value(""), json::value("6"), json::value(7)}) {
        EXPECT_EQ(code_of(client().ask("tools/list", {{"cursor", cursor}})), error_code::invalid_params) << cursor;
    }
}

TEST_P(lists, a_change_is_told_to_a_session_and_not_to_a_stranger) {
    client().ask("tools/list");
    what.tool("f", "Does nothing", nothing);
    if (era_of(GetParam()) == era::legacy) client().notification("notifications/tools/list_changed");
    EXPECT_THAT(pages(), ElementsAre("ab", "cd", "ef"));
    what.resource({.uri = "test://one", .name = "one"}, nothing);
    if (era_of(GetParam()) == era::legacy) client().notification("notifications/resources/list_changed");
    client().ask("resources/list");
    EXPECT_TRUE(client().notifications("notifications/tools/list_changed").empty());
    EXPECT_TRUE(client().notifications("notifications/resources/list_changed").empty());
}

}  // namespace
}  // namespace andon
