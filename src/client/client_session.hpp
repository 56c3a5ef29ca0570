// A client's side of one session.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "andon/client/client.hpp"
#include "client/hosted_tasks.hpp"
#include "server/scheduler.hpp"
#include "transport/conversation.hpp"

namespace andon::detail {

class subscription_state;

/// What a server's list says of calling a tool as a task (2025-11-25).
enum class tool_tasks : std::uint8_t { not_listed, forbidden, optional, required };

class client_session final : public std::enable_shared_from_this<client_session>, public conversation::owner {
public:
    client_session(client_options options, std::unique_ptr<transport> over);

    /// From any thread but the loop's: until the session is established. Throws where it never will be.
    void wait_until_established();

    [[nodiscard]] const client_options& options() const noexcept { return options_; }
    [[nodiscard]] conversation& talk() noexcept { return *conversation_; }
    [[nodiscard]] event_loop& loop() noexcept { return around_->loop; }
    [[nodiscard]] scheduler& turns() noexcept { return turns_; }
    [[nodiscard]] hosted_tasks& tasks() noexcept { return tasks_; }  // the loop's
    /// Null: we did not declare that we can.
    [[nodiscard]] const question_handler* handler_of(std::string_view method) const noexcept;
    /// Once established.
    [[nodiscard]] const peer& server() const noexcept { return conversation_->protocol(); }
    [[nodiscard]] in_flight& table() noexcept { return around_->table; }
    /// On the loop: who listens, to what names that request of ours, or to what names none (before 2026-07-28).
    void add(subscription_state& listener, std::int64_t request) { listeners_.insert_or_assign(request, &listener); }
    void remove(std::int64_t request) { listeners_.erase(request); }
    void add(subscription_state& listener) { legacy_listeners_.insert(&listener); }
    void remove(subscription_state& listener) { legacy_listeners_.erase(&listener); }
    [[nodiscard]] bool another_listens_to(const std::string& uri, const subscription_state& than) const;
    /// From any thread.
    void learn(const json::array& tools);
    [[nodiscard]] tool_tasks tasks_of(std::string_view tool);
    /// From any thread: the server is told, and nobody waits for what it says, but for a client that is leaving.
    void cancel_task(const std::string& id);
    /// Not on the loop: until the server has heard of every cancel, or it takes too long.
    void wait_for_cancels(duration limit);

private:
    void on_request(incoming_request request, const envelope& message) override;
    void on_notification(const envelope& message) override;
    void send_cancel(const std::string& id);
    void cancel_heard();
    void on_late_result(const envelope& message) override;
    void on_established() override;
    void on_ended(std::string_view why) override;

    client_options options_;
    std::shared_ptr<conversation::surroundings> around_;
    std::shared_ptr<conversation> conversation_;
    hosted_tasks tasks_{*this};
    std::unordered_map<std::int64_t, subscription_state*> listeners_;  // the loop's
    std::unordered_set<subscription_state*> legacy_listeners_;         // likewise
    std::mutex mutex_;
    std::condition_variable changed_;
    bool established_ = false;
    std::unordered_map<std::string, tool_tasks> tools_;  // as they were listed last
    std::size_t cancels_ = 0;                            // of tasks, that were not answered
    std::optional<std::string> ended_;
    scheduler turns_;  // last: its threads use the rest
};

/// Calls what is the user's, on the thread of everything: what it throws goes to the log.
template <class F>
void carefully(const conversation& talk, const char* name, const F& call) noexcept {
    try {
        call();
    } catch (const std::exception& error) {
        talk.log(log_level::warning, std::string(name) + " threw: " + error.what());
    } catch (...) {
        talk.log(log_level::warning, std::string(name) + " threw");
    }
}

}  // namespace andon::detail
