// The words that came with a cancel.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

namespace andon {

/// Why a request was cancelled, in the words of whoever asked; empty where nothing was said. Made fit to be shown when
/// it is made (see visible_text.hpp), and immutable after. Copies share the text, so that one Stop that reaches ten
/// thousand requests keeps its words once.
class reason {
public:
    static constexpr std::size_t longest = 512;

    reason() noexcept = default;

    /// Keeps the visible form of `text`, cut to `longest` bytes. Without memory for it the reason stays empty: a cancel
    /// never fails for the want of its words.
    explicit reason(std::string_view text) noexcept;

    reason(const reason& other) noexcept;
    reason(reason&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
    reason& operator=(reason other) noexcept {
        std::swap(shared_, other.shared_);
        return *this;
    }
    ~reason();

    [[nodiscard]] std::string_view text() const noexcept;
    [[nodiscard]] bool empty() const noexcept { return shared_ == nullptr; }

    friend bool operator==(const reason& a, const reason& b) noexcept { return a.text() == b.text(); }

private:
    struct shared_text;
    shared_text* shared_ = nullptr;
};

}  // namespace andon
