#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "andon/core/visible_text.hpp"
#include "gateway/config/nearest_word.hpp"

namespace andon::app {
namespace {

constexpr char mark = '\x01';

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

std::string unknown_subcommand(const CLI::App& app, const std::vector<std::string>& words) {
    const CLI::App* at = &app;
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
            return "there is no \"" + visible_text(word, 64) + '"' + (meant.empty() ? "; see andon --help" : meant);
        }
        at = found;
    }
    return {};
}

}  // namespace andon::app
