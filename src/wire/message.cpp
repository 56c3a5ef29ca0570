#include "andon/wire/message.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <initializer_list>

namespace andon {
namespace {

constexpr std::string_view opening = R"({"jsonrpc":"2.0")";

std::string joined(std::initializer_list<std::string_view> parts) {
    std::size_t size = 0;
    for (const auto part : parts) size += part.size();
    std::string text;
    text.reserve(size);
    for (const auto part : parts) text += part;
    return text;
}

std::string number(double value) {
    constexpr double exact = 1LL << 53;
    if (!std::isfinite(value)) return "0";
    if (value == std::floor(value) && std::abs(value) < exact) return std::to_string(static_cast<std::int64_t>(value));
    return json::serialize(json::value(value));
}

std::string error_object(int code, std::string_view message, const json::value& data) {
    std::string text = joined({R"({"code":)", std::to_string(code), R"(,"message":)", json_quoted(message)});
    if (!data.is_null()) text += R"(,"data":)" + json_text(data);
    return text += '}';
}

/// The length of the UTF-8 sequence at the front, 0 where there is none.
std::size_t sequence_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const auto follows = [&](std::size_t at, unsigned low = 0x80, unsigned high = 0xBF) {
        return at < text.size() && byte(at) >= low && byte(at) <= high;
    };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
        const unsigned high = first == 0xED ? 0x9F : 0xBF;
        return follows(1, low, high) && follows(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const unsigned low = first == 0xF0 ? 0x90 : 0x80;
        const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
        return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

/// In a JSON string, and alone.
bool says_itself(char c) noexcept { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

}  // namespace

std::string json_quoted(std::string_view text) {
    constexpr std::string_view replacement = "\xEF\xBF\xBD";
    constexpr std::string_view hexadecimal = "0123456789abcdef";
    std::string out;
    out.reserve(text.size() + 2);
    out += '"';
    if (std::all_of(text.begin(), text.end(), says_itself)) return (out += text) += '"';
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        const char c = text.front();
        if (length == 0) {
            out += replacement;
        } else if (length > 1) {
            out += text.substr(0, length);
        } else if (c == '"' || c == '\\') {
            (out += '\\') += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (static_cast<unsigned char>(c) < 0x20) {
            const auto code = static_cast<unsigned char>(c);
            ((out += "\\u00") += hexadecimal[code >> 4U]) += hexadecimal[code & 0xFU];
        } else {
            out += c;
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out += '"';
}

namespace {

bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

bool can_be_said(const json::value& value) noexcept {
    switch (value.kind()) {
        case json::kind::double_: return std::isfinite(value.get_double());
        case json::kind::string: return is_utf8(value.get_string());
        case json::kind::array: return std::all_of(value.get_array().begin(), value.get_array().end(), can_be_said);
        case json::kind::object:
            return std::all_of(value.get_object().begin(), value.get_object().end(),
                               [](const auto& member) { return is_utf8(member.key()) && can_be_said(member.value()); });
        default: return true;
    }
}

std::string mended(const json::value& value) {
    const auto list = [](char open, const auto& items, char close, const auto& write) {
        std::string text(1, open);
        for (const auto& item : items) {
            if (text.size() > 1) text += ',';
            text += write(item);
        }
        return text += close;
    };
    switch (value.kind()) {
        case json::kind::double_: return std::isfinite(value.get_double()) ? json::serialize(value) : "null";
        case json::kind::string: return json_quoted(value.get_string());
        case json::kind::array: return list('[', value.get_array(), ']', mended);
        case json::kind::object:
            return list('{', value.get_object(), '}',
                        [](const auto& member) { return json_quoted(member.key()) + ':' + mended(member.value()); });
        default: return json::serialize(value);
    }
}

}  // namespace

std::string json_text(const json::value& value) { return can_be_said(value) ? json::serialize(value) : mended(value); }

std::string json_text(const json::object& value) {
    const bool fine = std::all_of(value.begin(), value.end(), [](const auto& member) {
        return is_utf8(member.key()) && can_be_said(member.value());
    });
    return fine ? json::serialize(value) : mended(value);
}

std::string result_message(std::string_view raw_id, std::string_view raw_result) {
    return joined({opening, R"(,"id":)", raw_id, R"(,"result":)", raw_result, "}"});
}

std::string error_message(std::string_view raw_id, int code, std::string_view message, const json::value& data) {
    return joined({opening, R"(,"id":)", raw_id, R"(,"error":)", error_object(code, message, data), "}"});
}

std::string raw_error_message(std::string_view raw_id, std::string_view raw_error) {
    return joined({opening, R"(,"id":)", raw_id, R"(,"error":)", raw_error, "}"});
}

std::string error_without_id(int code, std::string_view message, const revision_policy& policy) {
    const std::string_view id = policy.error_id_may_be_absent ? "" : R"(,"id":null)";
    return joined({opening, id, R"(,"error":)", error_object(code, message, nullptr), "}"});
}

std::string request_message(std::int64_t id, std::string_view method, const json::object& params) {
    return joined({opening, R"(,"id":)", std::to_string(id), R"(,"method":)", json_quoted(method), R"(,"params":)",
                   json_text(params), "}"});
}

std::string raw_request_message(std::int64_t id, std::string_view method, std::string_view raw_params) {
    const std::string number = std::to_string(id);
    if (raw_params.empty()) return joined({opening, R"(,"id":)", number, R"(,"method":)", json_quoted(method), "}"});
    return joined(
        {opening, R"(,"id":)", number, R"(,"method":)", json_quoted(method), R"(,"params":)", raw_params, "}"});
}

std::string notification_message(std::string_view method, const json::object& params) {
    return whole_notification_message(method, params.empty() ? std::string() : json_text(params));
}

std::string whole_notification_message(std::string_view method, std::string_view raw_params) {
    if (raw_params.empty()) return joined({opening, R"(,"method":)", json_quoted(method), "}"});
    return joined({opening, R"(,"method":)", json_quoted(method), R"(,"params":)", raw_params, "}"});
}

std::string raw_notification_message(std::string_view method, std::string_view raw_members) {
    return joined({opening, R"(,"method":)", json_quoted(method), R"(,"params":{)", raw_members, "}}"});
}

std::string raw_subscription_message(std::string_view raw_id, std::string_view method, std::string_view raw_members) {
    return joined({opening, R"(,"method":)", json_quoted(method),
                   R"(,"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)", raw_id,
                   raw_members.empty() ? "}" : "},", raw_members, "}}"});
}

std::string subscription_message(std::string_view raw_id, std::string_view method, const json::object& params) {
    const std::string raw = json_text(params);
    return raw_subscription_message(raw_id, method, std::string_view(raw).substr(1, raw.size() - 2));
}

std::string cancelled_message(std::string_view raw_id, std::string_view reason) {
    std::string text = joined({opening, R"(,"method":"notifications/cancelled","params":{"requestId":)", raw_id});
    if (!reason.empty()) text += R"(,"reason":)" + json_quoted(reason);
    return text += "}}";
}

std::string progress_message(std::string_view raw_token, const progress_update& update, const revision_policy& policy) {
    std::string text = joined({opening, R"(,"method":"notifications/progress","params":{"progressToken":)", raw_token,
                               R"(,"progress":)", number(update.progress)});
    if (update.total) text += R"(,"total":)" + number(*update.total);
    if (!update.message.empty() && policy.progress_message) text += R"(,"message":)" + json_quoted(update.message);
    return text += "}}";
}

}  // namespace andon
