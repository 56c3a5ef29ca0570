#include "gateway/config/command_words.hpp"

namespace andon::gateway {
namespace {

/// Between double quotes a \ is one, but before these.
bool escaped_in_quotes(char c) { return c == '"' || c == '\\' || c == '$' || c == '`'; }

}  // namespace

std::optional<std::vector<std::string>> command_words(std::string_view line) {
    std::vector<std::string> words;
    bool in_word = false;
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        const bool space = c == ' ' || c == '\t' || c == '\n';
        if (quote == 0 && space) {
            in_word = false;
            continue;
        }
        if (!in_word) words.emplace_back();
        in_word = true;
        if (c == '\\' && quote != '\'') {
            if (++i == line.size()) return std::nullopt;
            if (quote == '"' && !escaped_in_quotes(line[i])) words.back() += c;
            words.back() += line[i];
        } else if (quote != 0 ? c == quote : c == '\'' || c == '"') {
            quote = quote == 0 ? c : '\0';
        } else {
            words.back() += c;
        }
    }
    if (quote != 0) return std::nullopt;
    return words;
}

}  // namespace andon::gateway
