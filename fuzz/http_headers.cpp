// Any bytes as the value of a header and as a tool's schema: what is encoded is legal and comes back, and whatever the
// schema says, a client's headers are what a server expects.
#include "andon/wire/http_headers.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <simdjson.h>

#include "require.hpp"

namespace {

using namespace andon;
using fuzz::require;

bool is_legal(std::string_view value) {
    return !value.empty() && value.front() != ' ' && value.back() != ' ' &&
           std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

void as_value(std::string_view bytes) {
    const bool utf8 = simdjson::validate_utf8(bytes.data(), bytes.size());
    const std::string encoded = encoded_header_value(bytes);
    require(is_legal(encoded), "what is encoded may be in a header");
    const auto back = decoded_header_value(encoded);
    require(back.has_value() == utf8 && (!utf8 || *back == bytes), "what is encoded comes back");

    const auto decoded = decoded_header_value(bytes);
    if (!decoded) return;
    require(simdjson::validate_utf8(decoded->data(), decoded->size()), "what is decoded is UTF-8");
    require(decoded_header_value(encoded_header_value(*decoded)) == decoded, "what is decoded comes back");
}

/// `{"schema": ..., "arguments": ...}`
void as_tool(std::string_view bytes) {
    boost::system::error_code failed;
    json::parse_options options;
    options.max_depth = 1'000;
    const json::value parsed = json::parse(bytes, failed, {}, options);
    const json::object* const both = failed ? nullptr : parsed.if_object();
    if (both == nullptr || !both->contains("schema") || !both->contains("arguments")) return;
    const json::object* const schema = both->at("schema").if_object();
    const json::object* const arguments = both->at("arguments").if_object();
    if (schema == nullptr || arguments == nullptr) return;

    const param_headers found = read_param_headers(*schema);
    require(found.error.empty() || found.all.empty(), "all of it is right or nothing");
    for (const param_header& each : found.all) {
        require(is_legal(each.header()) && !each.path.empty(), "a header of a parameter");
        const param_text value = param_value(each, *arguments);
        require(value.error.empty() || !value.text, "a value or an error");
        if (!value.error.empty()) continue;
        require(value.text.has_value() != mismatch(each, std::nullopt, *arguments).empty(),
                "missing only where there is something to mirror");
        if (!value.text || !simdjson::validate_utf8(value.text->data(), value.text->size())) continue;
        require(mismatch(each, encoded_header_value(*value.text), *arguments).empty(), "a client and a server agree");
        require(!mismatch(each, encoded_header_value(*value.text + "x"), *arguments).empty(), "and on nothing else");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    as_value(bytes);
    as_tool(bytes);
    return 0;
}
