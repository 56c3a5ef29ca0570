// What a client repeats in headers under 2026-07-28: parameters of tools, as their schemas ask.
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/raw_http_server.hpp"

namespace andon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

json::object tool(std::string_view name, json::object properties) {
    return {{"name", name}, {"inputSchema", {{"type", "object"}, {"properties", std::move(properties)}}}};
}

json::object mirrored(std::string_view type, std::string_view header) {
    return {{"type", type}, {"x-mcp-header", header}};
}

class http_mirrored : public testing::Test {
protected:
    void SetUp() override {
        client_options options = quiet_client({newest_modern});
        options.log = [this](log_level level, std::string_view text) {
            if (level == log_level::warning) warnings_.add(std::string(text));
        };
        client_.emplace(server_.connect(std::move(options)));
    }
    json::array list(const json::array& tools) {
        auto listed = std::async(std::launch::async, [&] { return client_->list_tools(); });
        answer_list(tools);
        return listed.get();
    }
    void answer_list(const json::array& tools) {
        const auto asked = server_.next("tools/list");
        EXPECT_EQ(asked.header("mcp-method"), "tools/list");
        EXPECT_EQ(asked.header("mcp-protocol-version"), "2026-07-28");
        asked.answer({{"resultType", "complete"}, {"tools", tools}});
    }
    static void refuse(const raw_http_request& request) {
        request.reply_json(
            {{"jsonrpc", "2.0"}, {"id", request.id()}, {"error", {{"code", -32020}, {"message", "Header mismatch"}}}},
            "400 Bad Request");
    }

    recorded<std::string> warnings_;
    raw_http_server server_;
    std::optional<client> client_;
};

TEST_F(http_mirrored, HTTP_5_parameters_of_a_tool_that_was_listed) {
    EXPECT_EQ(list({tool("sql", {{"region", mirrored("string", "Region")},
                                 {"limit", mirrored("integer", "Limit")},
                                 {"dry", mirrored("boolean", "Dry")},
                                 {"absent", mirrored("string", "Absent")},
                                 {"nil", mirrored("string", "Nil")},
                                 {"plain", {{"type", "string"}}}})})
                  .size(),
              1U);
    const auto pending = client_->call_tool(
        "sql", {{"region", "Köln"}, {"limit", 42}, {"dry", false}, {"nil", nullptr}, {"plain", "x"}});
    const auto request = server_.next("tools/call");
    EXPECT_EQ(request.header("mcp-param-region"), "=?base64?S8O2bG4=?=");
    EXPECT_EQ(request.header("mcp-param-limit"), "42");
    EXPECT_EQ(request.header("mcp-param-dry"), "false");
    EXPECT_FALSE(request.headers.contains("mcp-param-absent"));
    EXPECT_FALSE(request.headers.contains("mcp-param-nil"));
    EXPECT_FALSE(request.headers.contains("mcp-param-plain"));
    request.answer_text("ok");
    EXPECT_EQ(text_of(pending.get()), "ok");
}

TEST_F(http_mirrored, HTTP_5_a_tool_whose_annotations_are_wrong_is_left_out) {
    const json::array listed =
        list({tool("bad", {{"x", mirrored("object", "X")}}), tool("good", {{"x", mirrored("string", "X")}}),
              tool("worse\n", {{"x", mirrored("string", "no spaces")}})});
    ASSERT_EQ(listed.size(), 1U);
    EXPECT_EQ(listed.at(0).at("name"), "good");
    EXPECT_THAT(warnings_.all(), ElementsAre(HasSubstr("the tool bad is left out: "), HasSubstr("worse\\n")));
}

TEST_F(http_mirrored, HTTP_5_a_schema_that_has_changed_is_asked_for_and_the_call_repeated) {
    const auto pending = client_->call_tool("sql", {{"region", "west"}});
    const auto refused = server_.next("tools/call");
    EXPECT_FALSE(refused.headers.contains("mcp-param-region"));
    refuse(refused);
    answer_list({tool("sql", {{"region", mirrored("string", "Region")}})});
    const auto again = server_.next("tools/call");
    EXPECT_EQ(again.header("mcp-param-region"), "west");
    EXPECT_EQ(again.body, refused.body);
    again.answer_text("ok");
    EXPECT_EQ(text_of(pending.get()), "ok");
}

TEST_F(http_mirrored, HTTP_5_all_pages_are_asked_for) {
    const auto pending = client_->call_tool("sql", {{"region", "west"}});
    refuse(server_.next("tools/call"));
    const auto first = server_.next("tools/list");
    EXPECT_FALSE(first.message().at("params").at("_meta").as_object().contains("progressToken"));
    first.answer({{"resultType", "complete"}, {"tools", json::array()}, {"nextCursor", "more"}});
    const auto second = server_.next("tools/list");
    EXPECT_EQ(second.message().at("params").at("cursor"), "more");
    second.answer({{"resultType", "complete"}, {"tools", {tool("sql", {{"region", mirrored("string", "R")}})}}});
    const auto again = server_.next("tools/call");
    EXPECT_EQ(again.header("mcp-param-r"), "west");
    again.answer_text("ok");
    EXPECT_EQ(text_of(pending.get()), "ok");
}

TEST_F(http_mirrored, HTTP_5_only_once) {
    const auto pending = client_->call_tool("sql");
    refuse(server_.next("tools/call"));
    answer_list({});
    refuse(server_.next("tools/call"));
    EXPECT_EQ(pending.get().status, call_status::failed);
    EXPECT_EQ(pending.get().code, error_code::header_mismatch);
    server_.fence(*client_);
}

TEST_F(http_mirrored, HTTP_5_where_there_is_no_list_the_error_stands) {
    const auto pending = client_->call_tool("sql");
    refuse(server_.next("tools/call"));
    server_.next("tools/list").reply("500 Internal Server Error");
    EXPECT_EQ(pending.get().status, call_status::failed);
    EXPECT_EQ(pending.get().code, error_code::header_mismatch);
    EXPECT_EQ(pending.get().message, "Header mismatch");
    server_.fence(*client_);
}

TEST_F(http_mirrored, SND_4_a_call_that_waits_for_the_list_takes_that_along) {
    auto pending = client_->call_tool("sql");
    refuse(server_.next("tools/call"));
    const auto listing = server_.next("tools/list");
    EXPECT_TRUE(pending.cancel("Stop"));
    EXPECT_EQ(pending.get().status, call_status::cancelled);
    EXPECT_TRUE(listing.on->closed_by_client());
    server_.fence(*client_);
}

TEST_F(http_mirrored, no_reference_in_a_schema_is_followed) {
    raw_http_server elsewhere;
    const json::object schema{{"$ref", elsewhere.url()}};
    EXPECT_EQ(list({tool("sql", {{"region", schema}})}).size(), 1U);
    const auto pending = client_->call_tool("sql", {{"region", "west"}});
    server_.next("tools/call").answer_text("ok");
    EXPECT_EQ(text_of(pending.get()), "ok");
    EXPECT_EQ(elsewhere.connections(), 0);
}

}  // namespace
}  // namespace andon
