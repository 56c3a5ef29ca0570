// The whole terminal, for as long as it is held.
#pragma once

#include <string>
#include <termios.h>
#include <vector>

namespace andon::app {

/// The alternate screen, keys as they are pressed, no cursor, lines cut instead of wrapped; everything is put back by
/// leave() and by the end of the object. Ctrl-C and Ctrl-Z stay signals: whoever holds it takes care of them.
class full_screen {
public:
    /// Throws std::system_error where there is no terminal.
    full_screen();
    full_screen(const full_screen&) = delete;
    full_screen& operator=(const full_screen&) = delete;
    ~full_screen();

    /// Again, after leave(): whatever became of the terminal meanwhile.
    void enter();
    void leave() noexcept;

    /// As many as the screen has.
    static void show(const std::vector<std::string>& lines);
    /// What was typed; "" when the terminal is gone.
    [[nodiscard]] static std::string typed();

private:
    termios before_{};
    bool entered_ = false;
};

}  // namespace andon::app
