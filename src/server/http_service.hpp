// Whoever is behind an HTTP endpoint: a server of ours, or what stands in front of others'.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "andon/wire/http_headers.hpp"
#include "transport/conversation.hpp"

namespace andon::detail {

/// On the loop's thread, but for limits().
class http_service {
public:
    /// One client with a session, or all those that have none.
    class guest {
    public:
        guest() = default;
        guest(const guest&) = delete;
        guest& operator=(const guest&) = delete;
        [[nodiscard]] virtual conversation& talk() noexcept = 0;
        virtual void close(cancel_cause cause, std::string_view why) = 0;
        /// After initialize was received: false where it was refused at once.
        [[nodiscard]] virtual bool accepted() const noexcept = 0;

    protected:
        ~guest() = default;
    };

    struct limits {
        std::vector<revision> revisions{all_revisions.begin(), all_revisions.end()};
        std::size_t longest_id = 1'024;
        bool lone_surrogates = false;                      ///< as envelope_limits has it
        std::size_t most_bytes = std::size_t{256} << 20U;  ///< in flight, of one client
    };

    http_service() = default;
    http_service(const http_service&) = delete;
    http_service& operator=(const http_service&) = delete;
    virtual ~http_service() = default;

    [[nodiscard]] virtual conversation::surroundings& around() noexcept = 0;
    [[nodiscard]] virtual const limits& bounds() const noexcept = 0;
    /// `id`: of the session; empty: of those that have none. `ended`: it has ended by itself.
    [[nodiscard]] virtual std::shared_ptr<guest> open(std::unique_ptr<transport> over, std::string_view id,
                                                      std::function<void()> ended) = 0;
    /// Which parameters of a tool stand in headers too (2026-07-28).
    [[nodiscard]] virtual std::vector<param_header> mirrored_by(std::string_view tool) const {
        static_cast<void>(tool);
        return {};
    }
    /// Nobody can reach what belongs to that owner any more.
    virtual void owner_gone(std::string_view owner, std::string_view why) {
        static_cast<void>(owner);
        static_cast<void>(why);
    }
};

}  // namespace andon::detail
