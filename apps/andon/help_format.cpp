#include "help_format.hpp"

#include <algorithm>

#include "terminal.hpp"

namespace andon::app {
namespace {

constexpr std::size_t columns = 80;
constexpr std::size_t names = 28;
constexpr std::size_t command_names = 14;

std::string below_one_another(const std::string& text, std::size_t margin) {
    std::string all;
    for (const std::string& each : wrapped(text, columns - margin)) (all += all.empty() ? "" : "\n") += each;
    return all;
}

/// What CLI11 makes of a set, `TEXT:{a,b}`, as people write it: `a|b`. What an option needs stands in its description.
std::string plain(std::string opts) {
    opts.resize(std::min(opts.find(" Needs:"), opts.size()));
    const auto open = opts.find("TEXT:{");
    const auto close = opts.find('}', open);
    if (open == std::string::npos || close == std::string::npos) return opts;
    std::string choices = opts.substr(open + 6, close - open - 6);
    std::ranges::replace(choices, ',', '|');
    return opts.replace(open, close - open + 1, choices);
}

}  // namespace

help_format::help_format() { column_width(names); }

std::string help_format::make_option_opts(const CLI::Option* option) const {
    if (option->nonpositional()) return plain(Formatter::make_option_opts(option));
    return option->get_expected_max() > 1 ? " ..." : "";
}

std::string help_format::make_option_desc(const CLI::Option* option) const {
    return below_one_another(option->get_description(), names);
}

std::string help_format::make_subcommand(const CLI::App* command) const {
    std::stringstream out;
    CLI::detail::format_help(out, command->get_name(), below_one_another(command->get_description(), command_names),
                             command_names);
    return out.str();
}

}  // namespace andon::app
