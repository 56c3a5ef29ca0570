// What a server's tools say of themselves on standard error, as somebody waits for it.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "andon/core/time.hpp"

namespace demo {

/// Lines of the form `@what KEY NS` (see programs/marks.hpp); everything else is passed over. Any thread.
class marks {
public:
    void add(std::string_view piece);
    /// The time at which it was said; nothing when nobody said it within the limit.
    [[nodiscard]] std::optional<andon::time_point> wait_for(std::string_view what, std::string_view key,
                                                            andon::duration limit);

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string text_;
};

}  // namespace demo
