// What everything_server offers to the conformance suite, in the newest revision with sessions and in the newest.
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "server/raw_client.hpp"

namespace andon {
namespace {

using testing::ElementsAre;

class fixtures : public testing::TestWithParam<revision> {
protected:
    [[nodiscard]] static const revision_policy& policy() { return policy_of(GetParam()); }
    [[nodiscard]] static bool modern() { return era_of(GetParam()) == era::modern; }
    /// Log messages for the calls that follow: by setting the level, or with each call.
    json::object log_from(std::string_view level) {
        if (modern()) return {{"io.modelcontextprotocol/logLevel", level}};
        EXPECT_EQ(client.ask("logging/setLevel", {{"level", level}}).at("result"), json::object());
        return {};
    }
    std::vector<std::string> logged() {
        std::vector<std::string> texts;
        for (const json::object& each : client.notifications("notifications/message")) {
            texts.emplace_back(each.at("data").as_string());
        }
        return texts;
    }
    std::set<std::string> listed(std::string_view method, std::string_view member, std::string_view name) {
        std::set<std::string> names;
        const json::object answer = client.ask(method);
        for (const json::value& each : answer.at("result").at(member).as_array()) {
            names.emplace(each.at(name).as_string());
        }
        return names;
    }

    served_process process{GetParam()};
    raw_client& client = process.client;
};

INSTANTIATE_TEST_SUITE_P(each_era, fixtures, testing::Values(revision::v2025_11_25, revision::v2026_07_28),
                         [](const auto& each) { return name_of(each.param); });

// Lists.

TEST_P(fixtures, every_tool_has_a_name_a_description_and_a_schema) {
    const json::object answer = client.ask("tools/list");
    std::set<std::string> names;
    for (const json::value& tool : answer.at("result").at("tools").as_array()) {
        const std::string name(tool.at("name").as_string());
        EXPECT_THAT(name, testing::MatchesRegex("[A-Za-z0-9_./-]+"));
        EXPECT_LE(name.size(), 64U);
        EXPECT_FALSE(tool.at("description").as_string().empty()) << name;
        EXPECT_EQ(tool.at("inputSchema").at("type"), "object") << name;
        names.insert(name);
    }
    for (const char* const wanted :
         {"test_simple_text", "test_tool_with_logging", "test_sampling", "json_schema_2020_12_tool",
          "test_input_required_result_elicitation", "test_missing_capability", "test_trigger_tool_change"}) {
        EXPECT_TRUE(names.contains(wanted)) << wanted;
    }
}

TEST_P(fixtures, prompts_and_resources_are_listed_with_descriptions) {
    EXPECT_THAT(listed("prompts/list", "prompts", "name"),
                ElementsAre("test_input_required_result_prompt", "test_prompt_with_arguments",
                            "test_prompt_with_embedded_resource", "test_prompt_with_image", "test_simple_prompt"));
    EXPECT_THAT(listed("resources/list", "resources", "uri"),
                ElementsAre("test://static-binary", "test://static-text", "test://watched-resource"));
    EXPECT_THAT(listed("resources/templates/list", "resourceTemplates", "uriTemplate"),
                ElementsAre("test://template/{id}/data"));
    EXPECT_FALSE(listed("prompts/list", "prompts", "description").contains(""));
    EXPECT_FALSE(listed("resources/list", "resources", "description").contains(""));
}

TEST_P(fixtures, lists_and_reads_say_how_long_they_may_be_kept_where_the_revision_has_that) {
    for (const char* const method : {"tools/list", "prompts/list", "resources/list", "resources/templates/list"}) {
        const json::object result = client.ask(method).at("result").as_object();
        EXPECT_EQ(result.contains("ttlMs"), policy().cache_hints) << method;
        EXPECT_EQ(result.contains("cacheScope"), policy().cache_hints) << method;
    }
    const json::object read = client.ask("resources/read", {{"uri", "test://static-text"}}).at("result").as_object();
    EXPECT_EQ(read.contains("ttlMs"), policy().cache_hints);
    if (policy().cache_hints) {
        EXPECT_GE(read.at("ttlMs").as_int64(), 0);
        EXPECT_EQ(read.at("cacheScope"), "private");
    }
}

TEST_P(fixtures, a_schema_of_one_s_own_is_listed_word_for_word) {
    const json::object answer = client.ask("tools/list");
    for (const json::value& tool : answer.at("result").at("tools").as_array()) {
        if (tool.at("name") != "json_schema_2020_12_tool") continue;
        EXPECT_EQ(tool.at("inputSchema"), json::parse(R"({
            "$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
            "$defs":{"address":{"$anchor":"addressDef","type":"object",
                                "properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
            "properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},
                          "contactMethod":{"type":"string","enum":["phone","email"]},
                          "phone":{"type":"string"},"email":{"type":"string"}},
            "allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
            "if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
            "then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false})"));
        return;
    }
    FAIL() << "it is not listed";
}

// Tools that answer by themselves.

TEST_P(fixtures, content_of_every_kind) {
    const std::string png =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";
    const std::string wav = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";
    const std::pair<std::string_view, std::string> all[] = {
        {"test_simple_text", R"([{"type":"text","text":"This is a simple text response for testing."}])"},
        {"test_image_content", R"([{"type":"image","data":")" + png + R"(","mimeType":"image/png"}])"},
        {"test_audio_content", R"([{"type":"audio","data":")" + wav + R"(","mimeType":"audio/wav"}])"},
        {"test_embedded_resource",
         R"([{"type":"resource","resource":{"uri":"test://embedded-resource","mimeType":"text/plain",
              "text":"This is an embedded resource content."}}])"},
        {"test_multiple_content_types",
         R"([{"type":"text","text":"Multiple content types test:"},
             {"type":"image","data":")" +
             png + R"(","mimeType":"image/png"},
             {"type":"resource","resource":{"uri":"test://mixed-content-resource","mimeType":"application/json",
              "text":"{\"test\":\"data\",\"value\":123}"}}])"},
    };
    for (const auto& [tool, content] : all) {
        const json::object result = client.call(tool).at("result").as_object();
        EXPECT_EQ(result.at("content"), json::parse(content)) << tool;
        EXPECT_FALSE(result.contains("isError")) << tool;
        EXPECT_EQ(result.contains("resultType"), policy().result_type) << tool;
    }
}

TEST_P(fixtures, a_tool_that_throws_answers_with_an_error_of_the_tool) {
    const json::object answer = client.call("test_error_handling");
    EXPECT_EQ(answer.at("result").at("isError"), true);
    EXPECT_EQ(text_of(answer), "This tool intentionally returns an error for testing");
}

TEST_P(fixtures, a_tool_that_does_not_exist_is_an_error_of_the_protocol) {
    EXPECT_EQ(code_of(client.call("test_no_such_tool")), error_code::invalid_params);
}

TEST_P(fixtures, log_messages_come_while_the_tool_works) {
    const json::object meta = log_from("debug");
    EXPECT_EQ(client.call("test_tool_with_logging", {}, meta).at("result").at("content").at(0).at("type"), "text");
    EXPECT_THAT(logged(), ElementsAre("Tool execution started", "Tool processing data", "Tool execution completed"));
}

TEST_P(fixtures, log_messages_below_the_level_are_not_sent) {
    const json::object meta = log_from("error");
    client.call("test_logging_tool", {}, meta);
    EXPECT_THAT(logged(), ElementsAre("error", "critical", "alert", "emergency"));
    EXPECT_EQ(client.notifications("notifications/message").front().at("logger"), "test_logging_tool");
}

TEST_P(fixtures, a_log_level_that_does_not_exist_is_refused) {
    const json::object answer =
        modern() ? client.call("test_logging_tool", {}, {{"io.modelcontextprotocol/logLevel", "loud"}})
                 : client.ask("logging/setLevel", {{"level", "loud"}});
    EXPECT_EQ(code_of(answer), error_code::invalid_params);
}

TEST_P(fixtures, without_a_level_a_modern_request_has_no_log_messages) {
    client.call("test_logging_tool");
    EXPECT_EQ(logged().empty(), policy().log_level_per_request);
}

TEST_P(fixtures, what_the_newest_revision_removed_is_not_there_in_it) {
    for (const char* const method : {"ping", "logging/setLevel"}) {
        const json::object answer = client.ask(method, {{"level", "info"}});
        EXPECT_EQ(code_of(answer), modern() ? error_code::method_not_found : 0) << method;
    }
}

TEST_P(fixtures, progress_comes_with_the_token_that_was_given) {
    client.call("test_tool_with_progress", {}, {{"progressToken", "p-1"}});
    std::vector<double> seen;
    for (const json::object& each : client.notifications("notifications/progress")) {
        EXPECT_EQ(each.at("progressToken"), "p-1");
        EXPECT_EQ(each.at("total").to_number<double>(), 100);
        seen.push_back(each.at("progress").to_number<double>());
    }
    EXPECT_THAT(seen, ElementsAre(0, 50, 100));
}

TEST_P(fixtures, without_a_token_there_is_no_progress) {
    EXPECT_EQ(code_of(client.call("test_tool_with_progress")), 0);
    EXPECT_TRUE(client.notifications("notifications/progress").empty());
}

// Prompts.

TEST_P(fixtures, prompts_give_their_messages) {
    const json::object simple = client.ask("prompts/get", {{"name", "test_simple_prompt"}});
    EXPECT_EQ(simple.at("result").at("messages"), json::parse(R"([{"role":"user","content":{"type":"text",
        "text":"This is a simple prompt for testing."}}])"));
    const json::object filled = client.ask(
        "prompts/get", {{"name", "test_prompt_with_arguments"}, {"arguments", {{"arg1", "hello"}, {"arg2", "world"}}}});
    EXPECT_EQ(filled.at("result").at("messages").at(0).at("content").at("text"),
              "Prompt with arguments: arg1='hello', arg2='world'");
    const json::object embedded = client.ask("prompts/get", {{"name", "test_prompt_with_embedded_resource"},
                                                             {"arguments", {{"resourceUri", "test://example"}}}});
    EXPECT_EQ(embedded.at("result").at("messages"), json::parse(R"([
        {"role":"user","content":{"type":"resource","resource":{"uri":"test://example","mimeType":"text/plain",
                                                                "text":"Embedded resource content for testing."}}},
        {"role":"user","content":{"type":"text","text":"Please process the embedded resource above."}}])"));
    const json::object image = client.ask("prompts/get", {{"name", "test_prompt_with_image"}});
    EXPECT_EQ(image.at("result").at("messages").at(0).at("content").at("mimeType"), "image/png");
    EXPECT_EQ(image.at("result").at("messages").at(1).at("content").at("text"), "Please analyze the image above.");
}

TEST_P(fixtures, a_prompt_that_is_not_there_or_lacks_an_argument_is_refused) {
    EXPECT_EQ(code_of(client.ask("prompts/get", {{"name", "test_no_such_prompt"}})), error_code::invalid_params);
    EXPECT_EQ(code_of(client.ask("prompts/get",
                                 {{"name", "test_prompt_with_arguments"}, {"arguments", {{"arg1", "hello"}}}})),
              error_code::invalid_params);
}

// Resources.

TEST_P(fixtures, resources_are_read) {
    const auto contents = [&](std::string_view uri) {
        return client.ask("resources/read", {{"uri", uri}}).at("result").at("contents");
    };
    EXPECT_EQ(contents("test://static-text"), json::parse(R"([{"uri":"test://static-text","mimeType":"text/plain",
        "text":"This is the content of the static text resource."}])"));
    const json::value binary = contents("test://static-binary");
    EXPECT_EQ(binary.at(0).at("mimeType"), "image/png");
    EXPECT_THAT(std::string(binary.at(0).at("blob").as_string()), testing::StartsWith("iVBORw0KGgo"));
    EXPECT_EQ(contents("test://template/123/data"),
              json::parse(R"([{"uri":"test://template/123/data","mimeType":"application/json",
                  "text":"{\"id\":\"123\",\"templateTest\":true,\"data\":\"Data for ID: 123\"}"}])"));
}

TEST_P(fixtures, a_resource_that_is_not_there_has_the_code_of_its_revision) {
    const json::object answer = client.ask("resources/read", {{"uri", "test://nonexistent"}});
    EXPECT_EQ(code_of(answer), modern() ? -32602 : -32002);
    EXPECT_EQ(answer.at("error").at("data").at("uri"), "test://nonexistent");
}

// Suggestions.

TEST_P(fixtures, arguments_of_prompts_and_templates_are_completed) {
    const auto complete = [&](const json::object& ref, std::string_view name, std::string_view value) {
        return client.ask("completion/complete", {{"ref", ref}, {"argument", {{"name", name}, {"value", value}}}});
    };
    EXPECT_EQ(complete({{"type", "ref/prompt"}, {"name", "test_prompt_with_arguments"}}, "arg1", "par")
                  .at("result")
                  .at("completion"),
              json::parse(R"({"values":["paris","park","party"],"total":3,"hasMore":false})"));
    const json::object ids =
        complete({{"type", "ref/resource"}, {"uri", "test://template/{id}/data"}}, "id", "").at("result").as_object();
    EXPECT_EQ(ids.at("completion").at("values").as_array().size(), 100U);
    EXPECT_EQ(ids.at("completion").at("total"), 200);
    EXPECT_EQ(ids.at("completion").at("hasMore"), true);
    EXPECT_EQ(code_of(complete({{"type", "ref/prompt"}, {"name", "test_no_such_prompt"}}, "arg1", "")),
              error_code::invalid_params);
}

// Lists that change.

TEST_P(fixtures, a_change_of_the_tools_is_told_to_a_session_and_not_to_a_stranger) {
    EXPECT_FALSE(listed("tools/list", "tools", "name").contains("test_added_tool"));
    client.call("test_trigger_tool_change");
    if (!modern()) client.notification("notifications/tools/list_changed");
    EXPECT_TRUE(listed("tools/list", "tools", "name").contains("test_added_tool"));
    EXPECT_EQ(text_of(client.call("test_added_tool")), "This is a simple text response for testing.");
    client.call("test_trigger_tool_change");
    if (!modern()) client.notification("notifications/tools/list_changed");
    EXPECT_FALSE(listed("tools/list", "tools", "name").contains("test_added_tool"));
    EXPECT_TRUE(client.notifications("notifications/tools/list_changed").empty());
}

TEST_P(fixtures, a_change_of_the_prompts_is_told_to_a_session_and_not_to_a_stranger) {
    client.call("test_trigger_prompt_change");
    if (!modern()) client.notification("notifications/prompts/list_changed");
    EXPECT_TRUE(listed("prompts/list", "prompts", "name").contains("test_added_prompt"));
    EXPECT_TRUE(client.notifications("notifications/prompts/list_changed").empty());
}

}  // namespace
}  // namespace andon
