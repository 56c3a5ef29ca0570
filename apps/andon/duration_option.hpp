// Options that are a length of time.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "andon/core/time.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace andon::app {

/// `250ms`, `30s`, `1h30m`. Anything else, and what is shorter, is a wrong command line. `into` outlives the parsing.
CLI::Option* add_duration(CLI::App& to, const std::string& name, std::optional<duration>& into,
                          const std::string& about, duration shortest = std::chrono::milliseconds(1));

/// A number alone is seconds. From `shortest` to `longest`.
CLI::Option* add_duration_or_seconds(CLI::App& to, const std::string& name, duration& into, const std::string& about,
                                     duration shortest, duration longest);

}  // namespace andon::app
