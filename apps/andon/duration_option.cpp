#include "duration_option.hpp"

#include <CLI/CLI.hpp>

#include "andon/core/visible_text.hpp"
#include "gateway/config/duration_text.hpp"

namespace andon::app {

CLI::Option* add_duration(CLI::App& to, const std::string& name, std::optional<duration>& into,
                          const std::string& about, duration shortest) {
    return to
        .add_option_function<std::string>(
            name,
            [&into, name, shortest](const std::string& text) {
                into = gateway::parse_duration(text);
                if (into && *into >= shortest) return;
                throw CLI::ValidationError(name,
                                           "write it as 250ms, 30s, 5m or 1h, and not as " + visible_text(text, 64));
            },
            about)
        ->type_name("DURATION");
}

CLI::Option* add_duration_or_seconds(CLI::App& to, const std::string& name, duration& into, const std::string& about,
                                     duration shortest, duration longest) {
    return to
        .add_option_function<std::string>(
            name,
            [&into, name, shortest, longest](const std::string& text) {
                const bool number = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
                const auto given = gateway::parse_duration(number ? text + 's' : text);
                if (given && *given >= shortest && *given <= longest) {
                    into = *given;
                    return;
                }
                throw CLI::ValidationError(
                    name, "write it as 5s, 500ms or 2m, from " + gateway::duration_text(shortest) + " to " +
                              gateway::duration_text(longest) + ", and not as " + visible_text(text, 64));
            },
            about)
        ->type_name("DURATION");
}

}  // namespace andon::app
