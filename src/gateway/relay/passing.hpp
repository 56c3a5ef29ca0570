// Host and server speak the same language: everything is passed on as it came.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "gateway/relay/dialect.hpp"

namespace andon::gateway {

/// Which revision they speak is their own business: the host's initialize is passed on, and what was agreed is read
/// from the answer; a modern request speaks for itself.
class passing final : public dialect {
public:
    /// Told where the server refuses initialize, before the host is: true, and it is dealt with otherwise.
    using refused_handshake = std::function<bool(relayed_call& initialize, const envelope& answer)>;

    passing(dialect_surroundings with, refused_handshake refused)
        : with_(std::move(with)), refused_(std::move(refused)) {}

    void on_request(const std::shared_ptr<relayed_call>& call) override;
    void on_notification(const envelope& message) override;
    void on_server_request(upstream& from, detail::incoming_request request, const envelope& message) override;
    void on_server_notification(upstream& from, const envelope& message) override;
    void on_server_ready(upstream& /*which*/, bool /*shared*/) override {}

private:
    void learn_from(relayed_call& call);
    void learn_task_of(relayed_call& call);
    /// False: it is somebody else's, or nobody's.
    [[nodiscard]] bool may_ask(const relayed_call& call) const;
    /// Where the task is that it asks about; null: anywhere.
    [[nodiscard]] std::shared_ptr<upstream> place_of_task(const relayed_call& call) const;
    void agreed(const envelope& answer);

    dialect_surroundings with_;
    refused_handshake refused_;
    bool modern_ = false;  // and adopted as such

    // The tasks of modern hosts, who share processes: whose each is (TASK-5), and where.
    struct known_task {
        std::string owner;
        std::weak_ptr<upstream> at;
    };
    static constexpr std::size_t most_tasks = 65'536;  // the oldest are forgotten
    std::unordered_map<std::string, known_task> tasks_;
    std::deque<std::string> oldest_task_;
};

}  // namespace andon::gateway
