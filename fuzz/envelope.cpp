// Any line, read by us and by Boost.JSON: they agree on what is JSON, and what we say of a message is in it. Whoever
// only skims the line, in pieces, sees the same message.
#include "andon/wire/envelope.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <optional>
#include <string>

#include "andon/wire/error.hpp"
#include "andon/wire/line_skimmer.hpp"
#include "padded.hpp"
#include "require.hpp"

namespace {

using namespace andon;
using fuzz::require;

constexpr std::size_t depth = 64;

/// Boost.JSON refuses exponents of many digits, which the grammar allows and we let through.
bool beyond_boost(std::string_view text) {
    // Halves of surrogate pairs are JSON, and no invalid one to us either.
    for (const std::string_view half : {"\\ud", "\\uD"}) {
        if (text.find(half) != std::string_view::npos) return true;
    }
    std::size_t digits = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool digit = text[at] >= '0' && text[at] <= '9';
        digits = digit ? digits + 1 : 0;
        if (digits > 8) return text.find_first_of("eE") != std::string_view::npos;
    }
    return false;
}

std::optional<json::value> parsed(std::string_view text) {
    json::parse_options options;
    options.max_depth = 10'000;
    boost::system::error_code failed;
    json::value value = json::parse(text, failed, {}, options);
    if (failed) return std::nullopt;
    return value;
}

void require_part(std::string_view raw, std::string_view line, const char* what) {
    if (raw.empty()) return;
    require(raw.data() >= line.data() && raw.data() + raw.size() <= line.data() + line.size(),
            "a part lies in its line");
    require(raw.front() != ' ' && raw.back() != ' ', "a part has no space around it");
    require(parsed(raw).has_value(), what);
}

/// What Boost.JSON finds under a key, where there is one such key only: of several, it keeps the last.
const json::value* member(const json::value& of, std::string_view key) {
    return of.is_object() ? of.get_object().if_contains(key) : nullptr;
}

void check(const envelope& message, std::string_view line) {
    const auto whole = parsed(line);
    require(whole.has_value(), "what was let through is JSON");
    require(whole->is_object(), "and an object");
    require(member(*whole, "jsonrpc") != nullptr && *member(*whole, "jsonrpc") == json::value("2.0"),
            "of JSON-RPC 2.0");
    const json::value* const id = member(*whole, "id");
    const bool named = member(*whole, "method") != nullptr;
    switch (message.kind) {
        case message_kind::request: require(named && id != nullptr && message.has_id, "a request"); break;
        case message_kind::notification: require(named && id == nullptr && !message.has_id, "a notification"); break;
        case message_kind::result:
            require(!named && id != nullptr && message.has_id && !message.raw_result.empty(), "a result");
            break;
        case message_kind::error: require(!named && !message.raw_error.empty(), "an error"); break;
    }
    if (named) require(member(*whole, "method")->get_string() == message.method, "its method");
    if (message.has_id && message.id.is_string()) require(id->get_string() == message.id.text(), "its id, a string");
    if (message.has_id && id->is_int64()) require(id->get_int64() == message.id.number(), "its id, a number");
    if (message.has_id) require(message.id.is_string() == id->is_string(), "its id, of its type");

    require_part(message.raw_id, line, "the id");
    require_part(message.raw_params, line, "the params");
    require_part(message.raw_result, line, "the result");
    require_part(message.raw_error, line, "the error");
    require_part(message.raw_meta, line, "_meta");
    require_part(message.raw_progress_token, line, "the token");
    require_part(message.raw_version, line, "the version");
    require_part(message.raw_name, line, "the name");
    require_part(message.raw_request_id, line, "the requestId");
    require_part(message.raw_reason, line, "the reason");

    const json::value* const params = named ? member(*whole, "params") : nullptr;  // an answer has none
    require((params != nullptr) == !message.raw_params.empty(), "params are found where they are");
    if (params == nullptr) return;
    require(params->is_object(), "params are an object");
    const auto agree = [&](const json::value& in, std::string_view key, std::string_view raw) {
        const json::value* const there = member(in, key);
        require((there != nullptr) == !raw.empty(), "a part is found where it is");
        if (there != nullptr && there->is_string()) {
            require(string_from_json(raw) == std::string(there->get_string()), "and is what is there");
        }
        if (there != nullptr && there->is_int64()) require(parsed(raw) == *there, "and is the number that is there");
    };
    agree(*params, "_meta", message.raw_meta);
    agree(*params, "name", message.raw_name);
    agree(*params, "requestId", message.raw_request_id);
    agree(*params, "reason", message.raw_reason);
    const json::value* const meta = member(*params, "_meta");
    if (message.kind == message_kind::notification) agree(*params, "progressToken", message.raw_progress_token);
    if (meta == nullptr) return;
    agree(*meta, "io.modelcontextprotocol/protocolVersion", message.raw_version);
    if (message.kind == message_kind::request) agree(*meta, "progressToken", message.raw_progress_token);
}

skimmed_line skimmed(std::string_view line) {
    const std::size_t piece = 1 + line.size() % 7;
    line_skimmer skimmer;
    for (; line.size() > piece; line.remove_prefix(piece)) skimmer.follow(line.substr(0, piece));
    skimmer.follow(line);
    return skimmer.end();
}

/// Of the message that was just read, or was not.
void check(const skimmed_line& line, const envelope* message, const envelope_fault& fault) {
    require(!line.messages.empty() && line.messages.size() <= line_skimmer::most_messages + 2, "something was seen");
    const skimmed_message& seen = line.messages.front();
    require(seen.raw_id.size() <= line_skimmer::longest_raw_id, "no more than can be kept");
    if (message == nullptr) {
        require(fault.raw_id.empty() || fault.raw_id == seen.raw_id, "who is answered is who asked");
        if (!line.batch && seen.whole && fault.answered) {
            require(!seen.method && seen.has_id, "an answer is told by its id");
        }
        return;
    }
    require(!line.batch && seen.whole, "a message is seen whole");
    const bool called = message->kind == message_kind::request || message->kind == message_kind::notification;
    require(seen.method == called, "what it asks");
    require(seen.result == (message->kind == message_kind::result), "what it answers");
    require(seen.error == (message->kind == message_kind::error), "or does not");
    require(seen.raw_id == message->raw_id && !seen.id_twice, "and whose it is");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    static envelope_reader reader({.depth = depth, .longest_id = 64});
    const fuzz::padded line({reinterpret_cast<const char*>(data), size});
    const std::string_view text = line.text();
    const envelope* const message = reader.read(text);
    check(skimmed(text), message, reader.fault());
    if (beyond_boost(text)) return 0;
    if (message != nullptr) {
        check(*message, text);
    } else {
        const envelope_fault& fault = reader.fault();
        require(!fault.message.empty(), "a fault has words");
        require(fault.code == error_code::parse_error || fault.code == error_code::invalid_request, "and a code");
        // What is nested too deeply is stepped over, and what begins as no object is not looked into: neither need be
        // JSON.
        if (fault.message != "nested too deeply" && fault.message != "a message must be an object") {
            require((fault.code == error_code::parse_error) == !parsed(text), "both agree on what is JSON");
        }
        if (!fault.raw_id.empty()) {
            std::string storage;
            require(id_from_json(fault.raw_id, storage).has_value(), "a fault is answered to an id");
            require(!fault.silent, "and then it is not silent");
        }
    }
    if (!envelope_reader::looks_like_batch(text)) return 0;
    const auto messages = reader.split_batch(text);
    const auto whole = parsed(text);
    if (!messages) {
        require(!whole || reader.fault().code == error_code::invalid_request, "both agree on what is a batch");
        return 0;
    }
    require(whole && whole->is_array() && whole->get_array().size() == messages->size(), "a batch of as many messages");
    for (const std::string_view message : *messages) require_part(message, text, "a message of a batch");
    for (const std::string_view message : *messages) {
        if (const envelope* const read = reader.read(message)) check(*read, message);
    }
    return 0;
}
