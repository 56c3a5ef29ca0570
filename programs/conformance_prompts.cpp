// The prompts of the conformance suite, and the suggestions for their arguments.
#include "conformance_prompts.hpp"

#include <boost/describe/class.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "answer_text.hpp"
#include "conformance_media.hpp"

namespace everything {
namespace {

using andon::async;
using andon::call;
using andon::prompt_result;
namespace json = andon::json;

struct two_arguments {
    std::string arg1;
    std::string arg2;
};
BOOST_DESCRIBE_STRUCT(two_arguments, (), (arg1, arg2))

struct resource_argument {
    std::string resourceUri;
};
BOOST_DESCRIBE_STRUCT(resource_argument, (), (resourceUri))

std::string simple(call&) { return "This is a simple prompt for testing."; }

std::string with_arguments(const two_arguments& given, call&) {
    return "Prompt with arguments: arg1='" + given.arg1 + "', arg2='" + given.arg2 + "'";
}

prompt_result with_embedded_resource(const resource_argument& given, call&) {
    const json::object resource{
        {"uri", given.resourceUri}, {"mimeType", "text/plain"}, {"text", "Embedded resource content for testing."}};
    return prompt_result()
        .message("user", {{"type", "resource"}, {"resource", resource}})
        .user("Please process the embedded resource above.");
}

prompt_result with_image(call&) {
    return prompt_result()
        .message("user", {{"type", "image"}, {"data", png}, {"mimeType", "image/png"}})
        .user("Please analyze the image above.");
}

json::object which_context() {
    return {{"message", "What context should the prompt use?"},
            {"requestedSchema",
             {{"type", "object"},
              {"properties", {{"context", {{"type", "string"}}}}},
              {"required", json::array{"context"}}}}};
}

/// Prompts may ask as tools do.
async<std::string> asking(call& call) {
    const json::value answer = co_await call.async_elicit(which_context(), "user_context");
    co_return "Use this context: " + text_at(answer, "/content/context");
}

std::vector<std::string> words_like(const andon::completion_request& given, call&) {
    std::vector<std::string> found;
    for (const std::string_view word : {"paris", "park", "party", "test", "testing"}) {
        if (word.starts_with(given.value)) found.emplace_back(word);
    }
    return found;
}

}  // namespace

void add_conformance_prompts(andon::server& server) {
    server.prompt({.name = "test_simple_prompt", .description = "One message"}, simple);
    server.prompt({.name = "test_prompt_with_arguments",
                   .description = "One message with two arguments in it",
                   .arguments = {{.name = "arg1", .description = "First test argument", .required = true},
                                 {.name = "arg2", .description = "Second test argument", .required = true}}},
                  with_arguments);
    server.prompt(
        {.name = "test_prompt_with_embedded_resource",
         .description = "A resource and what to do with it",
         .arguments = {{.name = "resourceUri", .description = "URI of the resource to embed", .required = true}}},
        with_embedded_resource);
    server.prompt({.name = "test_prompt_with_image", .description = "A picture and what to do with it"}, with_image);
    server.prompt({.name = "test_input_required_result_prompt", .description = "Asks the user what it is about"},
                  asking);
    server.completion("test_prompt_with_arguments", words_like);
}

}  // namespace everything
