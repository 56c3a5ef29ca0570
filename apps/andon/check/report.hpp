// What a check found, for people and for machines.
#pragma once

#include <string>

#include "check/run.hpp"
#include "terminal.hpp"

namespace andon::check {

struct report_options {
    bool colours = false;
    std::size_t columns = 0;  ///< of the terminal; 0: lines are as long as they are
};

/// A table, one rule a line, and a verdict.
[[nodiscard]] std::string as_text(const checked_server& what, const target& server, const report_options& how);
/// One object; its form is in docs/check.md.
[[nodiscard]] std::string as_json(const checked_server& what, const target& server);
/// One test case a rule. What is not observable counts as skipped, and what differs too.
[[nodiscard]] std::string as_junit(const checked_server& what, const target& server);
/// A table for a page of documentation.
[[nodiscard]] std::string as_markdown(const checked_server& what, const target& server);
/// All probes, without a server.
[[nodiscard]] std::string list_of_probes(const report_options& how);
/// One line.
[[nodiscard]] std::string verdict(const checked_server& what);
/// Its beginning, which a client's has too.
[[nodiscard]] std::string_view in_words(check_verdict what) noexcept;
[[nodiscard]] app::colour colour_of(check_verdict what) noexcept;

}  // namespace andon::check
