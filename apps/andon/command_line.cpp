#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "andon/core/visible_text.hpp"
#include "gateway/config/nearest_word.hpp"

namespace andon::app {
namespace {

constexpr char mark = '\x01';

std::vector<const CLI::App*> parsed_commands(const CLI::App& app) {
    std::vector<const CLI::App*> all{&app};
    while (!all.back()->get_subcommands().empty()) all.push_back(all.back()->get_subcommands().front());
    return all;
}

/// Without their dashes, which would make any two of them alike.
std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* const each : app.get_options()) {
        if (each->get_group().empty()) continue;
        for (const std::string& name : each->get_lnames()) names.push_back(name);
    }
    return names;
}

bool takes_value(const CLI::App& app, const std::string& word) {
    const CLI::Option* const option = app.get_option_no_throw(word);
    return option != nullptr && option->get_expected_max() > 0;
}

}  // namespace

std::vector<std::string> mark_brackets(std::vector<std::string> words) {
    for (std::string& each : words) {
        // One that begins with the mark gets another, so that it comes out as it went in.
        if (each.starts_with('[') || each.starts_with(mark)) each.insert(each.begin(), mark);
    }
    return words;
}

std::string without_marks(std::string text) {
    std::erase(text, mark);
    return text;
}

void take_marks_off(CLI::App& app) {
    const auto take_off = [](std::string& word) {
        if (word.starts_with(mark)) word.erase(0, 1);
        return std::string();  // nothing is wrong with it
    };
    for (CLI::Option* const each : app.get_options()) each->transform(CLI::Validator(take_off, ""));
    for (CLI::App* const each : app.get_subcommands({})) take_marks_off(*each);
}

std::string expect_name(const std::string& file) { return file.empty() ? "the name of a file is empty" : ""; }

std::string unknown_subcommand(const CLI::App& app, const std::vector<std::string>& words) {
    const CLI::App* at = &app;
    std::string path = app.get_name();
    for (const std::string& word : words) {
        if (at->get_require_subcommand_min() == 0 || word.starts_with('-')) break;
        std::vector<std::string> names;
        const CLI::App* found = nullptr;
        for (const CLI::App* const each : at->get_subcommands([](const CLI::App*) { return true; })) {
            if (!each->get_group().empty()) names.push_back(each->get_name());  // without a group it is hidden
            if (each->get_name() == word) found = each;
        }
        if (found == nullptr) {
            const std::string meant = gateway::did_you_mean(word, names);
            return "there is no \"" + visible_text(word, 64) + '"' +
                   (meant.empty() ? "; see " + path + " --help" : meant);
        }
        at = found;
        path += ' ' + word;
    }
    return {};
}

std::string missing_dashes(const CLI::App& app, const std::vector<std::string>& words) {
    if (words.empty() || (words.front() != "wrap" && words.front() != "gateway")) return {};
    const CLI::App* const command = app.get_subcommand(words.front());
    for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
        if (!words[i].starts_with('-')) {
            std::string right = "andon " + words.front();
            for (std::size_t j = 1; j < words.size(); ++j) right += (j == i ? " -- " : " ") + words[j];
            return "put -- before the command: " + visible_text(right, 200) +
                   (i + 1 == words.size() ? "; or --server before the name of a server of the configuration" : "");
        }
        if (takes_value(*command, words[i])) ++i;
    }
    return {};
}

std::string unknown_option(const CLI::App& app) {
    const auto unexpected = app.remaining(true);
    const auto option = std::ranges::find_if(unexpected, [](const std::string& each) { return each.starts_with('-'); });
    if (option == unexpected.end()) return {};
    const CLI::App& command = *parsed_commands(app).back();
    const std::string word = option->substr(0, option->find('='));
    const std::string text = "there is no option " + visible_text(word, 64);
    const std::vector<std::string> names = option_names(command);
    const std::string_view bare = std::string_view(word).substr(std::min(word.find_first_not_of('-'), word.size()));
    const std::vector<std::string_view> known(names.begin(), names.end());
    if (const auto meant = gateway::nearest_word(bare, known); bare.size() > 1 && !meant.empty()) {
        return text + "; did you mean --" + std::string(meant) + '?';
    }
    if (command.get_name() == "check") return text + "; put -- before a command that has options of its own";
    return text + "; see " + parsed_command(app) + " --help";
}

std::string parsed_command(const CLI::App& app) {
    std::string names;
    for (const CLI::App* const each : parsed_commands(app)) names += (names.empty() ? "" : " ") + each->get_name();
    return names;
}

}  // namespace andon::app
