// The reader against Boost.JSON: what one of them takes, the other takes too.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <string>

#include "andon/wire/envelope.hpp"
#include "andon/wire/error.hpp"
#include "andon/wire/message.hpp"
#include "wire/padded.hpp"

namespace andon {
namespace {

/// Any JSON, with the keys that the reader looks for among its keys.
rc::Gen<json::value> any_value(int depth) {
    const auto text = rc::gen::map(rc::gen::arbitrary<std::string>(), [](const std::string& bytes) {
        return string_from_json(andon::json_quoted(bytes)).value();  // its bytes made UTF-8
    });
    const auto scalar = rc::gen::resize(
        30,
        rc::gen::oneOf(rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](std::int64_t n) { return json::value(n); }),
                       rc::gen::map(rc::gen::arbitrary<double>(),
                                    [](double n) { return json::value(std::isfinite(n) ? n : 0.5); }),
                       rc::gen::map(rc::gen::arbitrary<bool>(), [](bool b) { return json::value(b); }),
                       rc::gen::map(text, [](const std::string& t) { return json::value(t); }),
                       rc::gen::just(json::value(nullptr))));
    if (depth == 0) return scalar;
    const auto below = rc::gen::lazy([depth] { return any_value(depth - 1); });
    const auto key = rc::gen::oneOf(
        text, rc::gen::elementOf(std::vector<std::string>{"_meta", "progressToken", "requestId", "reason", "name", "id",
                                                          "io.modelcontextprotocol/protocolVersion"}));
    return rc::gen::resize(
        4, rc::gen::oneOf(scalar,
                          rc::gen::map(rc::gen::container<std::vector<json::value>>(below),
                                       [](const std::vector<json::value>& all) {
                                           return json::value(json::array(all.begin(), all.end()));
                                       }),
                          rc::gen::map(rc::gen::container<std::vector<std::pair<std::string, json::value>>>(
                                           rc::gen::pair(key, below)),
                                       [](const std::vector<std::pair<std::string, json::value>>& all) {
                                           json::object object;
                                           for (const auto& [name, value] : all) object[name] = value;
                                           return json::value(object);
                                       })));
}

rc::Gen<json::object> any_object() {
    return rc::gen::map(rc::gen::resize(8, rc::gen::container<std::vector<json::value>>(any_value(2))),
                        [](const std::vector<json::value>& values) {
                            static constexpr std::array names{"_meta", "name", "requestId", "reason", "arguments"};
                            json::object object;
                            for (std::size_t i = 0; i < values.size(); ++i) {
                                object[i < names.size() ? names[i] : "k" + std::to_string(i)] = values[i];
                            }
                            return object;
                        });
}

/// Equal, but for the last bits of doubles, which Boost.JSON 1.81 does not always read as they were written.
bool alike(const json::value& a, const json::value& b) {
    if (a.is_double() && b.is_double()) {
        return std::abs(a.get_double() - b.get_double()) <= 1e-12 * std::abs(a.get_double());
    }
    if (a.is_number() && b.is_number()) return a == b;
    if (a.kind() != b.kind()) return false;
    if (a.is_array()) {
        return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(), b.get_array().end(),
                          alike);
    }
    if (!a.is_object()) return a == b;
    if (a.get_object().size() != b.get_object().size()) return false;
    return std::all_of(a.get_object().begin(), a.get_object().end(), [&](const auto& member) {
        const json::value* const other = b.get_object().if_contains(member.key());
        return other != nullptr && alike(member.value(), *other);
    });
}

bool is_json(std::string_view text) {
    json::parse_options options;
    options.max_depth = 1'000;
    boost::system::error_code failed;
    static_cast<void>(json::parse(text, failed, {}, options));
    return !failed;
}

std::string raw_of(const json::object& from, std::string_view key) {
    const json::value* const found = from.if_contains(key);
    return found == nullptr ? std::string() : json::serialize(*found);
}

RC_GTEST_PROP(envelope_reader, any_params_come_through_whole, ()) {
    const json::object params = *any_object();
    const padded line(request_message(7, "m", params));
    envelope_reader reader;
    const envelope* const message = reader.read(line);
    RC_ASSERT(message != nullptr);
    RC_ASSERT(message->kind == message_kind::request);
    RC_ASSERT(alike(json::parse(message->raw_params), params));
    RC_ASSERT(message->raw_name == raw_of(params, "name"));
    RC_ASSERT(message->raw_meta == raw_of(params, "_meta"));
    RC_ASSERT(message->raw_request_id == raw_of(params, "requestId"));
    RC_ASSERT(message->raw_reason == raw_of(params, "reason"));
}

RC_GTEST_PROP(envelope_reader, any_result_comes_through_whole, ()) {
    const json::value result = *any_value(3);
    const padded line(result_message("\"x\"", json::serialize(result)));
    envelope_reader reader;
    const envelope* const message = reader.read(line);
    RC_ASSERT(message != nullptr);
    RC_ASSERT(message->kind == message_kind::result);
    RC_ASSERT(message->id == request_id_view("x"));
    RC_ASSERT(alike(json::parse(message->raw_result), result));
}

RC_GTEST_PROP(envelope_reader, takes_a_damaged_message_for_json_exactly_when_boost_does, ()) {
    std::string text = request_message(7, "m", *any_object());
    const auto damages = *rc::gen::inRange(1, 4);
    for (int i = 0; i < damages; ++i) {
        const auto at = *rc::gen::inRange<std::size_t>(1, text.size());  // it still begins as an object
        const char other =
            *rc::gen::elementOf(std::string("{}[],:\"\\0123456789.eE+-truefalsn \t\x01\x7f\x80\xc3\xff"));
        switch (*rc::gen::inRange(0, 3)) {
            case 0: text[at] = other; break;
            case 1: text.insert(at, 1, other); break;
            default: text.erase(at, 1);
        }
    }
    envelope_reader reader({.depth = 900});
    const bool taken = reader.read(padded(text)) != nullptr || reader.fault().code != error_code::parse_error;
    RC_ASSERT(taken == is_json(text));
}

RC_GTEST_PROP(envelope_reader, gives_the_messages_of_a_batch_as_they_were_written, ()) {
    const auto values =
        *rc::gen::nonEmpty(rc::gen::resize(8, rc::gen::container<std::vector<json::value>>(any_value(2))));
    const std::string text = json::serialize(json::array(values.begin(), values.end()));
    envelope_reader reader;
    const padded line(text);
    const auto messages = reader.split_batch(line);
    RC_ASSERT(messages.has_value());
    RC_ASSERT(messages->size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i) RC_ASSERT((*messages)[i] == json::serialize(values[i]));
}

}  // namespace
}  // namespace andon
