#include "texts/man_page.hpp"

#include "help_text.hpp"
#include "texts/surroundings.hpp"

namespace andon::app {
namespace {

/// As text in the middle of a line. A bare hyphen would be set as a dash, and could not be copied.
std::string text_of(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        if (c == '\\') {
            safe += "\\e";
        } else if (c == '-') {
            safe += "\\-";
        } else if (c == '\'') {
            safe += "\\(aq";
        } else if (c == '`') {
            safe += "\\(ga";
        } else if (c == '^') {
            safe += "\\(ha";
        } else if (c == '~') {
            safe += "\\(ti";
        } else {
            safe += c;
        }
    }
    return safe;
}

/// As a whole line: a dot at its beginning would be a command of roff's.
std::string line_of(std::string_view text) {
    const std::string safe = text_of(text);
    return (safe.starts_with('.') ? "\\&" : "") + safe + '\n';
}

std::string lines_of(std::string_view text) {
    std::string all;
    while (!text.empty()) {
        const auto end = text.find('\n');
        all += end == 0 ? "\n" : line_of(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return all;
}

std::string heading(std::string_view text) { return ".SH " + std::string(text) + '\n'; }
std::string bold(std::string_view text) { return "\\fB" + text_of(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + text_of(text) + "\\fR"; }

std::string entry(const std::string& tag, std::string_view about) { return ".TP\n" + tag + '\n' + line_of(about); }

std::string option_entry(const option_model& option) {
    std::string tag;
    for (const std::string& each : option.names) {
        tag += (tag.empty() ? "" : ", ") + (option.positional ? italic(each) : bold(each));
    }
    if (!option.positional && option.takes_value()) tag += ' ' + italic(option.type);
    std::string about = option.description;
    if (!option.choices.empty()) {
        about += about.empty() ? "One of " : ". One of ";
        for (const std::string& each : option.choices) about += (&each == option.choices.data() ? "" : ", ") + each;
    }
    return entry(tag, about.empty() ? "\\&" : about + '.');
}

/// Every command has it.
bool is_help(const option_model& option) { return option.names.back().starts_with("--help"); }

std::string usage_of(const std::string& path, const command_model& command) {
    std::string usage = bold(path) + (command.options.empty() ? "" : " [" + italic("OPTIONS") + ']');
    for (const option_model& each : command.options) {
        if (!each.positional) continue;
        const std::string name = italic(each.names.front()) + (each.repeated ? " ..." : "");
        usage += each.required ? ' ' + name : " [" + name + ']';
    }
    if (!command.commands.empty()) usage += ' ' + italic("COMMAND");
    return usage;
}

/// Without the statuses, which all have in common: they have a section of their own.
std::string footer_of(const command_model& command) {
    const std::string_view footer = command.footer;
    const auto end = footer.find("\nExit status:");
    const std::string_view examples = footer.substr(0, end == std::string_view::npos ? footer.size() : end);
    return examples.empty() ? std::string() : ".PP\n.EX\n" + lines_of(examples) + ".EE\n";
}

std::string sections_of(const std::string& path, const command_model& command) {
    std::string text;
    for (const command_model& each : command.commands) {
        const std::string below = path + ' ' + each.name;
        text +=
            ".SS \"" + text_of(below) + "\"\n" + usage_of(below, each) + "\n.PP\n" + line_of(each.description + '.');
        for (const option_model& option : each.options) text += option.positional ? option_entry(option) : "";
        for (const option_model& option : each.options) {
            if (!option.positional && !is_help(option)) text += option_entry(option);
        }
        text += footer_of(each) + sections_of(below, each);
    }
    return text;
}

}  // namespace

std::string man_page(const command_model& root) {
    std::string text = ".\\\" Made by `andon man` from the command line itself.\n";
    text += ".TH ANDON 1 \"\" \"andon " ANDON_VERSION "\" \"User Commands\"\n";
    text += heading("NAME") + "andon \\- cancellation for the Model Context Protocol, in front of any server\n";
    text += heading("SYNOPSIS") + usage_of("andon", root) + '\n';
    text += heading("DESCRIPTION") + lines_of(root.description);
    text += heading("OPTIONS");
    for (const option_model& each : root.options) text += option_entry(each);
    text += heading("COMMANDS") + sections_of("andon", root);
    text += heading("EXIT STATUS");
    for (const status_text& each : all_statuses) text += entry(bold(std::to_string(each.status)), each.about);
    text += heading("ENVIRONMENT");
    for (const surrounding& each : environment_variables) text += entry(bold(each.name), each.about);
    text += heading("FILES");
    for (const surrounding& each : files) text += entry(italic(each.name), each.about);
    return text;
}

}  // namespace andon::app
