// A real terminal: a window of tmux, with a server of its own that nobody else uses.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "andon/process/process_tree.hpp"

namespace andon {

/// Where there is no tmux the tests are skipped: `if (!tmux_screen::there_is()) GTEST_SKIP() << tmux_screen::missing;`
class tmux_screen {
public:
    static constexpr const char* missing = "tmux is not installed: terminal behaviour is not tested";
    [[nodiscard]] static bool there_is();

    /// Runs `line` in a shell in the window; the shell then writes `[ended N]`, with its status.
    tmux_screen(int columns, int rows, const std::string& line,
                const std::map<std::string, std::string>& environment = {});

    /// Everything that was written, also what has left the window at its top; lines that were cut by its edge are one.
    [[nodiscard]] std::string text() const { return tmux({"capture-pane", "-p", "-J", "-S", "-"}); }
    /// As it is on the glass.
    [[nodiscard]] std::string glass() const { return tmux({"capture-pane", "-p"}); }
    [[nodiscard]] std::vector<std::string> rows() const;
    /// With its colours, as escape sequences.
    [[nodiscard]] std::string styled() const { return tmux({"capture-pane", "-p", "-e"}); }
    /// Of tmux: "alternate_on", "cursor_flag", "wrap_flag".
    [[nodiscard]] bool flag(const std::string& which) const { return shown(which) == "1\n"; }
    /// The program that the shell in the window runs.
    [[nodiscard]] pid_t running() const;

    /// Until this is in the text; gives what is there then.
    std::string wait_for(std::string_view what) const;
    /// Until a pattern (ECMAScript) is found in it.
    std::string wait_for_match(const std::string& pattern) const;
    /// Until the glass is as it should be.
    std::string wait_until(const std::function<bool(const std::string&)>& found, std::string_view what) const;

    /// `C-c`, `Enter`, `j`.
    void press(const std::string& key) const { static_cast<void>(tmux({"send-keys", key})); }
    void type(const std::string& text) const { static_cast<void>(tmux({"send-keys", "-l", text})); }
    void enter(const std::string& line) const;
    void resize(int columns, int rows) const;

private:
    [[nodiscard]] std::string tmux(std::vector<std::string> arguments) const;
    [[nodiscard]] std::string shown(const std::string& which) const {
        return tmux({"display-message", "-p", "#{" + which + "}"});
    }

    std::string socket_;
    process_tree server_;
};

}  // namespace andon
