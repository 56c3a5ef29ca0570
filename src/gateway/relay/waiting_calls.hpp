// Calls that nothing can take yet.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include "andon/core/time.hpp"
#include "gateway/relay/relayed_call.hpp"
#include "transport/clock.hpp"

namespace andon::gateway {

/// In the order in which they came, and no more than a bound. Such as were cancelled meanwhile do not count for it:
/// they are swept out before it takes effect. A sweep looks at all of them, and has to be earned: each call that comes,
/// let in or not, pays for a few looks, so that none costs more, however many wait.
class waiting_calls {
public:
    static constexpr std::size_t most = 65'536;

    struct entry {
        std::shared_ptr<relayed_call> call;
        time_point since;
    };

    /// False: too many wait already.
    [[nodiscard]] bool put(const std::shared_ptr<relayed_call>& call) {
        constexpr std::size_t looks = 8;
        if (all_.empty()) earned_ = 0;
        earned_ += looks;
        if (all_.size() >= most && earned_ >= all_.size()) {
            earned_ -= all_.size();
            std::erase_if(all_, [](const entry& each) { return !each.call->is_waited_for(); });
        }
        if (all_.size() >= most) return false;
        all_.push_back({call, now()});
        return true;
    }

    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    [[nodiscard]] const entry& front() const noexcept { return all_.front(); }
    std::shared_ptr<relayed_call> take_front() {
        auto call = std::move(all_.front().call);
        all_.pop_front();
        return call;
    }
    [[nodiscard]] std::deque<entry> take_all() { return std::exchange(all_, {}); }

private:
    std::deque<entry> all_;
    std::size_t earned_ = 0;
};

}  // namespace andon::gateway
