// The pieces of `andon call`, each by itself.
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <stdexcept>

#include "call/progress_bar.hpp"
#include "call/safe_text.hpp"
#include "call/server_target.hpp"
#include "call/tool_arguments.hpp"
#include "call/tool_content.hpp"
#include "own_folder.hpp"
#include "terminal.hpp"

namespace andon::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

json::object parsed(std::string_view text) { return json::parse({text.data(), text.size()}).as_object(); }

TEST(server_target_test, is_a_url_a_command_or_a_name) {
    EXPECT_EQ(std::get<server_url>(resolve_server("https://example.com/mcp")).text, "https://example.com/mcp");
    EXPECT_THAT(std::get<command>(resolve_server("npx -y 'a server'")).argv, ElementsAre("npx", "-y", "a server"));
    EXPECT_THAT(std::get<command>(resolve_server("./server")).argv, ElementsAre("./server"));
    EXPECT_THAT(std::get<command>(resolve_server("x --to http://h/")).argv, ElementsAre("x", "--to", "http://h/"));
    EXPECT_THAT(std::get<command>(resolve_server("sh")).argv, ElementsAre("sh"));
    for (const char* const wrong : {"", " ", "no-such-name-anywhere", "ftp://h/", "'a", "''"}) {
        EXPECT_THROW(static_cast<void>(resolve_server(wrong)), std::invalid_argument) << wrong;
    }
}

TEST(server_target_test, is_what_the_configuration_has_under_its_name) {
    const own_folder folder;
    const std::string file = folder.write("andon.toml", R"([servers.files]
command = "npx 'a server'"
env = { ROOT = "/srv" }
cwd = "/tmp"

[servers.far]
url = "https://example.com/mcp"
headers = { X-Team = "tools" }
headers_env = { X-Key = "TEST_KEY" }
bearer_env = "TEST_TOKEN"
ca_file = "/etc/ours.pem"
)");
    const own_variable key("TEST_KEY", "k1");
    const own_variable token("TEST_TOKEN", "t1");
    const auto files = std::get<command>(resolve_server("files", file));
    EXPECT_THAT(files.argv, ElementsAre("npx", "a server"));
    EXPECT_THAT(files.environment, ElementsAre(testing::Pair("ROOT", "/srv")));
    EXPECT_EQ(files.directory, "/tmp");
    const auto far = std::get<server_url>(resolve_server("far", file));
    EXPECT_EQ(far.text, "https://example.com/mcp");
    EXPECT_THAT(far.how.headers, ElementsAre(testing::Pair("X-Team", "tools"), testing::Pair("X-Key", "k1")));
    EXPECT_EQ(far.how.bearer_token, "t1");
    EXPECT_EQ(far.how.ca_file, "/etc/ours.pem");
    EXPECT_THAT(std::get<command>(resolve_server("sh", file)).argv, ElementsAre("sh")) << "a program of the PATH";

    const auto fault = [&](std::string_view name, const std::string& in) {
        try {
            static_cast<void>(resolve_server(name, in));
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string("none");
    };
    EXPECT_THAT(fault("fiels", file), HasSubstr("; did you mean \"files\"?"));
    const own_variable gone("TEST_KEY", nullptr);
    EXPECT_THAT(fault("far", file), HasSubstr("TEST_KEY is not set"));
    EXPECT_THAT(fault("far", folder.write("wrong.toml", "[servers.far]\nurk = 1\n")),
                HasSubstr("did you mean \"url\""));
}

TEST(arguments, are_typed_by_the_schema) {
    const json::object schema = parsed(R"({"type": "object", "properties": {
        "text": {"type": "string"}, "count": {"type": "integer"}, "ratio": {"type": "number"}, "on": {"type": "boolean"},
        "list": {"type": "array"}, "inner": {"type": "object"}, "either": {"type": ["integer", "null"]},
        "any": {}, "level": {"enum": ["low", 5]}, "ref": {"$ref": "#/$defs/n"},
        "of": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}, "$defs": {"n": {"type": "integer"}}})");
    const json::object given =
        tool_arguments({"text=5", "count=9007199254740993", "ratio=0.5", "on=true", "list=[1,2]", R"(inner={"a":1})",
                        "either=null", "any=5", "level=5", "ref=7", "of=x=y"},
                       schema);
    EXPECT_EQ(given, parsed(R"({"text": "5", "count": 9007199254740993, "ratio": 0.5, "on": true, "list": [1, 2],
        "inner": {"a": 1}, "either": null, "any": "5", "level": 5, "ref": 7, "of": "x=y"})"));
    EXPECT_EQ(tool_arguments({"any:=5"}, schema), parsed(R"({"any": 5})"));
    EXPECT_EQ(tool_arguments({"count=2.0"}, schema).at("count").as_double(), 2.0);
    for (const char* const wrong :
         {"count=1.5", "count=", "on=yes", "list={}", "level=high", "ratio=NaN", "text:=5", "any:=", "=5", "text"}) {
        EXPECT_THROW(static_cast<void>(tool_arguments({wrong}, schema)), std::invalid_argument) << wrong;
    }
}

TEST(arguments, of_a_schema_that_makes_no_sense_are_passed_on) {
    for (const char* const schema : {R"({})", R"({"properties": 5})", R"({"properties": {"a": 5}})",
                                     R"({"properties": {"a": {"type": 5}}, "required": 7})",
                                     R"({"properties": {"a": {"$ref": "#/properties/a"}}})",
                                     R"({"properties": {"a": {"anyOf": [{"$ref": "#"}]}}})"}) {
        EXPECT_EQ(tool_arguments({"a=x"}, parsed(schema)), parsed(R"({"a": "x"})")) << schema;
    }
}

RC_GTEST_PROP(arguments, any_words_are_taken_or_refused, (const std::vector<std::string>& words)) {
    const json::object schema = parsed(R"({"properties": {"a": {"type": "integer"}}, "additionalProperties": false})");
    try {
        static_cast<void>(tool_arguments(words, schema, [](std::string_view) { return std::string("{}"); }));
    } catch (const std::invalid_argument&) {  // NOLINT(bugprone-empty-catch): that is the other thing
    }
}

TEST(bar, fits_into_every_window) {
    const std::vector<progress_state> states{
        {.what = "wait"},
        {.what = "wait", .known = true, .progress = 7},
        {.what = "wait", .known = true, .progress = 420, .total = 1000},
        {.what = "wait", .known = true, .progress = 5, .total = 2, .message = "more than there is"},
        {.what = "naïve", .known = true, .progress = -1, .total = 1e-300, .message = "…"},
        {.what = std::string(300, 'x'),
         .known = true,
         .progress = 1e300,
         .total = 1e308,
         .message = std::string(300, 'y')},
        {.what = "wait", .known = true, .progress = std::numeric_limits<double>::quiet_NaN(), .total = 0}};
    for (const progress_state& state : states) {
        for (std::size_t columns = 1; columns < 200; ++columns) {
            EXPECT_LE(width_of(bar_line(state, 100h, columns)), columns) << bar_line(state, 100h, columns);
        }
    }
    EXPECT_EQ(bar_line(states[2], 1500ms, 40), "wait  [========>           ]  42%  1.5 s");
    EXPECT_EQ(bar_line(states[2], 1500ms, 12), " 42%  1.5 s");
    EXPECT_EQ(bar_line(states[2], 1500ms, 5), "42%");
}

TEST(bar, in_plain_words) {
    EXPECT_EQ(plain_progress({.what = "wait", .known = true, .progress = 420, .total = 1000}),
              "wait: 42% (420 of 1000)");
    EXPECT_EQ(plain_progress({.what = "wait", .known = true, .progress = 7, .message = "page 7"}), "wait: 7, page 7");
    EXPECT_EQ(clock_text(400ms), "0.4 s");
    EXPECT_EQ(clock_text(185s), "3:05");
    EXPECT_EQ(clock_text(2h), "2:00:00");
}

TEST(content, is_text_json_or_described) {
    const json::value result = json::parse(R"({"content": [
        {"type": "text", "text": "{\"a\":1}"}, {"type": "text", "text": "two\nlines\u001b[2J"},
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        {"type": "audio", "mimeType": "audio/wav", "data": "AAA="},
        {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "12345"}},
        {"type": "resource_link", "name": "b", "uri": "file:///b", "size": 2048},
        {"type": "hologram"}, {}, 5], "structuredContent": {"a": 1}})");
    EXPECT_EQ(
        content_text(result, true),
        "two\nlines\\x1b[2J\n[image image/png 3 bytes]\n[audio audio/wav 2 bytes]\n"
        "[resource file:///a text/plain 5 bytes]\n[resource link b file:///b 2.0 KiB]\n[hologram 19 bytes of JSON]\n"
        "[content of no kind 2 bytes of JSON]\n{\n  \"a\": 1\n}\n");
    EXPECT_THAT(content_text(result, false), HasSubstr("lines\x1b[2J")) << "in a pipe it is what it was";
    EXPECT_EQ(content_text(json::parse(R"({"content": []})"), true), "");
    EXPECT_EQ(content_text(json::parse("5"), true), "5\n");
}

TEST(content, MSG_4_visible_lines_keep_lines_and_tabs_and_nothing_else) {
    EXPECT_EQ(visible_lines("a\tb\r\nc\x1b\n"), "a\tb\nc\\x1b\n");
    EXPECT_EQ(visible_lines("\xE2\x80\xAE"), "\\u{202e}");
}

}  // namespace
}  // namespace andon::app
