// The words of the command line, on their way into CLI11 and out of it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace andon::app {

/// CLI11 takes the word `[a,b]` for the two words a and b, and `[]` for none; what people say to a server or a tool is
/// theirs, to the byte. Such a word wears a mark while CLI11 has it: mark_brackets() puts it on, and every option of
/// `app` and of its subcommands takes it off before anybody looks, once take_marks_off() was called.
[[nodiscard]] std::vector<std::string> mark_brackets(std::vector<std::string> words);
[[nodiscard]] std::string without_marks(std::string text);
void take_marks_off(CLI::App& app);

/// For options that name a file: an empty name would mean none, and comes from a variable that is not set.
[[nodiscard]] std::string expect_name(const std::string& file);

/// What is wrong where a subcommand must stand, in words: `there is no "clal"; did you mean "call"?`. Empty: nothing.
[[nodiscard]] std::string unknown_subcommand(const CLI::App& app, const std::vector<std::string>& words);

/// Of a command that stands there without the -- before it, and whose options would be taken for ours:
/// `put -- before the command: andon wrap -- npx some-server`. Empty: nothing is wrong.
[[nodiscard]] std::string missing_dashes(const CLI::App& app, const std::vector<std::string>& words);

/// After parsing found words that nobody expects: `there is no option --tmieout; did you mean "--timeout"?`. Empty: it
/// was something else.
[[nodiscard]] std::string unknown_option(const CLI::App& app);

/// As `andon tasks follow`: the subcommand that was parsed.
[[nodiscard]] std::string parsed_command(const CLI::App& app);

}  // namespace andon::app
