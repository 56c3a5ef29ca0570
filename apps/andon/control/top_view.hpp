// What `andon top` shows, and what its keys do. No terminal in it.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/control/control_client.hpp"
#include "terminal.hpp"

namespace andon::app {

class top_view {
public:
    explicit top_view(const palette& paint) : paint_(paint) {}

    /// What was found; ignored while it is paused.
    void found(gateway::survey now_there);
    void say(std::string message) { message_ = std::move(message); }

    struct outcome {
        bool quit = false;
        std::vector<gateway::found_call> stop{};
    };
    [[nodiscard]] outcome typed(std::string_view bytes);

    /// At most `height` lines of at most `width` columns.
    [[nodiscard]] std::vector<std::string> lines(std::size_t width, std::size_t height,
                                                 std::chrono::system_clock::time_point now) const;

    [[nodiscard]] bool paused() const noexcept { return paused_; }
    [[nodiscard]] std::string selected_id() const;

private:
    enum class key { other, up, down, first, last };

    void pressed(key which, char letter, outcome& into);
    void select(std::size_t index);
    [[nodiscard]] std::string title() const;
    [[nodiscard]] std::string status() const;

    palette paint_;
    gateway::survey there_{};
    bool heard_ = false;
    bool paused_ = false;
    std::size_t selected_ = 0;  // of there_.calls
    std::optional<gateway::found_call> to_confirm_{};
    std::string message_{};
};

}  // namespace andon::app
