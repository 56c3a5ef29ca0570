#include "transport/http/http_target.hpp"

#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "transport/clock.hpp"

namespace andon::detail {
namespace {

constexpr duration asked_at_most_every = std::chrono::seconds(1);

}  // namespace

struct http_target::known {
    std::mutex mutex;
    std::shared_ptr<const addresses_t> addresses;  // null: none was ever found
    std::string why_none;
    time_point asked;
    bool asking = false;

    void learn(endpoint where) {
        std::string why;
        try {
            where.resolve();
        } catch (const std::runtime_error& error) {
            why = error.what();
        }
        const std::lock_guard lock(mutex);
        if (why.empty()) addresses = std::make_shared<const addresses_t>(std::move(where.addresses));
        why_none = std::move(why);
        asked = now();
        asking = false;
    }
};

http_target::http_target(std::string_view url, const std::string& ca_file, std::optional<duration> good_for)
    : where_(endpoint::from_url(url)),
      tls_(where_.tls ? tls_context::client(ca_file) : nullptr),
      known_(std::make_shared<known>()),
      good_for_(where_.is_address() ? std::nullopt : good_for) {
    known_->learn(where_);
}

std::shared_ptr<const http_target::addresses_t> http_target::addresses() const {
    const auto [found, why] = [this] {
        const std::lock_guard lock(known_->mutex);
        return std::pair(known_->addresses, known_->why_none);
    }();
    if (good_for_) renew(found ? *good_for_ : asked_at_most_every);
    if (!found) throw std::runtime_error(why);
    return found;
}

void http_target::unreachable() const {
    if (good_for_) renew(asked_at_most_every);
}

void http_target::renew(duration if_older_than) const {
    {
        const std::lock_guard lock(known_->mutex);
        if (known_->asking || now() - known_->asked < if_older_than) return;
        known_->asking = true;
    }
    try {
        std::thread([to = known_, where = where_] { to->learn(where); }).detach();
    } catch (const std::system_error&) {  // there is no thread to be had: another time
        const std::lock_guard lock(known_->mutex);
        known_->asking = false;
    }
}

}  // namespace andon::detail
