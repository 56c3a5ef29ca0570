// The tools of the conformance suite that are about tasks.
#include "conformance_tasks.hpp"

#include <boost/describe/class.hpp>
#include <chrono>
#include <string>
#include <vector>

namespace everything {
namespace {

using andon::async;
using andon::call;
using andon::task_use;
namespace json = andon::json;

struct greet_arguments {
    std::string name = "World";
};
BOOST_DESCRIBE_STRUCT(greet_arguments, (), (name))

struct compute_arguments {
    double seconds = 1;
    std::string label = "slow_compute";
};
BOOST_DESCRIBE_STRUCT(compute_arguments, (), (seconds, label))

struct file_arguments {
    std::string filename = "a file";
};
BOOST_DESCRIBE_STRUCT(file_arguments, (), (filename))

andon::duration seconds(double count) {
    return std::chrono::duration_cast<andon::duration>(std::chrono::duration<double>(count));
}

json::object yes_or_no(const std::string& message) {
    return {{"message", message},
            {"requestedSchema",
             {{"type", "object"}, {"properties", {{"confirm", {{"type", "boolean"}}}}}, {"required", {"confirm"}}}}};
}

std::vector<andon::input_request> two_questions() {
    std::vector<andon::input_request> both;
    both.push_back({"first", "elicitation/create", yes_or_no("The first?")});
    both.push_back({"second", "elicitation/create", yes_or_no("The second?")});
    return both;
}

bool accepted(const json::object& answer) {
    const json::value* const action = answer.if_contains("action");
    return action != nullptr && action->is_string() && action->get_string() == "accept";
}

async<std::string> greet(greet_arguments given, call&) { co_return "Hello, " + given.name + "!"; }

async<std::string> slow_compute(compute_arguments given, call& call) {
    co_await call.async_sleep_for(seconds(given.seconds));
    co_return given.label + ": done";
}

async<andon::tool_result> failing_job(call& call) {
    co_await call.async_sleep_for(std::chrono::seconds(1));
    co_return andon::tool_result::error("the job failed, as it always does");
}

async<std::string> protocol_error_job(call& call) {
    co_await call.async_sleep_for(std::chrono::milliseconds(100));
    throw andon::rpc_error(andon::error_code::internal_error, "the job broke, as it always does");
}

async<std::string> confirm_delete(file_arguments given, call& call) {
    const json::object answer = co_await call.async_elicit(yes_or_no("Delete " + given.filename + "?"));
    co_return accepted(answer) ? "deleted " + given.filename : "kept " + given.filename;
}

async<std::string> multi_input(call& call) {
    const json::object answers = co_await call.async_ask(two_questions());
    co_return std::to_string(answers.size()) + " answers";
}

json::object for_a_name() {
    return {{"message", "What is your name?"},
            {"requestedSchema",
             {{"type", "object"}, {"properties", {{"name", {{"type", "string"}}}}}, {"required", {"name"}}}}};
}

std::string name_in(const json::object& answer) {
    const json::value* const content = answer.if_contains("content");
    const json::value* const name =
        content != nullptr && content->is_object() ? content->get_object().if_contains("name") : nullptr;
    return name != nullptr && name->is_string() ? std::string(name->get_string()) : "nobody";
}

/// Asks first, as a call that is called again, and is a task from then on.
async<std::string> ask_then_work(call& call) {
    const json::object answer = co_await call.async_elicit(for_a_name(), "user_name");
    if (!accepted(answer)) co_return "not begun";
    co_await call.async_become_task();
    co_await call.async_sleep_for(std::chrono::milliseconds(200));
    co_return "done for " + name_in(answer);
}

}  // namespace

void add_conformance_tasks(andon::server& server) {
    const auto task = [](const char* name, const char* description, task_use use = task_use::optional) {
        return andon::tool_options{.name = name, .description = description, .task = use};
    };
    server.tool("greet", "Says hello", greet);
    server.tool(task("slow_compute", "Takes as many seconds as it is told"), slow_compute);
    server.tool(task("failing_job", "Fails after a second", task_use::required), failing_job);
    server.tool(task("protocol_error_job", "Fails with an error of the protocol"), protocol_error_job);
    server.tool(task("confirm_delete", "Asks before it deletes nothing"), confirm_delete);
    server.tool(task("multi_input", "Asks two things at once"), multi_input);
    andon::tool_options asks_first = task("test_tool_with_task", "Asks, and is a task then", task_use::required);
    asks_first.task_on_demand = true;
    server.tool(std::move(asks_first), ask_then_work);
}

}  // namespace everything
