#include "gateway/config/config_values.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "gateway/config/command_words.hpp"

namespace andon::gateway {
namespace {

constexpr std::size_t most_texts = 1'024;

bool is_name_character(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

std::string plain_text(std::string_view text) {
    if (text.size() > longest_text) return "a text of at most " + std::to_string(longest_text) + " bytes";
    if (text.find('\0') != std::string_view::npos) return "a text without zero bytes";
    return {};
}

std::string variable_name(std::string_view text) {
    const bool good = text.empty() || (std::all_of(text.begin(), text.end(), is_name_character) &&
                                       (text.front() < '0' || text.front() > '9'));
    return good ? "" : "the name of an environment variable, as \"API_TOKEN\" (never the secret itself)";
}

std::string read_texts(std::vector<std::string>& into, const toml_node& from) {
    const auto* const elements = std::get_if<toml_array>(&from.value);
    if (elements == nullptr) return "a list of texts, as [\"one\", \"two\"]";
    if (elements->size() > most_texts) return "a list of at most " + std::to_string(most_texts) + " texts";
    std::vector<std::string> texts;
    for (const toml_node& each : *elements) {
        if (each.text() == nullptr) return "a list of texts, as [\"one\", \"two\"]";
        if (std::string expected = plain_text(*each.text()); !expected.empty()) return "a list, each " + expected;
        texts.push_back(*each.text());
    }
    into = std::move(texts);
    return {};
}

std::string read_text_map(std::map<std::string, std::string>& into, const toml_node& from, text_check name_check,
                          text_check value_check) {
    if (from.table() == nullptr) return "a table of texts, as { NAME = \"value\" }";
    if (from.table()->size() > most_texts) return "a table of at most " + std::to_string(most_texts) + " texts";
    std::map<std::string, std::string> texts;
    for (const toml_member& each : *from.table()) {
        const std::string* const value = each.value.text();
        if (value == nullptr) return "a table of texts, as { NAME = \"value\" }";
        std::string expected = name_check(each.key);
        if (each.key.empty()) expected = "a name";
        if (!expected.empty()) return "a table whose names are each " + expected;
        expected = plain_text(*value);
        if (expected.empty()) expected = value_check(*value);
        if (!expected.empty()) return "a table whose values are each " + expected;
        texts[each.key] = *value;
    }
    into = std::move(texts);
    return {};
}

std::string read_path(std::string& into, const toml_node& from, std::string_view base) {
    const std::string* const text = from.text();
    if (text == nullptr) return "a path in quotes";
    if (std::string expected = plain_text(*text); !expected.empty()) return expected;
    std::filesystem::path path = *text;
    if (text->starts_with("~/")) {
        const char* const home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): nobody sets it
        if (home == nullptr || *home == '\0') return "a path without ~: HOME is not set";
        path = std::filesystem::path(home) / text->substr(2);
    } else if (!text->empty() && path.is_relative() && !base.empty()) {
        path = std::filesystem::path(base) / path;
    }
    into = path.lexically_normal().string();
    return {};
}

std::string read_command(std::vector<std::string>& into, const toml_node& from) {
    constexpr const char* expected = "a command: a list as [\"npx\", \"some-server\"], or one text";
    std::vector<std::string> words;
    if (const std::string* const line = from.text()) {
        if (std::string wrong = plain_text(*line); !wrong.empty()) return wrong;
        auto split = command_words(*line);
        if (!split) return "a command whose quotes are closed";
        words = std::move(*split);
    } else if (!read_texts(words, from).empty()) {
        return expected;
    }
    if (words.empty() || words.front().empty()) return expected;
    into = std::move(words);
    return {};
}

json::value shown(const std::vector<std::string>& texts) {
    json::array made;
    for (const std::string& each : texts) made.emplace_back(each);
    return made;
}

json::value shown(const std::map<std::string, std::string>& texts) {
    json::object made;
    for (const auto& [name, value] : texts) made[name] = value;
    return made;
}

}  // namespace andon::gateway
