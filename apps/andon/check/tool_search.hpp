// What a server has to show its cancellation with: found by calling what looks slow.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "andon/wire/revision.hpp"
#include "check/slow_tool.hpp"
#include "check/target.hpp"

namespace andon::check {

struct search_options {
    std::string tool{};                       ///< not empty: this one, and no other is called
    std::optional<json::object> arguments{};  ///< for it
    milliseconds patience{5000};
    milliseconds handshake{15'000};
    milliseconds timed{1200};      ///< what a call that is to end by itself is asked to take
    milliseconds lasting{60'000};  ///< and one that is to be in flight as long as it is looked at
    int jobs = 4;
};

/// A server in one era.
struct known_server {
    revision speaks = newest_legacy;
    std::string name{};
    std::string version{};
    json::object capabilities{};
    std::optional<slow_tool> timed{};    ///< ends by itself, after `takes`
    std::optional<slow_tool> lasting{};  ///< is in flight for as long as any probe needs
    std::vector<slow_tool> showing{};    ///< of each way to show that it works, one
    std::optional<slow_tool> asking{};   ///< sends requests to the client
    std::optional<slow_tool> task{};     ///< runs as a task, for long
    std::string why_not{};               ///< there is no slow tool, in words

    [[nodiscard]] const slow_tool* showing_progress() const;
    [[nodiscard]] const slow_tool* showing_processor() const;
    [[nodiscard]] const slow_tool* showing_children() const;
};

/// What was asked for cannot be checked, in words for the user.
class wrong_question : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws server_gone, not_spoken where it does not know the era, and wrong_question where it has no tool of the name.
[[nodiscard]] known_server get_to_know(const target& server, era which, const search_options& how);

}  // namespace andon::check
