#include "call/tool_arguments.hpp"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <cerrno>
#include <fcntl.h>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

#include "andon/core/visible_text.hpp"
#include "call/argument_schema.hpp"
#include "call/safe_text.hpp"
#include "gateway/config/nearest_word.hpp"

namespace andon::app {
namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20U;

json::value parsed(std::string_view text, const std::string& whose) {
    boost::system::error_code fault;
    json::value value = json::parse({text.data(), text.size()}, fault);
    if (fault) throw std::invalid_argument(whose + ": no JSON (" + fault.message() + "): " + visible_text(text, 80));
    return value;
}

bool is_json_of(std::string_view text, const argument_schema& schema, json::value& value) {
    boost::system::error_code fault;
    value = json::parse({text.data(), text.size()}, fault);
    return !fault && !value.is_string() && !schema.fault_of(value);
}

json::object object_from(std::string_view text, const std::string& whose) {
    json::value value = parsed(text, whose);
    if (!value.is_object()) throw std::invalid_argument(whose + ": the arguments of a tool are a JSON object");
    return std::move(value.get_object());
}

void add_pair(std::string_view word, const std::vector<argument_schema>& known, json::object& to) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        throw std::invalid_argument(in_quotes(word) + " is neither key=value nor key:=JSON nor a JSON object");
    }
    const bool forced = equals > 1 && word[equals - 1] == ':';
    const std::string_view key = word.substr(0, forced ? equals - 1 : equals);
    const std::string_view text = word.substr(equals + 1);
    if (to.contains(key)) throw std::invalid_argument(in_quotes(key) + " is given twice");
    const auto found = std::ranges::find(known, key, &argument_schema::name);
    if (forced) {
        to[key] = parsed(text, std::string(in_quotes(key)));
    } else {
        to[key] = value_from(text, found == known.end() ? argument_schema{.name = std::string(key)} : *found);
    }
}

void check(const json::object& given, const std::vector<argument_schema>& known, const json::object& input_schema) {
    const std::vector<std::string> names = names_of(known);
    const json::value* const others = input_schema.if_contains("additionalProperties");
    const bool closed = others != nullptr && *others == false;
    for (const auto& [key, value] : given) {
        const auto found = std::ranges::find(known, key, &argument_schema::name);
        if (found == known.end()) {
            if (closed) {
                throw std::invalid_argument("the tool has no argument " + in_quotes(key) +
                                            gateway::did_you_mean(key, names));
            }
        } else if (const auto fault = found->fault_of(value)) {
            throw std::invalid_argument("the argument " + in_quotes(key) + ' ' + *fault);
        }
    }
    for (const argument_schema& each : known) {
        if (!each.required || given.contains(each.name)) continue;
        // What is not known may be what is missing.
        std::string unknown;
        for (const auto& [key, value] : given) {
            if (std::ranges::find(names, key) == names.end() && !gateway::did_you_mean(key, {each.name}).empty()) {
                unknown = "; " + in_quotes(key) + " is no argument of it";
            }
        }
        throw std::invalid_argument("the tool needs the argument " + in_quotes(each.name) + " (" + each.type_text() +
                                    ')' + unknown);
    }
}

}  // namespace

json::value value_from(std::string_view text, const argument_schema& schema) {
    json::value value;
    const bool only_text =
        schema.types.empty() ? schema.choices.empty() : schema.types == std::vector<std::string>{"string"};
    if (only_text) return json::value(text);
    // A choice without a type, or one type of several: what is no text but fits is that.
    if (is_json_of(text, schema, value)) return value;
    if (schema.types.empty() || schema.takes("string")) return json::value(text);
    const std::string name = schema.name.empty() ? std::string("it") : "the argument " + in_quotes(schema.name);
    throw std::invalid_argument(name + " must be " + schema.type_text() + ", and is " + visible_text(text, 80));
}

std::string read_text(std::string_view from) {
    const bool standard_input = from == "-";
    const std::string name(standard_input ? "standard input" : from);
    const int fd = standard_input ? STDIN_FILENO : ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    std::string text;
    ssize_t got = fd < 0 ? -1 : 1;
    std::array<char, 65'536> part;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
    while (got > 0 && text.size() <= most_bytes) {
        got = ::read(fd, part.data(), part.size());
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            text.append(part.data(), static_cast<std::size_t>(got));
    }
    const int fault = errno;
    if (fd >= 0 && !standard_input) ::close(fd);
    if (got < 0) throw std::invalid_argument(visible_text(name, 200) + ": " + std::generic_category().message(fault));
    if (text.size() > most_bytes) throw std::invalid_argument(visible_text(name, 200) + ": more than 16 MiB");
    return text;
}

json::object tool_arguments(const std::vector<std::string>& words, const json::object& input_schema,
                            const text_source& read) {
    const std::vector<argument_schema> known = arguments_in(input_schema);
    json::object given;
    if (words.size() == 1 && words.front() == "-") {
        given = object_from(read("-"), "standard input");
    } else if (words.size() == 1 && words.front().starts_with('@')) {
        const std::string file = words.front().substr(1);
        given = object_from(read(file), visible_text(file, 200));
    } else if (words.size() == 1 && words.front().starts_with('{')) {
        given = object_from(words.front(), "the arguments");
    } else {
        for (const std::string& each : words) add_pair(each, known, given);
    }
    check(given, known, input_schema);
    return given;
}

}  // namespace andon::app
