#include "conformance_scenarios.hpp"

#include <iostream>

namespace conformance {
namespace {

namespace json = andon::json;

const json::object& object_in(const json::object& from, std::string_view key) {
    static const json::object none;
    const json::value* const found = from.if_contains(key);
    return found != nullptr && found->is_object() ? found->get_object() : none;
}

std::string text_in(const json::object& from, std::string_view key) {
    const json::value* const found = from.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

/// A value that the schema allows: its default, where it has one.
json::value value_for(const json::object& schema, std::int64_t number) {
    if (const json::value* const given = schema.if_contains("default")) return *given;
    const std::string type = text_in(schema, "type");
    if (type == "integer" || type == "number") return number;
    if (type == "boolean") return true;
    if (type == "array") return json::array();
    if (type == "object") return json::object();
    return "text";
}

/// Something for every property of a schema.
json::object values_for(const json::object& schema) {
    json::object values;
    std::int64_t number = 5;
    for (const auto& [name, property] : object_in(schema, "properties")) {
        if (property.is_object()) values[name] = value_for(property.get_object(), number);
        number -= 2;
    }
    return values;
}

void call(andon::client& client, const std::string& tool, const json::object& arguments) {
    const auto pending = client.call_tool(tool, arguments);
    const andon::call_outcome& outcome = pending.get();
    std::cerr << tool << ": " << to_string(outcome.status) << ' ' << outcome.message << '\n';
}

void call_every_tool(andon::client& client, const json::array& tools) {
    for (const json::value& tool : tools) {
        call(client, text_in(tool.as_object(), "name"), values_for(object_in(tool.as_object(), "inputSchema")));
    }
}

/// The schema of one tool goes back to the server as an argument of the other, as it came.
void give_schema_back(andon::client& client, const json::array& tools) {
    for (const json::value& tool : tools) {
        if (text_in(tool.as_object(), "name") == "json_schema_echo") continue;
        call(client, "json_schema_echo", {{"schema", object_in(tool.as_object(), "inputSchema")}});
    }
}

void use_everything(andon::client& client, const json::array& tools) {
    call_every_tool(client, tools);
    for (const json::value& each : client.list_resources()) {
        static_cast<void>(client.read_resource(text_in(each.as_object(), "uri")).get());
    }
    for (const json::value& each : client.list_prompts()) {
        static_cast<void>(client.get_prompt(text_in(each.as_object(), "name")).get());
    }
}

}  // namespace

void prepare(andon::client_options& options) {
    options.on_elicitation = [](const json::object& params, const andon::cancel_token&) -> json::object {
        return {{"action", "accept"}, {"content", values_for(object_in(params, "requestedSchema"))}};
    };
    options.on_sampling = [](const json::object&, const andon::cancel_token&) -> json::object {
        return {{"role", "assistant"}, {"content", {{"type", "text"}, {"text", "Hello."}}}, {"model", "none"}};
    };
    options.on_roots = [](const json::object&, const andon::cancel_token&) -> json::object {
        return {{"roots", json::array()}};
    };
}

void run(andon::client& client, const std::string& scenario, const json::object& context) {
    const json::array tools = client.list_tools();
    if (const json::value* const calls = context.if_contains("toolCalls")) {
        for (const json::value& each : calls->as_array()) {
            call(client, text_in(each.as_object(), "name"), object_in(each.as_object(), "arguments"));
        }
    } else if (scenario == "json-schema-2020-12-preservation") {
        give_schema_back(client, tools);
    } else if (scenario == "http-standard-headers") {
        use_everything(client, tools);
    } else {
        call_every_tool(client, tools);
    }
}

}  // namespace conformance
