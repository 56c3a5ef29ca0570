#include "gateway/plain_json.hpp"

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <charconv>
#include <cmath>

#include "andon/wire/message.hpp"

namespace andon::gateway {
namespace {

void append_number(std::string& to, double number) {
    constexpr double largest = 1e15;  // beyond, and close to zero, the digits would be mostly zeros
    constexpr double smallest = 1e-6;
    const double size = std::abs(number);
    std::array<char, 64> text{};
    const bool plain = number == 0 || (size >= smallest && size < largest);
    const auto end = plain ? std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed)
                           : std::to_chars(text.data(), text.data() + text.size(), number);
    to.append(text.data(), end.ptr);
}

void append(std::string& to, const json::value& value) {
    if (const json::object* const object = value.if_object()) {
        to += '{';
        for (const auto& [key, member] : *object) {
            if (&member != &object->begin()->value()) to += ',';
            (to += json_quoted(key)) += ':';
            append(to, member);
        }
        to += '}';
    } else if (const json::array* const array = value.if_array()) {
        to += '[';
        for (const json::value& each : *array) {
            if (&each != array->data()) to += ',';
            append(to, each);
        }
        to += ']';
    } else if (value.is_double() && std::isfinite(value.get_double())) {
        append_number(to, value.get_double());
    } else {
        to += json_text(value);
    }
}

}  // namespace

std::string plain_json(const json::value& value) {
    std::string text;
    append(text, value);
    return text;
}

}  // namespace andon::gateway
