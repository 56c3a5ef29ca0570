#include "call/tool_list.hpp"

#include <algorithm>
#include <unistd.h>

#include "andon/core/visible_text.hpp"
#include "call/argument_schema.hpp"
#include "call/safe_text.hpp"
#include "exit_status.hpp"
#include "gateway/plain_json.hpp"
#include "terminal.hpp"

namespace andon::app {
namespace {

constexpr std::size_t longest_cell = 400;

std::vector<argument_schema> arguments_of(const json::object& tool) {
    const json::object* const schema = object_in(tool, "inputSchema");
    return schema == nullptr ? std::vector<argument_schema>() : arguments_in(*schema);
}

/// `ms:integer key?:string`
std::string arguments_text(const json::object& tool) {
    std::string text;
    for (const argument_schema& each : arguments_of(tool)) {
        if (!text.empty()) text += ' ';
        text += visible_text(each.name, 100) + (each.required ? ":" : "?:") + each.type_text();
    }
    return visible_text(text, longest_cell);
}

std::string first_line(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    text.remove_prefix(begin);
    return visible_text(text.substr(0, text.find_first_of("\r\n")), longest_cell);
}

struct row {
    std::string name, description, arguments;
};

}  // namespace

std::string tool_table(const json::array& tools, std::size_t columns, const palette& paint) {
    std::vector<row> rows{{"NAME", "DESCRIPTION", "ARGUMENTS"}};
    for (const json::value& each : tools) {
        if (!each.is_object()) continue;
        const json::object& tool = each.get_object();
        rows.push_back(
            {visible_text(text_in(tool, "name"), 128), first_line(text_in(tool, "description")), arguments_text(tool)});
    }
    std::size_t name = 0;
    std::size_t description = 0;
    for (const row& each : rows) {
        name = std::max(name, width_of(each.name));
        description = std::max(description, width_of(each.description));
    }
    if (columns > 0) {
        name = std::min(name, std::max<std::size_t>(12, columns / 3));
        const std::size_t left = columns > name + 4 ? columns - name - 4 : 0;
        description = std::min(description, std::max<std::size_t>(12, left * 3 / 5));
    }
    std::string text;
    for (const row& each : rows) {
        std::string line = fit(each.name, name) + "  " + fit(each.description, description) + "  " + each.arguments;
        if (columns > 0) line = fit(line, columns);
        line.erase(line.find_last_not_of(' ') + 1);
        text += (&each == rows.data() ? paint(colour::bold, line) : line) + '\n';
    }
    return text;
}

std::string tool_page(const json::object& tool, const palette& paint) {
    std::string text = paint(colour::bold, visible_text(text_in(tool, "name"), 200));
    if (const auto title = text_in(tool, "title"); !title.empty()) text += "  " + visible_text(title, 200);
    text += '\n';
    if (const auto about = text_in(tool, "description"); !about.empty()) text += visible_lines(about) + '\n';
    const auto arguments = arguments_of(tool);
    if (!arguments.empty()) text += '\n' + paint(colour::bold, "Arguments") + '\n';
    for (const argument_schema& each : arguments) {
        text += "  " + visible_text(each.name, 200) + "  " + each.type_text() + (each.required ? ", needed" : "");
        if (!each.choices.empty()) text += ", one of " + visible_text(gateway::plain_json(each.choices), longest_cell);
        if (!each.fallback.is_null())
            text += ", default " + visible_text(gateway::plain_json(each.fallback), longest_cell);
        if (!each.description.empty()) text += "  " + visible_text(each.description, 1'000);
        text += '\n';
    }
    for (const auto& [key, heading] :
         {std::pair("inputSchema", "Schema of the arguments"), std::pair("outputSchema", "Schema of the result"),
          std::pair("annotations", "Annotations"), std::pair("execution", "Execution")}) {
        const json::value* const found = tool.if_contains(key);
        if (found == nullptr) continue;
        text += '\n' + paint(colour::bold, heading) + '\n' + visible_lines(pretty_json(*found)) + '\n';
    }
    return text;
}

int show_tools(const tools_request& asked) {
    call_session session(asked.session);
    const bool terminal = on_terminal();
    const palette paint(terminal && colours_wanted());
    return session.run([&](client& server) {
        json::value found;
        if (asked.tool.empty()) {
            session.display().doing("listing tools");
            found = server.list_tools();
        } else {
            found = session.tool_named(asked.tool);
        }
        session.display().finish();
        if (asked.session.json) {
            print(gateway::plain_json(found) + '\n');
        } else if (found.is_object()) {
            print(tool_page(found.get_object(), paint));
        } else {
            print(tool_table(found.get_array(), terminal ? window_of(STDOUT_FILENO).columns : 0, paint));
        }
        return exit_status::ok;
    });
}

}  // namespace andon::app
