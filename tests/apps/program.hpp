// A program that a test drives: what goes in, what comes out, its end.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andon/process/process_tree.hpp"

namespace andon {

using environment_list = std::vector<std::pair<std::string, std::string>>;

/// Every wait is for an event; one that does not come ends the test with what was heard instead.
class program {
public:
    explicit program(std::vector<std::string> argv, environment_list environment = {});

    [[nodiscard]] pid_t pid() const { return tree_.pid(); }
    void signal(int number) const;
    /// To its standard input, with the end of the line.
    void say(std::string_view line) { write(std::string(line) + '\n'); }
    void write(std::string_view bytes);
    void close_input() { tree_.close_in(); }
    void close_output();

    /// Until standard output, or standard error, has this; gives all of it so far.
    const std::string& until(std::string_view text);
    const std::string& until_error(std::string_view text);
    /// The next line of standard output, without its end; empty where none comes any more.
    [[nodiscard]] std::string line();
    /// Until it ended, and everything of it; gives the exit status, 128 and the number for a signal.
    int end();

    [[nodiscard]] const std::string& out() const noexcept { return out_; }
    [[nodiscard]] const std::string& err() const noexcept { return err_; }
    /// How many lines of standard error have this in them.
    [[nodiscard]] int errors_with(std::string_view text) const;

private:
    void wait_until(const std::function<bool()>& done, std::string_view what);

    process_tree tree_;
    std::string out_;
    std::string err_;
    std::size_t lines_taken_ = 0;  // bytes of out_ that line() gave
    bool out_open_ = true;
    bool err_open_ = true;
};

}  // namespace andon
