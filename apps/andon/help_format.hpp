// How --help looks: in 80 columns, and in the words of a man page rather than of a parser.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace andon::app {

class help_format : public CLI::Formatter {
public:
    help_format();
    /// `drop|restart|isolate` for a choice; nothing for a positional, whose name says it all.
    [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override;
    [[nodiscard]] std::string make_option_desc(const CLI::Option* option) const override;
    [[nodiscard]] std::string make_subcommand(const CLI::App* command) const override;
};

}  // namespace andon::app
