#include "texts/completion_values.hpp"

#include <array>
#include <chrono>
#include <exception>
#include <functional>
#include <set>
#include <unistd.h>

#include "check/probe.hpp"
#include "control/call_rows.hpp"
#include "gateway/config/config.hpp"
#include "gateway/control/control_client.hpp"
#include "gateway/journal/journal.hpp"
#include "gateway/journal/journal_reader.hpp"

namespace andon::app {
namespace {

using words = std::vector<offered_word>;

constexpr std::chrono::milliseconds key_patience{500};  // of somebody who pressed a key
constexpr std::size_t looked_at = 500;                  // of the newest entries of the journal

words server_names(const std::string& config) {
    words found;
    for (const gateway::server_config& each : gateway::load_config(config).servers) {
        const auto* const url = std::get_if<gateway::url_target>(&each.target);
        found.push_back(
            {each.name, url != nullptr ? url->url : std::get<gateway::command_target>(each.target).argv.front()});
    }
    return found;
}

std::vector<gateway::found_call> in_flight() { return gateway::survey_andons(key_patience).calls; }

words calls(const std::string& /*config*/) {
    words found;
    for (const gateway::found_call& each : in_flight()) found.push_back({each.id(), describe(each.call)});
    return found;
}

words without_doubles(const std::set<std::string>& texts) {
    words found;
    for (const std::string& each : texts) {
        if (!each.empty()) found.push_back({each});
    }
    return found;
}

words sessions(const std::string& /*config*/) {
    std::set<std::string> found;
    for (const gateway::found_call& each : in_flight()) found.insert(each.call.session);
    return without_doubles(found);
}

words tools_in_flight(const std::string& /*config*/) {
    std::set<std::string> found;
    for (const gateway::found_call& each : in_flight()) found.insert(each.call.tool);
    return without_doubles(found);
}

words logged(const std::string& config, std::string gateway::relayed_call_view::*what) {
    gateway::journal_reader reader(gateway::journal_path(gateway::load_config(config).journal));
    std::set<std::string> found;
    for (const gateway::journal_row& each : reader.newest({}, looked_at)) found.insert(each.entry.call.*what);
    return without_doubles(found);
}
words logged_servers(const std::string& config) { return logged(config, &gateway::relayed_call_view::server); }
words logged_tools(const std::string& config) { return logged(config, &gateway::relayed_call_view::tool); }

words call_ends(const std::string& /*config*/) {
    words found;
    for (int i = 0; i <= static_cast<int>(gateway::call_end::refused); ++i) {
        found.push_back({std::string(to_string(static_cast<gateway::call_end>(i)))});
    }
    return found;
}

words rules(const std::string& /*config*/) {
    words found;
    for (const check::probe& each : check::all_probes())
        found.push_back({std::string(each.id), std::string(each.rule)});
    return found;
}

words variables(const std::string& /*config*/) {
    words found;
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string_view variable(*each);
        found.push_back({std::string(variable.substr(0, variable.find('=')))});
    }
    return found;
}

struct source {
    std::string_view command;  ///< empty: of every one
    std::string_view value;
    words (*find)(const std::string& config);
    shells_own beside = shells_own::nothing;
};

/// The first that fits. A value that stands nowhere here is the user's to invent: a number, a reason.
constexpr std::array sources{
    source{"stop", "ID", calls},
    source{"stop", "SESSION", sessions},
    source{"stop", "TOOL", tools_in_flight},
    source{"log", "NAME", logged_servers},
    source{"log", "TOOL", logged_tools},
    source{"log", "END", call_ends},
    source{"check", "RULE", rules},
    source{"", "NAME", server_names},
    source{"", "SERVER", server_names, shells_own::files},
    source{"", "VARIABLE", variables},
    source{"", "COMMAND", nullptr, shells_own::command},
    source{"", "FILE", nullptr, shells_own::files},
    source{"", "DIR", nullptr, shells_own::folders},
};

}  // namespace

offered_values values_of(std::string_view command, std::string_view value, const std::string& config) {
    for (const source& each : sources) {
        if (each.value != value || (!each.command.empty() && each.command != command)) continue;
        try {
            return {each.find == nullptr ? words() : each.find(config), each.beside};
        } catch (const std::exception&) {
            return {.beside = each.beside};
        }
    }
    return {};
}

}  // namespace andon::app
