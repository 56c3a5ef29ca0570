// A probe: one rule, put to a server from outside.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "check/target.hpp"
#include "check/tool_search.hpp"

namespace andon::check {

enum class result : std::uint8_t {
    pass,
    fail,            ///< of what the specification asks for
    differs,         ///< of what only andon asks of itself: no fault of another server
    not_observable,  ///< with this server, and the evidence says why
};
[[nodiscard]] std::string_view to_string(result what) noexcept;

struct finding {
    result what = result::not_observable;
    std::string evidence{};
};
[[nodiscard]] inline finding pass(std::string evidence) { return {result::pass, std::move(evidence)}; }
[[nodiscard]] inline finding fail(std::string evidence) { return {result::fail, std::move(evidence)}; }
[[nodiscard]] inline finding not_observable(std::string why) { return {result::not_observable, std::move(why)}; }

/// What a probe works with.
struct trial {
    const target& server;
    const known_server& known;
    milliseconds patience;  ///< for what any server does at once
    milliseconds quiet;     ///< how long nothing must come where nothing may come
    time_point until;       ///< the end of its time

    /// A new session, with a server of its own where the target starts one.
    [[nodiscard]] std::unique_ptr<session> open(bool tasks_extension = false) const;
    [[nodiscard]] bool modern() const noexcept { return era_of(known.speaks) == era::modern; }
};

enum class over : std::uint8_t { stdio = 1, http = 2, both = 3 };

struct probe {
    std::string_view id;
    std::string_view legacy;  ///< its level under the revisions with a handshake; empty: the rule is not theirs
    std::string_view modern;  ///< and under 2026-07-28
    over transports;
    std::string_view rule;  ///< in short
    std::string_view does;  ///< what the probe does
    finding (*run)(const trial&);

    [[nodiscard]] std::string_view level(era which) const noexcept { return which == era::legacy ? legacy : modern; }
    [[nodiscard]] bool goes_over(bool http) const noexcept {
        return (static_cast<unsigned>(transports) & (http ? 2U : 1U)) != 0;
    }
};
/// Whether a failure counts for the verdict.
[[nodiscard]] inline bool binding(std::string_view level) noexcept { return level != "we" && level != "MAY"; }

/// All of them, in the order of the rules.
[[nodiscard]] std::span<const probe> all_probes() noexcept;

}  // namespace andon::check
