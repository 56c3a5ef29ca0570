#include "texts/completion_words.hpp"

#include <algorithm>
#include <stdexcept>

#include "gateway/config/command_words.hpp"
#include "texts/completion_values.hpp"

namespace andon::app {
namespace {

constexpr std::string_view bash_script = R"(# bash completion for andon
_andon_command() {
    local first=1
    while [[ $first -lt $COMP_CWORD && ${COMP_WORDS[first]} != -- ]]; do ((first++)); done
    ((first++))
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$first"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$first"
    else
        compopt -o default
        ((first < COMP_CWORD)) || mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
    fi
}
_andon() {
    local word about
    COMPREPLY=()
    while IFS=$'\t' read -r word about; do
        case $word in
        :files) compopt -o default ;;
        :folders) compopt -o dirnames ;;
        :command) _andon_command ;;
        *)
            [[ $word == *[!A-Za-z0-9_.,/@%+-]* ]] && printf -v word %q "$word"
            COMPREPLY+=("$word")
            ;;
        esac
    done < <(command andon __complete -- "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -F _andon andon
)";

constexpr std::string_view zsh_script = R"(#compdef andon
# zsh completion for andon
_andon() {
    local -a found typed files
    local word about command
    typed=("${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}")
    while IFS=$'\t' read -r word about; do
        case $word in
        (:files) files=(_files) ;;
        (:folders) files=(_files -/) ;;
        (:command) command=yes ;;
        (*) found+=("${word//:/\\:}:${about}") ;;
        esac
    done < <(command andon __complete -- "${(j: :)${(@q)typed}}" 2>/dev/null)
    if [[ -n $command ]]; then
        (( CURRENT -= ${words[(i)--]} ))
        words=("${(@)words[${words[(i)--]} + 1,-1]}")
        _normal
        return
    fi
    [[ $PREFIX == --*=* ]] && compset -P '*='
    (( $#found )) && _describe andon found
    (( $#files )) && $files
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
    std::string config{};                    ///< the value of --config
};

place find_place(const command_model& root, const std::vector<std::string>& words) {
    place at{&root};
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        const std::string& word = words[i];
        if (at.value_of != nullptr) {
            if (words[i - 1] == "--config") at.config = word;
            at.value_of = nullptr;
        } else if (!at.only_positionals && word == "--") {
            at.only_positionals = true;
        } else if (!at.only_positionals && word.starts_with('-') && word.size() > 1) {
            const option_model* const option = option_named(*at.command, word);
            if (option != nullptr && option->takes_value()) at.value_of = option;
            if (constexpr std::string_view config = "--config="; word.starts_with(config)) {
                at.config = word.substr(config.size());
            }
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

/// What may come next of the words that have no dashes; null: nothing.
const option_model* next_positional(const place& at) {
    std::size_t passed = 0;
    for (const option_model& each : at.command->options) {
        if (each.positional && (each.repeated || passed++ == at.positionals)) return &each;
    }
    return nullptr;
}

class candidates {
public:
    candidates(const place& at, std::string_view begun) : at_(at), begun_(begun) {}

    void add(std::string_view word, std::string_view about = {}) {
        if (!word.starts_with(begun_)) return;
        ((text_ += word) += '\t') += about.substr(0, about.find('\n'));
        text_ += '\n';
    }
    void add_options() {
        for (const option_model& each : at_.command->options) {
            if (each.positional) continue;
            for (const std::string& name : each.names) add(name, each.description);
        }
    }
    void add_values(const option_model& option) {
        for (const std::string& each : option.choices) add(each);
        if (!option.choices.empty()) return;
        // A server in several words is a command.
        const bool command = option.positional && option.repeated && at_.only_positionals;
        const auto found = values_of(at_.command->name, command ? "COMMAND" : option.value(), at_.config);
        // Only behind the dashes is it ours to offer: before them, a word of the command's would be an option of ours.
        if (found.beside == shells_own::command && !at_.only_positionals) return add("--", option.description);
        const std::string before = option.separator == 0 ? "" : list_begun(option.separator);
        for (const offered_word& each : found.words) add(before + each.text, each.about);
        if (found.beside == shells_own::files) text_ += ":files\n";
        if (found.beside == shells_own::folders) text_ += ":folders\n";
        if (found.beside == shells_own::command) text_ += ":command\n";
    }
    [[nodiscard]] std::string take() && { return std::move(text_); }

private:
    /// `a,b,` of `a,b,c`.
    [[nodiscard]] std::string list_begun(char separator) const {
        return std::string(begun_.substr(0, begun_.rfind(separator) + 1));
    }

    const place& at_;
    std::string_view begun_;
    std::string text_;
};

}  // namespace

std::string completion_words(const command_model& root, std::string_view line) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 2) return {};
    const place at = find_place(root, words);
    const std::string_view last = words.back();
    if (at.value_of != nullptr) {
        candidates found(at, last);
        found.add_values(*at.value_of);
        return std::move(found).take();
    }
    if (!at.only_positionals && last.starts_with('-')) {
        // Of `--option=value` the shells ask for the value alone.
        const auto equals = last.find('=');
        candidates found(at, equals == std::string_view::npos ? last : last.substr(equals + 1));
        if (equals == std::string_view::npos) {
            found.add_options();
        } else if (const option_model* const option = option_named(*at.command, last.substr(0, equals))) {
            found.add_values(*option);
        }
        return std::move(found).take();
    }
    candidates found(at, last);
    for (const command_model& each : at.command->commands) found.add(each.name, each.description);
    if (const option_model* const next = next_positional(at)) found.add_values(*next);
    return std::move(found).take();
}

std::string completion_script(std::string_view shell) {
    return std::string(shell == "bash" ? bash_script : shell == "zsh" ? zsh_script : std::string_view());
}

}  // namespace andon::app
