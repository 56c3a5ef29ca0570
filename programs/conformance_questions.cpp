// The tools of the conformance suite that ask the client something. Each is written once for all revisions: up to
// 2025-11-25 the question is a request to the client, since 2026-07-28 it is an answer that the client comes back with.
#include "conformance_questions.hpp"

#include <boost/describe/class.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <vector>

#include "answer_text.hpp"

namespace everything {
namespace {

using andon::async;
using andon::call;
using andon::input_request;
namespace json = andon::json;

struct sampling_arguments {
    std::string prompt;
    static constexpr andon::member_description descriptions[] = {{"prompt", "The prompt to send to the LLM"}};
};
BOOST_DESCRIBE_STRUCT(sampling_arguments, (), (prompt))

struct elicitation_arguments {
    std::string message;
    static constexpr andon::member_description descriptions[] = {{"message", "The message to show the user"}};
};
BOOST_DESCRIBE_STRUCT(elicitation_arguments, (), (message))

// The questions. They are functions of their own because g++ 12 takes no such braces in a co_await.

json::object to_the_model(std::string_view prompt, int most_tokens) {
    return {{"messages", {{{"role", "user"}, {"content", {{"type", "text"}, {"text", prompt}}}}}},
            {"maxTokens", most_tokens}};
}

json::object to_the_user(std::string_view message, json::object properties, json::array required) {
    return {{"message", message},
            {"requestedSchema",
             {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}}}};
}

/// One field, which must be filled in.
json::object to_the_user(std::string_view message, std::string_view field, std::string_view type) {
    json::object properties;
    properties[field] = {{"type", type}};
    return to_the_user(message, std::move(properties), {field});
}

json::object for_an_account(std::string_view message) {
    return to_the_user(message,
                       {{"username", {{"type", "string"}, {"description", "User's response"}}},
                        {"email", {{"type", "string"}, {"description", "User's email address"}}}},
                       {"username", "email"});
}

json::object with_defaults() {
    return to_the_user(
        "Please check what is filled in",
        {{"name", {{"type", "string"}, {"default", "John Doe"}}},
         {"age", {{"type", "integer"}, {"default", 30}}},
         {"score", {{"type", "number"}, {"default", 95.5}}},
         {"status",
          {{"type", "string"}, {"enum", json::array{"active", "inactive", "pending"}}, {"default", "active"}}},
         {"verified", {{"type", "boolean"}, {"default", true}}}},
        {});
}

json::object with_choices() {
    const json::value properties = json::parse(R"({
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "First Option"},
                                                     {"const": "value2", "title": "Second Option"},
                                                     {"const": "value3", "title": "Third Option"}]},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
                       "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": [{"const": "value1", "title": "First Choice"},
                                                             {"const": "value2", "title": "Second Choice"},
                                                             {"const": "value3", "title": "Third Choice"}]}}
    })");
    return to_the_user("Please choose", properties.as_object(), {});
}

/// `action=accept, content={...}`
std::string action_and_content(const json::object& answer, std::string_view before_action, std::string_view between) {
    const json::value* const content = answer.if_contains("content");
    return std::string(before_action) + text_at(answer, "/action") + std::string(between) +
           (content == nullptr ? "{}" : json::serialize(*content));
}

// Tools that ask one thing, in any revision.

async<std::string> sampling(sampling_arguments given, call& call) {
    const json::value answer = co_await call.async_sample(to_the_model(given.prompt, 100));
    co_return "LLM response: " + sampled_text(answer);
}

async<std::string> elicitation(elicitation_arguments given, call& call) {
    const auto answer = co_await call.async_elicit(for_an_account(given.message));
    co_return action_and_content(answer, "User response: action: ", ", content: ");
}

async<std::string> elicitation_defaults(call& call) {
    const auto answer = co_await call.async_elicit(with_defaults());
    co_return action_and_content(answer, "Elicitation completed: action=", ", content=");
}

async<std::string> elicitation_enums(call& call) {
    const auto answer = co_await call.async_elicit(with_choices());
    co_return action_and_content(answer, "Elicitation completed: action=", ", content=");
}

/// Asks in the middle of its work.
async<std::string> streaming_elicitation(call& call) {
    call.progress(1, 2);
    const auto answer = co_await call.async_elicit(to_the_user("Shall I go on?", "ok", "boolean"));
    call.progress(2, 2);
    co_return action_and_content(answer, "Elicitation completed: action=", ", content=");
}

/// A client that has not declared sampling is refused before anything is asked.
async<std::string> missing_capability(call& call) {
    const json::value answer = co_await call.async_sample(to_the_model("Say something", 100));
    co_return sampled_text(answer);
}

// Tools whose questions have keys, by which clients of 2026-07-28 answer them.

async<std::string> ask_for_name(call& call) {
    const json::value answer =
        co_await call.async_elicit(to_the_user("What is your name?", "name", "string"), "user_name");
    co_return "Hello, " + text_at(answer, "/content/name") + "!";
}

async<std::string> ask_model(call& call) {
    const json::value answer =
        co_await call.async_sample(to_the_model("What is the capital of France?", 100), "capital_question");
    co_return sampled_text(answer);
}

std::string uris_of(const json::value& roots) {
    std::string uris;
    for (std::size_t i = 0;; ++i) {
        const std::string uri = text_at(roots, "/roots/" + std::to_string(i) + "/uri");
        if (uri.empty()) return uris;
        (uris += uris.empty() ? "" : ", ") += uri;
    }
}

async<std::string> ask_for_roots(call& call) {
    const json::value answer = co_await call.async_roots("client_roots");
    co_return "Your roots: " + uris_of(answer);
}

/// The state that goes through the client is made and checked by the library: what comes here has passed.
async<std::string> confirm(call& call) {
    const json::value answer = co_await call.async_elicit(to_the_user("Please confirm", "ok", "boolean"), "confirm");
    co_return "state-ok: " + text_at(answer, "/action");
}

std::vector<input_request> three_questions() {
    return {{"user_name", "elicitation/create", to_the_user("What is your name?", "name", "string")},
            {"greeting", "sampling/createMessage", to_the_model("Generate a greeting", 50)},
            {"client_roots", "roots/list", {}}};
}

async<std::string> ask_three_things(call& call) {
    const json::value answers = co_await call.async_ask(three_questions());
    co_return sampled_text(answers.at("greeting")) + " " + text_at(answers, "/user_name/content/name") + " at " +
        uris_of(answers.at("client_roots"));
}

/// From its beginning in every round: the first question is answered at once then.
async<std::string> ask_twice(call& call) {
    const json::value first =
        co_await call.async_elicit(to_the_user("Step 1: What is your name?", "name", "string"), "step1");
    const json::value second =
        co_await call.async_elicit(to_the_user("Step 2: What is your favorite color?", "color", "string"), "step2");
    co_return text_at(first, "/content/name") + " likes " + text_at(second, "/content/color") + ".";
}

std::vector<input_request> what_the_client_can(const call& call) {
    std::vector<input_request> questions;
    if (call.client_can({"sampling"})) {
        questions.push_back({"model", "sampling/createMessage", to_the_model("Say something", 50)});
    }
    if (call.client_can({"elicitation"})) {
        questions.push_back({"user", "elicitation/create", to_the_user("Please confirm", "ok", "boolean")});
    }
    if (call.client_can({"roots"})) questions.push_back({"roots", "roots/list", {}});
    return questions;
}

async<std::string> ask_what_the_client_can(call& call) {
    const auto answers = co_await call.async_ask(what_the_client_can(call));
    co_return "Answers to " + std::to_string(answers.size()) + " questions.";
}

}  // namespace

void add_conformance_questions(andon::server& server) {
    server.tool("test_sampling", "Asks the client's model", sampling);
    server.tool("test_elicitation", "Asks the user", elicitation);
    server.tool("test_elicitation_sep1034_defaults", "Asks the user, with defaults", elicitation_defaults);
    server.tool("test_elicitation_sep1330_enums", "Asks the user to choose", elicitation_enums);
    server.tool("test_streaming_elicitation", "Asks the user, with progress around it", streaming_elicitation);
    server.tool("test_missing_capability", "Needs a client that can do sampling", missing_capability);
    server.tool("test_input_required_result_elicitation", "Asks the user for a name", ask_for_name);
    server.tool("test_input_required_result_sampling", "Asks the model for a capital", ask_model);
    server.tool("test_input_required_result_list_roots", "Asks the client for its roots", ask_for_roots);
    server.tool("test_input_required_result_request_state", "Asks, and checks the state that comes back", confirm);
    server.tool("test_input_required_result_tampered_state", "Asks, and refuses a state that was changed", confirm);
    server.tool("test_input_required_result_multiple_inputs", "Asks three things at once", ask_three_things);
    server.tool("test_input_required_result_multi_round", "Asks two things, one after the other", ask_twice);
    server.tool("test_input_required_result_capabilities", "Asks only what the client can", ask_what_the_client_can);
}

}  // namespace everything
