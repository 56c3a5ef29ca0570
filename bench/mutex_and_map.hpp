// The competitor: what one writes in an afternoon, with everything behind one mutex.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "andon/core/request_id.hpp"

namespace andon::bench {

class mutex_and_map {
public:
    struct entry {
        bool cancelled = false;
        std::string reason;
        std::function<void()> on_cancel;
    };

    std::shared_ptr<entry> begin(std::uint64_t session, std::int64_t id) {
        auto made = std::make_shared<entry>();
        const std::scoped_lock hold(mutex_);
        entries_.emplace(key{session, id}, made);
        return made;
    }

    void finish(std::uint64_t session, std::int64_t id) {
        const std::scoped_lock hold(mutex_);
        entries_.erase(key{session, id});
    }

    bool cancel(std::uint64_t session, std::int64_t id, std::string_view reason) {
        std::function<void()> callback;
        {
            const std::scoped_lock hold(mutex_);
            const auto found = entries_.find(key{session, id});
            if (found == entries_.end() || found->second->cancelled) return false;
            found->second->cancelled = true;
            found->second->reason = reason;
            callback = found->second->on_cancel;
        }
        if (callback) callback();
        return true;
    }

    bool is_cancelled(std::uint64_t session, std::int64_t id) {
        const std::scoped_lock hold(mutex_);
        const auto found = entries_.find(key{session, id});
        return found != entries_.end() && found->second->cancelled;
    }

private:
    struct key {
        std::uint64_t session;
        request_id id;
        bool operator==(const key&) const = default;
    };
    struct hash {
        std::size_t operator()(const key& k) const noexcept {
            return std::hash<request_id>()(k.id) ^ k.session * 0x9E3779B97F4A7C15U;
        }
    };

    std::mutex mutex_;
    std::unordered_map<key, std::shared_ptr<entry>, hash> entries_;
};

}  // namespace andon::bench
