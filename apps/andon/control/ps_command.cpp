#include "control/ps_command.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdio>

#include "control/call_rows.hpp"
#include "exit_status.hpp"
#include "gateway/control/control_protocol.hpp"
#include "gateway/plain_json.hpp"

namespace andon::app {
namespace {

using gateway::found_call;
using gateway::running_andon;
using gateway::survey;

void print_lines(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) (text += line) += '\n';
    print(text);
}

json::array json_of_calls(const survey& found) {
    const auto now = std::chrono::system_clock::now();
    json::array all;
    for (const found_call& each : found.calls) {
        json::object call{{"id", each.id()}, {"andon", each.andon}};
        for (const auto& [key, value] : gateway::to_json(each.call)) call[key] = value;
        call["age_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(now - each.call.started).count();
        all.push_back(std::move(call));
    }
    return all;
}

json::array json_of_servers(const survey& found) {
    json::array all;
    for (const running_andon& each : found.andons) {
        for (const auto& server : each.servers) {
            json::object one{{"andon", each.pid}, {"kind", each.kind}, {"name", each.name}, {"version", each.version}};
            for (const auto& [key, value] : gateway::to_json(server)) one[key] = value;
            all.push_back(std::move(one));
        }
    }
    return all;
}

std::string nothing_text(const survey& found) {
    const std::size_t andons = found.andons.size();
    if (andons == 0 && !found.problems.empty())
        return "Nothing is known to be in flight: there is no andon that answers.\n";
    if (andons == 0) return "Nothing is in flight: no andon is running.\n";
    return "Nothing is in flight: " + std::to_string(andons) +
           (andons == 1 ? " andon is running.\n" : " andons are running.\n");
}

void print_calls(const survey& found) {
    if (found.calls.empty()) return print(nothing_text(found));
    const auto now = std::chrono::system_clock::now();
    std::vector<std::vector<cell>> rows;
    for (const found_call& each : found.calls) rows.push_back(call_row(each, now));
    print_lines(table_lines(call_columns(), rows, output_width(), palette(on_terminal() && colours_wanted())));
}

void print_servers(const survey& found) {
    std::vector<std::vector<cell>> rows;
    for (const running_andon& each : found.andons) {
        for (const auto& server : each.servers) {
            const std::string pid = server.pid == 0 ? "" : std::to_string(server.pid);
            const colour paint = server.state == "ready" ? colour::plain : colour::yellow;
            rows.push_back({{std::to_string(each.pid)},
                            {each.kind},
                            {server.server},
                            {server.state, paint},
                            {pid},
                            {std::to_string(server.restarts)},
                            {std::to_string(server.in_flight)}});
        }
    }
    if (rows.empty()) {
        if (!found.andons.empty()) return print("No andon has a server at present.\n");
        return print(found.problems.empty() ? "No andon is running.\n" : "There is no andon that answers.\n");
    }
    const std::vector<column> columns{
        {.title = "ANDON", .least = 7, .importance = 9, .side = align::right},
        {.title = "KIND", .least = 7, .importance = 2},
        {.title = "SERVER", .least = 6, .importance = 8},
        {.title = "STATE", .least = 5, .importance = 7},
        {.title = "PID", .least = 7, .importance = 6, .side = align::right},
        {.title = "RESTARTS", .least = 8, .importance = 3, .side = align::right},
        {.title = "IN FLIGHT", .least = 9, .importance = 5, .side = align::right},
    };
    print_lines(table_lines(columns, rows, output_width(), palette(on_terminal() && colours_wanted())));
}

}  // namespace

int run_ps(const ps_options& options) {
    survey found = gateway::survey_andons();
    if (options.all) found.calls.insert(found.calls.end(), found.stopped.begin(), found.stopped.end());
    if (options.json) {
        print(gateway::plain_json(options.servers ? json_of_servers(found) : json_of_calls(found)) + '\n');
    } else if (options.servers) {
        print_servers(found);
    } else {
        print_calls(found);
    }
    for (const std::string& each : found.problems) std::fprintf(stderr, "andon: %s\n", each.c_str());
    if (found.more != 0) std::fprintf(stderr, "andon: %zu more are in flight than are listed\n", found.more);
    return exit_status::ok;
}

}  // namespace andon::app
