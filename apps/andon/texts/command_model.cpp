#include "texts/command_model.hpp"

#include <CLI/CLI.hpp>

namespace andon::app {
namespace {

/// CLI11 writes the members of a set into the type: `TEXT:{a,b}`.
void take_choices(option_model& option) {
    const auto open = option.type.find(":{");
    if (open == std::string::npos || !option.type.ends_with('}')) return;
    std::string rest = option.type.substr(open + 2, option.type.size() - open - 3);
    for (std::size_t comma = 0; comma != std::string::npos; rest.erase(0, comma + 1)) {
        comma = rest.find(',');
        option.choices.push_back(rest.substr(0, comma));
        if (comma == std::string::npos) break;
    }
    option.type.resize(open);
}

option_model model_of(const CLI::Option& option, bool positional) {
    option_model model;
    model.positional = positional;
    if (model.positional) {
        model.names.push_back(option.get_name(true));
    } else {
        for (const std::string& each : option.get_snames()) model.names.push_back('-' + each);
        for (const std::string& each : option.get_lnames()) model.names.push_back("--" + each);
    }
    if (option.get_expected_max() != 0) model.type = option.get_type_name();
    take_choices(model);
    if (model.type.empty() && (model.positional || !model.choices.empty())) model.type = "TEXT";
    model.description = option.get_description();
    model.required = option.get_required();
    model.repeated = option.get_expected_max() > 1;
    model.separator = option.get_delimiter();
    return model;
}

}  // namespace

command_model model_of(const CLI::App& app) {
    command_model model{.name = app.get_name(), .description = app.get_description(), .footer = app.get_footer()};
    for (const CLI::Option* const each : app.get_options()) {
        if (each->get_group().empty()) continue;
        // Some can be said in both ways.
        if (each->get_positional()) model.options.push_back(model_of(*each, true));
        if (each->nonpositional()) model.options.push_back(model_of(*each, false));
    }
    for (const CLI::App* const each : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (each->get_group().empty()) continue;
        // What has no name is a group of options of its parent.
        command_model below = model_of(*each);
        if (below.name.empty()) {
            for (option_model& option : below.options) model.options.push_back(std::move(option));
        } else {
            model.commands.push_back(std::move(below));
        }
    }
    return model;
}

}  // namespace andon::app
