// What hosts and servers have in common: a line to the relay, and what can stand on it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andon/transport/transport.hpp"
#include "input.hpp"
#include "padded.hpp"

namespace andon::fuzz {

/// One end, in our hands.
class end_of_line {
public:
    /// What the relay has said since the last look.
    std::vector<std::string> said() { return std::exchange(said_, {}); }
    [[nodiscard]] bool open() const noexcept { return to_ != nullptr; }
    void hear(const std::string& text) {
        const padded line(text);
        if (to_ != nullptr) to_->on_line(line.text());
    }
    void hear_too_much(const std::string& text) {
        line_skimmer skimmer;
        skimmer.follow(text);
        if (to_ != nullptr) to_->on_line_too_long(skimmer.end());
    }
    void hang_up() {
        if (to_ != nullptr) std::exchange(to_, nullptr)->on_closed("hung up");
    }

    class line final : public transport {
    public:
        explicit line(std::shared_ptr<end_of_line> end) : end_(std::move(end)) {}
        ~line() override { end_->to_ = nullptr; }
        void open(detail::event_loop& /*loop*/, events& to) override { end_->to_ = &to; }
        bool send(std::string_view text, const cancel_token* owner) override {
            if (owner != nullptr && owner->cancelled()) return false;
            end_->said_.emplace_back(text);
            return true;
        }
        void close() override { end_->to_ = nullptr; }

    private:
        std::shared_ptr<end_of_line> end_;
    };

private:
    transport::events* to_ = nullptr;
    std::vector<std::string> said_;
};

inline constexpr std::array ids{"1",  "2",  "3", R"("a")", R"("1")", "0", "-1", R"("")", "9007199254740993",
                                "16", "17", "18"};

inline std::string damaged(std::string text, input& in) {
    text[in.next() % text.size()] = static_cast<char>(in.next() | 0x10U);
    return text;
}

/// Marks are put in by whose they are, and by nobody else.
inline std::string unmarked(const std::string& bytes) {
    for (const std::string_view mark : {"host ", "server ", "for"}) {
        if (bytes.find(mark) != std::string::npos) return {};
    }
    return bytes;
}

}  // namespace andon::fuzz
