#include "duration_option.hpp"

#include <CLI/CLI.hpp>

#include "andon/core/visible_text.hpp"
#include "gateway/config/duration_text.hpp"

namespace andon::app {
namespace {

CLI::ValidationError wrong(const std::string& option, const std::string& how, duration shortest, duration longest,
                           const std::string& text) {
    return CLI::ValidationError(option, "write it with its unit (" + gateway::duration_units() + "), " + how +
                                            ", from " + gateway::duration_text(shortest) + " to " +
                                            gateway::duration_text(longest) + ", and not as " + visible_text(text, 64));
}

}  // namespace

CLI::Option* add_duration(CLI::App& to, const std::string& name, std::optional<duration>& into,
                          const std::string& about, duration shortest) {
    return to
        .add_option_function<std::string>(
            name,
            [&into, name, shortest](const std::string& text) {
                into = gateway::parse_duration(text);
                if (into && *into >= shortest) return;
                throw wrong(name, "as 30s or 1h30m", shortest, gateway::longest_duration, text);
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
                throw wrong(name, "as 5s or 500ms; without one it is seconds", shortest, longest, text);
            },
            about)
        ->type_name("DURATION");
}

}  // namespace andon::app
