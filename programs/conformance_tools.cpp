// The tools that the protocol's conformance suite calls, as far as they need nothing from the client.
#include "conformance_tools.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <stdexcept>
#include <string>

#include "conformance_media.hpp"

namespace everything {
namespace {

using andon::async;
using andon::call;
using andon::message_level;
using andon::tool_result;
using std::chrono::milliseconds;

std::string simple_text(call&) { return "This is a simple text response for testing."; }

tool_result image_content(call&) { return tool_result().image(png, "image/png"); }

tool_result audio_content(call&) { return tool_result().audio(wav, "audio/wav"); }

tool_result embedded_resource(call&) {
    return tool_result().resource({{"uri", "test://embedded-resource"},
                                   {"mimeType", "text/plain"},
                                   {"text", "This is an embedded resource content."}});
}

tool_result multiple_content_types(call&) {
    return tool_result()
        .text("Multiple content types test:")
        .image(png, "image/png")
        .resource({{"uri", "test://mixed-content-resource"},
                   {"mimeType", "application/json"},
                   {"text", R"({"test":"data","value":123})"}});
}

async<std::string> tool_with_logging(call& call) {
    call.log(message_level::info, "Tool execution started");
    co_await call.async_sleep_for(milliseconds(50));
    call.log(message_level::info, "Tool processing data");
    co_await call.async_sleep_for(milliseconds(50));
    call.log(message_level::info, "Tool execution completed");
    co_return "Logged three messages.";
}

/// One message of every level: the client gets those that it asked for.
std::string logging_tool(call& call) {
    call.log(message_level::debug, "debug", "test_logging_tool");
    call.log(message_level::info, "info", "test_logging_tool");
    call.log(message_level::notice, "notice", "test_logging_tool");
    call.log(message_level::warning, "warning", "test_logging_tool");
    call.log(message_level::error, "error", "test_logging_tool");
    call.log(message_level::critical, "critical", "test_logging_tool");
    call.log(message_level::alert, "alert", "test_logging_tool");
    call.log(message_level::emergency, "emergency", "test_logging_tool");
    return "Logged one message of every level.";
}

async<std::string> tool_with_progress(call& call) {
    call.progress(0, 100);
    co_await call.async_sleep_for(milliseconds(50));
    call.progress(50, 100);
    co_await call.async_sleep_for(milliseconds(50));
    call.progress(100, 100);
    co_return "Went from 0 to 100.";
}

/// Ends the client's connection in the middle of the work: the client comes back for the answer.
async<std::string> reconnection(call& call) {
    call.let_go_of_connection();
    co_await call.async_sleep_for(milliseconds(100));
    co_return "Reconnection test completed successfully.";
}

std::string error_handling(call&) { throw std::runtime_error("This tool intentionally returns an error for testing"); }

/// A schema that no struct gives: it is listed as it is, and the handler takes JSON.
andon::json::object schema_2020_12() {
    return andon::json::parse(R"({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    })")
        .as_object();
}

/// The region travels in the header Mcp-Param-Region too.
andon::json::object schema_with_header() {
    return andon::json::parse(R"({
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "query": {"type": "string"}},
        "required": ["region"]
    })")
        .as_object();
}

std::string schema_tool(const andon::json::object& given, call&) { return "Got " + andon::json::serialize(given); }

void add_changing_lists(andon::server& server) {
    server.tool("test_trigger_tool_change", "Adds a tool, or takes it away again", [&server](call&) -> std::string {
        if (server.remove_tool("test_added_tool")) return "The tool is gone.";
        server.tool("test_added_tool", "Comes and goes with test_trigger_tool_change", simple_text);
        return "There is one more tool.";
    });
    server.tool("test_trigger_prompt_change", "Adds a prompt, or takes it away again", [&server](call&) -> std::string {
        if (server.remove_prompt("test_added_prompt")) return "The prompt is gone.";
        server.prompt(
            {.name = "test_added_prompt", .description = "Comes and goes with test_trigger_prompt_change"},
            [](const andon::json::object&, call&) { return std::string("This prompt was added while serving."); });
        return "There is one more prompt.";
    });
    server.tool("test_trigger_resource_change", "Says that test://watched-resource has changed",
                [&server](call&) -> std::string {
                    server.resource_changed("test://watched-resource");
                    return "The resource has changed.";
                });
}

}  // namespace

void add_conformance_tools(andon::server& server) {
    server.tool("test_simple_text", "Answers with a text", simple_text);
    server.tool("test_image_content", "Answers with a picture", image_content);
    server.tool("test_audio_content", "Answers with a sound", audio_content);
    server.tool("test_embedded_resource", "Answers with a resource", embedded_resource);
    server.tool("test_multiple_content_types", "Answers with a text, a picture and a resource", multiple_content_types);
    server.tool("test_tool_with_logging", "Logs three messages while it works", tool_with_logging);
    server.tool("test_logging_tool", "Logs one message of every level", logging_tool);
    server.tool("test_tool_with_progress", "Tells how far it is", tool_with_progress);
    server.tool("test_error_handling", "Always fails", error_handling);
    server.tool({.name = "json_schema_2020_12_tool",
                 .description = "Tool with JSON Schema 2020-12 features",
                 .input_schema = schema_2020_12()},
                schema_tool);
    server.tool("test_reconnection", "Ends the connection, and answers when the client is back", reconnection);
    server.tool({.name = "test_x_mcp_header",
                 .description = "Takes a parameter that comes in a header too",
                 .input_schema = schema_with_header()},
                schema_tool);
    add_changing_lists(server);
}

}  // namespace everything
