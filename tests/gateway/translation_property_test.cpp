// Whatever is said: the content keeps its bytes on the way there and back, and what comes out is one JSON value.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "andon/wire/envelope.hpp"
#include "andon/wire/message.hpp"
#include "gateway/translation_said.hpp"
#include "wire/padded.hpp"

namespace andon::gateway {
namespace {

/// JSON text of every shape, with numbers that no double holds, escapes, and the words that the translators look for.
rc::Gen<std::string> any_text(int depth) {
    const auto word = rc::gen::elementOf(std::vector<std::string>{
        R"("_meta")", R"("resultType")", R"("task")", R"("structuredContent")", R"("content")", R"("tools")",
        R"("type")", R"("ttlMs")", R"("inputSchema")", R"("outputSchema")", R"("properties")", R"("execution")",
        R"("\u005fmeta")", R"("io.modelcontextprotocol/serverInfo")", R"("io.modelcontextprotocol/logLevel")",
        R"("progressToken")"});
    auto scalar = rc::gen::oneOf(
        rc::gen::elementOf(std::vector<std::string>{"1e400", "-0", "1.10", "9007199254740993", "18446744073709551616",
                                                    "true", "false", "null", R"("\ud83d\ude00")", R"("\/")",
                                                    R"("complete")", R"("object")"}),
        word,
        rc::gen::map(rc::gen::arbitrary<std::string>(), [](const std::string& bytes) { return json_quoted(bytes); }));
    if (depth == 0) return scalar;
    const auto below = rc::gen::lazy([depth] { return any_text(depth - 1); });
    const auto space = rc::gen::elementOf(std::vector<std::string>{"", "", " ", "\t"});
    const auto list = rc::gen::map(rc::gen::resize(4, rc::gen::container<std::vector<std::string>>(below)),
                                   [](const std::vector<std::string>& all) {
                                       std::string text = "[";
                                       for (const auto& each : all) text += (text.size() > 1 ? "," : "") + each;
                                       return text + ']';
                                   });
    const auto object = rc::gen::map(
        rc::gen::resize(5, rc::gen::container<std::vector<std::tuple<std::string, std::string, std::string>>>(
                               rc::gen::tuple(word, below, space))),
        [](const std::vector<std::tuple<std::string, std::string, std::string>>& all) {
            std::string text = "{";
            for (const auto& [name, value, gap] : all) {
                if (text.size() > 1) text += ',';
                for (const std::string_view part :
                     {std::string_view(gap), std::string_view(name), std::string_view(":"), std::string_view(gap),
                      std::string_view(value)}) {
                    text += part;
                }
            }
            return text + '}';
        });
    return rc::gen::oneOf(scalar, list, object);
}

rc::Gen<std::string> any_object_text(int depth) {
    return rc::gen::map(any_text(depth), [](const std::string& text) {
        return text.front() == '{' ? text : R"({"content":)" + text + '}';
    });
}

bool is_one_value(std::string_view raw) {
    envelope_reader reader({.depth = 200});
    return reader.read(padded(result_message("1", raw))) != nullptr;
}

legacy_to_modern legacy_client() {
    return std::get<legacy_to_modern>(legacy_to_modern::begin(R"({"protocolVersion":"2025-11-25","capabilities":{}})",
                                                              R"({"capabilities":{"logging":{}}})"));
}
modern_to_legacy modern_client() {
    return std::get<modern_to_legacy>(
        modern_to_legacy::begin(R"({"protocolVersion":"2025-11-25","capabilities":{"logging":{}}})"));
}

RC_GTEST_PROP(translation, keeps_the_bytes_of_a_result_there_and_back, ()) {
    const std::string content = *rc::gen::map(any_text(3), [](const std::string& text) { return "[" + text + "]"; });
    const std::string structured = *any_object_text(3);
    const std::string other = *any_text(3);
    const std::string legacy =
        R"({"content":)" + content + R"(,"structuredContent":)" + structured + R"(,"com.example/x":)" + other + '}';
    const auto there = modern_client().result("tools/call", legacy);
    const auto back = legacy_client().result("tools/call", std::get<answer>(there).raw_result);
    RC_ASSERT(std::get<answer>(back).raw_result == legacy);
}

RC_GTEST_PROP(translation, keeps_the_bytes_of_a_read_resource_there_and_back, ()) {
    const std::string contents = *any_text(3);
    const std::string legacy = R"({"contents":)" + contents + '}';
    const auto there = modern_client().result("resources/read", legacy);
    const auto back = legacy_client().result("resources/read", std::get<answer>(there).raw_result);
    RC_ASSERT(std::get<answer>(back).raw_result == legacy);
}

RC_GTEST_PROP(translation, keeps_the_bytes_of_arguments_there_and_back, ()) {
    const std::string arguments = *any_object_text(3);
    const std::string params = R"({"name":"t","arguments":)" + arguments + '}';
    auto front = legacy_client();
    auto behind = modern_client();
    const auto there = front.request("tools/call", params, "");
    const auto back = behind.request("tools/call", std::get<forward>(there).raw_params, "");
    RC_ASSERT(std::get<modern_to_legacy::forwarded>(back).what.raw_params == params);
}

RC_GTEST_PROP(translation, gives_one_value_for_any, ()) {
    const std::string raw = *any_object_text(4);
    const auto method =
        *rc::gen::elementOf(std::vector<std::string>{"tools/call", "tools/list", "resources/read", "x"});
    auto front = legacy_client();
    auto behind = modern_client();
    const auto check = [&](const auto& reply) {
        if (const auto* const given = std::get_if<answer>(&reply)) RC_ASSERT(is_one_value(given->raw_result));
    };
    check(front.result(method, raw));
    check(behind.result(method, raw));
    RC_ASSERT(is_one_value(front.error(method, raw)));
    RC_ASSERT(is_one_value(behind.error(method, raw)));
    const auto there = front.request(method, raw, "7");
    if (const auto* const forwarded = std::get_if<forward>(&there)) RC_ASSERT(is_one_value(forwarded->raw_params));
    const auto back = behind.request(method, raw, "7");
    if (const auto* const forwarded = std::get_if<modern_to_legacy::forwarded>(&back)) {
        RC_ASSERT(is_one_value(forwarded->what.raw_params));
    }
    if (const auto told = front.from_server("notifications/x", raw); told && !told->raw_params.empty()) {
        RC_ASSERT(is_one_value(told->raw_params));
    }
}

}  // namespace
}  // namespace andon::gateway
