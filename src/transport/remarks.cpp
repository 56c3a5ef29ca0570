#include "transport/remarks.hpp"

#include <chrono>

namespace andon::detail {
namespace {

constexpr unsigned first_few = 20;
constexpr auto counted_for = std::chrono::seconds(10);

}  // namespace

void remarks::warn(std::string_view text) {
    if (said_ < first_few) {
        ++said_;
        say(log_level::warning, text);
    } else {
        ++unsaid_;
    }
    if (!counting_) count_again();
}

void remarks::count_again() {
    counting_ = true;
    timer_.set(std::chrono::steady_clock::now() + counted_for, [this] {
        counting_ = false;
        if (unsaid_ == 0) {
            said_ = 0;
            return;
        }
        tell_count();
        count_again();
    });
}

void remarks::tell_count() {
    say(log_level::warning, std::to_string(unsaid_) + " more like that");
    unsaid_ = 0;
}

void remarks::end() {
    timer_.clear();
    counting_ = false;
    if (unsaid_ != 0) tell_count();
}

}  // namespace andon::detail
