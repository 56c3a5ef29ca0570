// Puts every probe to a server.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "check/probe.hpp"

namespace andon::check {

struct run_options {
    bool legacy = true;
    bool modern = true;
    bool era_forced = false;        ///< an era that the server does not speak is an error
    std::set<std::string> rules{};  ///< empty: all
    search_options search{};
    milliseconds limit{30'000};  ///< for one probe
    milliseconds quiet{600};
    /// Told before each probe, from any thread, one at a time.
    std::function<void(const std::string& words)> progress = [](const std::string&) {};
};

/// `nothing_seen`: no rule could be observed, and that is no good news.
enum class check_verdict { pass, fail, nothing_seen };
[[nodiscard]] std::string_view to_string(check_verdict what) noexcept;

struct checked_rule {
    std::string id;
    std::string level;
    era which;
    std::string rule;
    finding found;
    milliseconds took{};
};

struct checked_server {
    std::vector<known_server> known{};                      ///< one an era
    std::vector<std::pair<era, std::string>> not_spoken{};  ///< and why not
    std::vector<checked_rule> rules{};

    [[nodiscard]] int count(result what) const;
    /// Of MUST and SHOULD.
    [[nodiscard]] int broken() const;
    [[nodiscard]] check_verdict verdict() const;
};

/// Ignores SIGPIPE from then on. Throws server_gone where the server cannot be started or reached, and not_spoken where
/// no era of those asked for is spoken.
[[nodiscard]] checked_server check_server(const target& server, const run_options& how);

[[nodiscard]] std::string_view to_string(era which) noexcept;

}  // namespace andon::check
