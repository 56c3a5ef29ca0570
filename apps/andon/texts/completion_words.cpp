#include "texts/completion_words.hpp"

#include <algorithm>
#include <stdexcept>

#include "gateway/config/command_words.hpp"

namespace andon::app {
namespace {

constexpr std::string_view bash_script = R"(# bash completion for andon
_andon() {
    local word about
    COMPREPLY=()
    while IFS=$'\t' read -r word about; do
        if [[ $word == :files ]]; then
            compopt -o default
        else
            COMPREPLY+=("$word")
        fi
    done < <(command andon __complete -- "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -F _andon andon
)";

constexpr std::string_view zsh_script = R"(#compdef andon
# zsh completion for andon
_andon() {
    local -a found
    local word about files
    while IFS=$'\t' read -r word about; do
        if [[ $word == :files ]]; then
            files=yes
        else
            found+=("${word//:/\\:}:${about}")
        fi
    done < <(command andon __complete -- "${(j: :)${(@q)words[1,CURRENT]}}" 2>/dev/null)
    (( $#found )) && _describe andon found
    [[ -n $files ]] && _files
}
if [[ $funcstack[1] == _andon ]]; then
    _andon "$@"
else
    compdef _andon andon
fi
)";

/// With the word under the cursor last, which is empty behind a blank. A quote that is still open is closed.
std::vector<std::string> words_of(std::string_view line) {
    for (const std::string_view close : {"", "'", "\""}) {
        auto words = gateway::command_words(std::string(line) + std::string(close));
        if (!words) continue;
        const bool behind_blank = line.empty() || line.back() == ' ' || line.back() == '\t';
        if (behind_blank && close.empty()) words->emplace_back();
        return *std::move(words);
    }
    return {};
}

const option_model* option_named(const command_model& command, std::string_view name) {
    const auto found = std::ranges::find_if(command.options, [&](const option_model& each) {
        return !each.positional && std::ranges::find(each.names, name) != each.names.end();
    });
    return found == command.options.end() ? nullptr : &*found;
}

/// Where the cursor is.
struct place {
    const command_model* command;
    const option_model* value_of = nullptr;  ///< the word before is an option that wants a value
    std::size_t positionals = 0;             ///< that came before
    bool only_positionals = false;           ///< behind --
};

place find_place(const command_model& root, const std::vector<std::string>& words) {
    place at{&root};
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        const std::string& word = words[i];
        if (at.value_of != nullptr) {
            at.value_of = nullptr;
        } else if (!at.only_positionals && word == "--") {
            at.only_positionals = true;
        } else if (!at.only_positionals && word.starts_with('-') && word.size() > 1) {
            const option_model* const option = option_named(*at.command, word);
            if (option != nullptr && option->takes_value()) at.value_of = option;
        } else {
            const auto below = std::ranges::find(at.command->commands, word, &command_model::name);
            if (at.only_positionals || below == at.command->commands.end()) {
                ++at.positionals;
            } else {
                at = {&*below};
            }
        }
    }
    return at;
}

class candidates {
public:
    explicit candidates(std::string_view begun) : begun_(begun) {}

    void add(std::string_view word, std::string_view about = {}) {
        if (!word.starts_with(begun_)) return;
        ((text_ += word) += '\t') += about.substr(0, about.find('\n'));
        text_ += '\n';
    }
    void add_values(const option_model& option) {
        for (const std::string& each : option.choices) add(each);
        if (option.choices.empty()) text_ += ":files\n";
    }
    [[nodiscard]] std::string take() && { return std::move(text_); }

private:
    std::string_view begun_;
    std::string text_;
};

}  // namespace

std::string completion_words(const command_model& root, std::string_view line) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 2) return {};
    const place at = find_place(root, words);
    candidates found(words.back());
    if (at.value_of != nullptr) {
        found.add_values(*at.value_of);
        return std::move(found).take();
    }
    if (!at.only_positionals && words.back().starts_with('-')) {
        for (const option_model& each : at.command->options) {
            if (each.positional) continue;
            for (const std::string& name : each.names) found.add(name, each.description);
        }
        return std::move(found).take();
    }
    for (const command_model& each : at.command->commands) found.add(each.name, each.description);
    std::size_t passed = 0;
    for (const option_model& each : at.command->options) {
        if (!each.positional) continue;
        if (passed++ < at.positionals && !each.repeated) continue;
        found.add_values(each);
        break;
    }
    return std::move(found).take();
}

std::string completion_script(std::string_view shell) {
    return std::string(shell == "bash" ? bash_script : shell == "zsh" ? zsh_script : std::string_view());
}

}  // namespace andon::app
