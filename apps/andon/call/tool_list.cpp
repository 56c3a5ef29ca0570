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

std::vector<row> rows_of(const json::array& tools) {
    std::vector<row> rows;
    for (const json::value& each : tools) {
        if (!each.is_object()) continue;
        const json::object& tool = each.get_object();
        rows.push_back(
            {visible_text(text_in(tool, "name"), 128), first_line(text_in(tool, "description")), arguments_text(tool)});
    }
    return rows;
}

std::string in_columns(std::string_view text, std::size_t columns, std::size_t indent) {
    if (columns == 0) return std::string(text) + '\n';
    std::string all;
    for (const std::string& each : wrapped(text, columns, indent)) all += each + '\n';
    return all;
}

std::string lines_in_columns(std::string_view text, std::size_t columns) {
    std::string all;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        all += in_columns(text.substr(0, end), columns, 0);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all;
}

std::string tool_entries(const std::vector<row>& rows, std::size_t columns, const palette& paint) {
    const std::string margin(std::min<std::size_t>(4, columns / 4), ' ');
    std::string text;
    for (const row& each : rows) {
        for (const std::string& line : wrapped(each.name, columns)) text += paint(colour::bold, line) + '\n';
        for (const std::string& part : {each.description, each.arguments}) {
            if (part.empty()) continue;
            for (const std::string& line : wrapped(part, columns - margin.size())) text += margin + line + '\n';
        }
    }
    return text;
}

}  // namespace

std::string tool_table(const json::array& tools, std::size_t columns, const palette& paint) {
    constexpr std::size_t rest_needs = 40;
    std::vector<row> rows = rows_of(tools);
    rows.insert(rows.begin(), {"NAME", "DESCRIPTION", "ARGUMENTS"});
    std::size_t name = 0;
    std::size_t description = 0;
    for (const row& each : rows) {
        name = std::max(name, width_of(each.name));
        description = std::max(description, width_of(each.description));
    }
    if (columns > 0) {
        // Half a name is of no use to whoever wants to call it.
        if (columns < name + 2 + rest_needs) {
            rows.erase(rows.begin());
            return tool_entries(rows, columns, paint);
        }
        description = std::min(description, (columns - name - 4) * 3 / 5);
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

std::string tool_page(const json::object& tool, std::size_t columns, const palette& paint) {
    std::string text = paint(colour::bold, visible_text(text_in(tool, "name"), 200));
    if (const auto title = text_in(tool, "title"); !title.empty()) text += "  " + visible_text(title, 200);
    text += '\n';
    if (const auto about = text_in(tool, "description"); !about.empty()) {
        text += lines_in_columns(visible_lines(about), columns);
    }
    const auto arguments = arguments_of(tool);
    if (!arguments.empty()) text += '\n' + paint(colour::bold, "Arguments") + '\n';
    for (const argument_schema& each : arguments) {
        std::string line =
            "  " + visible_text(each.name, 200) + "  " + each.type_text() + (each.required ? ", needed" : "");
        if (!each.choices.empty()) line += ", one of " + visible_text(gateway::plain_json(each.choices), longest_cell);
        if (!each.fallback.is_null())
            line += ", default " + visible_text(gateway::plain_json(each.fallback), longest_cell);
        if (!each.description.empty()) line += "  " + visible_text(each.description, 1'000);
        text += in_columns(line, columns, 6);
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
    const std::size_t columns = output_width().value_or(0);
    const palette paint(on_terminal() && colours_wanted());
    return session.run([&](client& server) {
        json::value found;
        if (asked.tool.empty()) {
            session.display().doing("listing tools");
            found = server.list_tools();
        } else {
            found = session.tool_named(asked.tool);
        }
        session.answered();
        if (asked.session.json) {
            print(gateway::plain_json(found) + '\n');
        } else if (found.is_object()) {
            print(tool_page(found.get_object(), columns, paint));
        } else if (found.get_array().empty()) {
            session.display().say("andon: the server has no tools", true);
        } else {
            print(tool_table(found.get_array(), columns, paint));
        }
        return exit_status::ok;
    });
}

}  // namespace andon::app
