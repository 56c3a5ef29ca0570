// A client's side of one session.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "andon/client/client.hpp"
#include "server/scheduler.hpp"
#include "transport/conversation.hpp"

namespace andon::detail {

class client_session final : public std::enable_shared_from_this<client_session>, public conversation::owner {
public:
    client_session(client_options options, std::unique_ptr<transport> over);

    /// From any thread but the loop's: until the session is established. Throws where it never will be.
    void wait_until_established();

    [[nodiscard]] const client_options& options() const noexcept { return options_; }
    [[nodiscard]] conversation& talk() noexcept { return *conversation_; }
    [[nodiscard]] event_loop& loop() noexcept { return around_->loop; }
    [[nodiscard]] scheduler& turns() noexcept { return turns_; }
    /// Null: we did not declare that we can.
    [[nodiscard]] const question_handler* handler_of(std::string_view method) const noexcept;
    /// Once established.
    [[nodiscard]] const peer& server() const noexcept { return conversation_->protocol(); }
    [[nodiscard]] in_flight& table() noexcept { return around_->table; }

private:
    void on_request(incoming_request request, const envelope& message) override;
    void on_notification(const envelope& message) override;
    void on_established() override;
    void on_ended(std::string_view why) override;

    client_options options_;
    std::shared_ptr<conversation::surroundings> around_;
    std::shared_ptr<conversation> conversation_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool established_ = false;
    std::optional<std::string> ended_;
    scheduler turns_;  // last: its threads use the rest
};

}  // namespace andon::detail
