// Tools and prompts that ask the client: as requests of the server's, or as results that the client comes back with.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/raw_client.hpp"

namespace andon {
namespace {

using testing::HasSubstr;

class questions : public testing::TestWithParam<revision> {
protected:
    /// To its end, whatever it asks on the way.
    std::string finished(std::string_view tool, json::object arguments = {}) {
        return text_of(client.finish("tools/call", raw_client::tool_params(tool, std::move(arguments))));
    }
    [[nodiscard]] const json::value& asked(std::string_view member) {
        return client.questions.back().at("params").at(member);
    }

    served_process process{GetParam()};
    raw_client& client = process.client;
};

INSTANTIATE_TEST_SUITE_P(each_era, questions, testing::Values(revision::v2025_11_25, revision::v2026_07_28),
                         [](const auto& each) { return name_of(each.param); });

TEST_P(questions, the_model_is_asked_with_the_prompt_that_was_given) {
    EXPECT_EQ(finished("test_sampling", {{"prompt", "Test prompt"}}), "LLM response: Well said.");
    ASSERT_EQ(client.questions.size(), 1U);
    EXPECT_EQ(client.questions[0], json::parse(R"({"method":"sampling/createMessage","params":{"messages":[
        {"role":"user","content":{"type":"text","text":"Test prompt"}}],"maxTokens":100}})"));
}

TEST_P(questions, the_user_is_asked_with_the_message_that_was_given) {
    client.replies["elicitation/create"] = {{"action", "accept"}, {"content", {{"username", "u"}, {"email", "e"}}}};
    EXPECT_EQ(finished("test_elicitation", {{"message", "Who are you?"}}),
              R"(User response: action: accept, content: {"username":"u","email":"e"})");
    ASSERT_EQ(client.questions.size(), 1U);
    EXPECT_EQ(client.questions[0], json::parse(R"({"method":"elicitation/create","params":{"message":"Who are you?",
        "requestedSchema":{"type":"object","properties":{
            "username":{"type":"string","description":"User's response"},
            "email":{"type":"string","description":"User's email address"}},"required":["username","email"]}}})"));
}

TEST_P(questions, a_user_who_declines_is_an_answer_too) {
    client.replies["elicitation/create"] = {{"action", "decline"}};
    EXPECT_EQ(finished("test_elicitation", {{"message", "Who are you?"}}),
              "User response: action: decline, content: {}");
}

TEST_P(questions, fields_may_have_defaults) {
    client.replies["elicitation/create"] = {{"action", "accept"}, {"content", {{"age", 25}}}};
    EXPECT_EQ(finished("test_elicitation_sep1034_defaults"),
              R"(Elicitation completed: action=accept, content={"age":25})");
    EXPECT_EQ(asked("requestedSchema").at("properties"),
              json::parse(R"({"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},
                  "score":{"type":"number","default":95.5},
                  "status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},
                  "verified":{"type":"boolean","default":true}})"));
}

TEST_P(questions, choices_come_in_all_five_forms) {
    EXPECT_THAT(finished("test_elicitation_sep1330_enums"), HasSubstr("Elicitation completed: action=accept"));
    const json::value& fields = asked("requestedSchema").at("properties");
    EXPECT_EQ(fields.at("untitledSingle"), json::parse(R"({"type":"string","enum":["option1","option2","option3"]})"));
    EXPECT_EQ(fields.at("titledSingle").at("oneOf").at(0), json::parse(R"({"const":"value1","title":"First Option"})"));
    EXPECT_EQ(fields.at("legacyEnum").at("enumNames").as_array().size(),
              fields.at("legacyEnum").at("enum").as_array().size());
    EXPECT_EQ(fields.at("untitledMulti").at("items"),
              json::parse(R"({"type":"string","enum":["option1","option2","option3"]})"));
    EXPECT_EQ(fields.at("titledMulti").at("items").at("anyOf").at(0),
              json::parse(R"({"const":"value1","title":"First Choice"})"));
}

TEST_P(questions, several_at_once_and_one_after_the_other) {
    EXPECT_EQ(finished("test_input_required_result_multiple_inputs"), "Well said. Alice at file:///test/root");
    EXPECT_EQ(client.questions.size(), 3U);
    EXPECT_EQ(finished("test_input_required_result_multi_round"), "Alice likes blue.");
    EXPECT_EQ(client.questions.size(), 5U);
    EXPECT_EQ(finished("test_input_required_result_list_roots"), "Your roots: file:///test/root");
}

TEST_P(questions, prompts_ask_as_tools_do) {
    const json::object answer = client.finish("prompts/get", {{"name", "test_input_required_result_prompt"}});
    EXPECT_EQ(answer.at("result").at("messages").at(0).at("content").at("text"), "Use this context: a test");
    EXPECT_EQ(client.questions.size(), 1U);
}

TEST_P(questions, a_tool_that_asks_in_the_middle_sends_no_request_in_its_own_stream) {
    EXPECT_THAT(text_of(client.finish("tools/call", raw_client::tool_params("test_streaming_elicitation"),
                                      {{"progressToken", 1}})),
                HasSubstr("action=accept"));
    EXPECT_FALSE(client.notifications("notifications/progress").empty());
}

TEST_P(questions, a_client_that_cannot_is_not_asked) {
    served_process silent(GetParam(), json::object());
    for (const char* const tool : {"test_missing_capability", "test_input_required_result_sampling"}) {
        const json::object answer = silent.client.call(tool);
        if (era_of(GetParam()) == era::modern) {
            EXPECT_EQ(code_of(answer), error_code::missing_client_capability);
            EXPECT_EQ(answer.at("error").at("data"), json::parse(R"({"requiredCapabilities":{"sampling":{}}})"));
        } else {
            EXPECT_EQ(answer.at("result").at("isError"), true);
            EXPECT_THAT(text_of(answer), HasSubstr("sampling"));
        }
    }
    EXPECT_TRUE(silent.client.questions.empty());
}

TEST_P(questions, only_what_the_client_can_is_asked) {
    served_process samples(GetParam(), {{"sampling", json::object()}});
    const json::object params = raw_client::tool_params("test_input_required_result_capabilities");
    EXPECT_EQ(text_of(samples.client.finish("tools/call", params)), "Answers to 1 questions.");
    ASSERT_EQ(samples.client.questions.size(), 1U);
    EXPECT_EQ(samples.client.questions[0].at("method"), "sampling/createMessage");
    EXPECT_EQ(text_of(client.finish("tools/call", params)), "Answers to 3 questions.");
}

// Rounds, as clients of 2026-07-28 have them.

class input_rounds : public testing::Test {
protected:
    /// One round: the result, or the whole answer if that is an error.
    json::object round(std::string_view tool, const json::value& responses = {}, const json::value& state = {},
                       json::object arguments = {}) {
        json::object params = raw_client::tool_params(tool, std::move(arguments));
        if (!responses.is_null()) params["inputResponses"] = responses;
        if (!state.is_null()) params["requestState"] = state;
        json::object answer = client.ask("tools/call", std::move(params));
        json::value* const result = answer.if_contains("result");
        return result == nullptr ? answer : std::move(result->as_object());
    }
    [[nodiscard]] static bool is_question(const json::object& result) {
        const json::value* const type = result.if_contains("resultType");
        return type != nullptr && *type == "input_required" && result.contains("inputRequests");
    }
    [[nodiscard]] static bool is_complete(const json::object& result) {
        const json::value* const type = result.if_contains("resultType");
        return type != nullptr && *type == "complete" && result.contains("content");
    }
    [[nodiscard]] static json::object accept(json::object content) {
        return {{"action", "accept"}, {"content", std::move(content)}};
    }

    served_process process{revision::v2026_07_28};
    raw_client& client = process.client;
};

TEST_F(input_rounds, the_question_is_the_answer_of_the_first_round) {
    const json::object first = round("test_input_required_result_elicitation");
    EXPECT_EQ(first.at("resultType"), "input_required");
    EXPECT_EQ(first.at("inputRequests"), json::parse(R"({"user_name":{"method":"elicitation/create","params":{
        "message":"What is your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},
        "required":["name"]}}}})"));
    EXPECT_TRUE(first.at("_meta").as_object().contains("io.modelcontextprotocol/serverInfo"));
    const json::object second = round("test_input_required_result_elicitation",
                                      {{"user_name", accept({{"name", "Alice"}})}}, first.at("requestState"));
    ASSERT_TRUE(is_complete(second));
    EXPECT_EQ(second.at("content").at(0).at("text"), "Hello, Alice!");
}

TEST_F(input_rounds, a_model_and_roots_are_asked_for_in_the_same_way) {
    EXPECT_EQ(round("test_input_required_result_sampling").at("inputRequests"),
              json::parse(R"({"capital_question":{"method":"sampling/createMessage","params":{"messages":[
                  {"role":"user","content":{"type":"text","text":"What is the capital of France?"}}],
                  "maxTokens":100}}})"));
    EXPECT_EQ(round("test_input_required_result_list_roots").at("inputRequests"),
              json::parse(R"({"client_roots":{"method":"roots/list","params":{}}})"));
}

TEST_F(input_rounds, several_questions_are_one_result_and_a_part_of_the_answers_asks_for_the_rest) {
    const json::object first = round("test_input_required_result_multiple_inputs");
    const json::object& wanted = first.at("inputRequests").as_object();
    ASSERT_EQ(wanted.size(), 3U);
    EXPECT_EQ(wanted.at("user_name").at("method"), "elicitation/create");
    EXPECT_EQ(wanted.at("greeting").at("method"), "sampling/createMessage");
    EXPECT_EQ(wanted.at("client_roots").at("method"), "roots/list");
    EXPECT_TRUE(first.at("requestState").is_string());
    const json::object second =
        round("test_input_required_result_multiple_inputs",
              {{"user_name", accept({{"name", "Bob"}})}, {"greeting", client.replies["sampling/createMessage"]}},
              first.at("requestState"));
    ASSERT_TRUE(is_question(second));
    EXPECT_EQ(second.at("inputRequests").as_object().size(), 1U);
    const json::object third = round("test_input_required_result_multiple_inputs",
                                     {{"client_roots", client.replies["roots/list"]}}, second.at("requestState"));
    ASSERT_TRUE(is_complete(third));
    EXPECT_EQ(third.at("content").at(0).at("text"), "Well said. Bob at file:///test/root");
}

TEST_F(input_rounds, the_state_grows_from_round_to_round) {
    const char* const tool = "test_input_required_result_multi_round";
    const json::object first = round(tool);
    EXPECT_TRUE(first.at("inputRequests").as_object().contains("step1"));
    const json::object second = round(tool, {{"step1", accept({{"name", "Alice"}})}}, first.at("requestState"));
    ASSERT_TRUE(is_question(second));
    EXPECT_TRUE(second.at("inputRequests").as_object().contains("step2"));
    EXPECT_FALSE(second.at("inputRequests").as_object().contains("step1"));
    EXPECT_NE(second.at("requestState"), first.at("requestState"));
    const json::object third = round(tool, {{"step2", accept({{"color", "blue"}})}}, second.at("requestState"));
    ASSERT_TRUE(is_complete(third));
    EXPECT_EQ(third.at("content").at(0).at("text"), "Alice likes blue.");
}

TEST_F(input_rounds, what_is_missing_or_is_no_answer_is_asked_again) {
    const json::value responses[] = {{{"wrong_key", accept({{"data", "wrong"}})}}, {{"user_name", 12345}}};
    for (const json::value& given : responses) {
        const json::object again = round("test_input_required_result_elicitation", given);
        ASSERT_TRUE(is_question(again)) << json::serialize(given);
        EXPECT_TRUE(again.at("inputRequests").as_object().contains("user_name"));
    }
}

TEST_F(input_rounds, what_was_not_asked_is_neither_used_nor_kept) {
    const json::value extra{{"user_name", accept({{"name", "Alice"}})}, {"surplus", accept({{"foo", "bar"}})}};
    EXPECT_TRUE(is_complete(round("test_input_required_result_elicitation", extra)));
    const json::object again = round("test_input_required_result_multi_round",
                                     {{"step1", accept({{"name", "Alice"}})}, {"surplus", accept({{"foo", "bar"}})}});
    ASSERT_TRUE(is_question(again));
    EXPECT_THAT(std::string(again.at("requestState").as_string()), testing::Not(HasSubstr("surplus")));
}

TEST_F(input_rounds, responses_that_are_no_object_are_an_error_of_the_protocol) {
    for (const json::value& given : {json::value("text"), json::value(json::array{})}) {
        EXPECT_EQ(code_of(round("test_input_required_result_elicitation", given)), error_code::invalid_params);
    }
    json::object params = raw_client::tool_params("test_input_required_result_elicitation");
    params["inputResponses"] = nullptr;
    EXPECT_EQ(code_of(client.ask("tools/call", params)), error_code::invalid_params);
}

TEST_F(input_rounds, the_state_that_was_given_out_is_taken_back) {
    const json::object first = round("test_input_required_result_request_state");
    const json::object second = round("test_input_required_result_request_state", {{"confirm", accept({{"ok", true}})}},
                                      first.at("requestState"));
    ASSERT_TRUE(is_complete(second));
    EXPECT_THAT(std::string(second.at("content").at(0).at("text").as_string()), HasSubstr("state-ok"));
}

TEST_F(input_rounds, a_state_that_was_changed_or_belongs_elsewhere_is_refused) {
    const char* const tool = "test_input_required_result_tampered_state";
    const json::value state = round(tool).at("requestState");
    const json::value elsewhere = round("test_input_required_result_request_state").at("requestState");
    json::string longer = state.as_string();
    longer += "-TAMPERED";
    json::string flipped = state.as_string();
    flipped.front() = flipped.front() == '0' ? '1' : '0';
    const json::value states[] = {longer, flipped, state.as_string().subview(0, 10), elsewhere, "", 7};
    for (const json::value& given : states) {
        EXPECT_EQ(code_of(round(tool, {{"confirm", accept({{"ok", true}})}}, given)), error_code::invalid_params)
            << json::serialize(given);
    }
    EXPECT_EQ(code_of(round(tool, {{"confirm", accept({{"ok", true}})}}, state, {{"other", "arguments"}})),
              error_code::invalid_params);
    EXPECT_TRUE(is_complete(round(tool, {{"confirm", accept({{"ok", true}})}}, state)));
}

TEST_F(input_rounds, a_prompt_has_them_too_and_a_list_has_not) {
    const json::object first = client.ask("prompts/get", {{"name", "test_input_required_result_prompt"}});
    EXPECT_EQ(first.at("result").at("inputRequests").at("user_context").at("method"), "elicitation/create");
    for (const char* const method : {"tools/list", "prompts/list"}) {
        EXPECT_EQ(client.ask(method).at("result").at("resultType"), "complete") << method;
    }
}

}  // namespace
}  // namespace andon
