// A task whose work is under way in this process.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "andon/core/active_request.hpp"
#include "andon/server/call.hpp"
#include "tasks/task_text.hpp"
#include "transport/conversation.hpp"

namespace andon::detail {

/// Something the work wants to know of the client.
struct task_question {
    std::string method;
    json::object params;
};

/// How the work ended, in the words of the protocol.
struct task_end {
    task_status status = task_status::completed;
    std::string message{};
    std::string raw_result{};
    std::string raw_error{};
};

/// What is known of it between its creation and its end. The end itself is decided by the word of its request, like
/// that of any other: whoever has won there calls decide(). From any thread.
class live_task {
public:
    live_task(event_loop& loop, task_record created, task_dialect dialect, active_request request,
              std::string counts_for);
    live_task(const live_task&) = delete;
    live_task& operator=(const live_task&) = delete;

    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] const std::string& owner() const noexcept { return owner_; }
    /// Whose limits it counts against.
    [[nodiscard]] const std::string& counts_for() const noexcept { return counts_for_; }
    [[nodiscard]] task_dialect dialect() const noexcept { return dialect_; }
    /// Ended by whoever does the work, when it is over.
    [[nodiscard]] active_request& request() noexcept { return request_; }
    [[nodiscard]] const cancel_token& token() const noexcept { return token_; }

    [[nodiscard]] task_record record() const;
    [[nodiscard]] bool decided() const;
    /// The detailed text of an extension's task, or the plain one of the other dialect.
    [[nodiscard]] std::string members(task_dialect dialect, std::chrono::milliseconds poll_interval) const;

    /// How the work gets on. False: that is known already, or it has ended.
    bool set_message(std::string_view message);
    /// Its end. `write` gets what is to be written before anybody can see that it is decided; it is not called, and the
    /// answer is false, where it was decided before.
    bool decide(task_end end, const std::function<void(task_record)>& write);
    /// What could not be written yet, and why.
    void not_written(std::string why);
    [[nodiscard]] std::string why_not_written() const;

    // What it asks the client.

    /// Gives every question a name of its own, and the names in their order.
    [[nodiscard]] std::vector<std::string> ask(std::vector<input_request> questions);
    [[nodiscard]] bool all_answered(const std::vector<std::string>& names) const;
    /// Waits, on a thread.
    void wait_for_answers(const call& of, const std::vector<std::string>& names);
    /// The answers, in that order. Throws what the client answered instead.
    [[nodiscard]] std::vector<json::object> take_answers(const std::vector<std::string>& names);
    /// Nobody waits for them any more.
    void withdraw(const std::vector<std::string>& names);
    /// An answer to what is not asked, or not any more, is ignored: false.
    bool answer(std::string_view name, json::object answer);
    bool refuse(std::string_view name, const rpc_error& error);
    [[nodiscard]] bool asks(std::string_view name) const;
    [[nodiscard]] std::vector<std::pair<std::string, task_question>> questions() const;

    // To go on when something changed.

    [[nodiscard]] std::uint64_t changes() const;
    /// On the loop: calls once, there, after the next change; at once where there was one since `seen`. Nothing is
    /// called when the one who waits has let go of what is returned.
    using waiter = std::shared_ptr<std::function<void()>>;
    [[nodiscard]] waiter when_changed(std::uint64_t seen, std::function<void()> go_on);

    /// Of 2025-11-25: who is told of its states.
    std::weak_ptr<conversation> told{};
    std::atomic<bool> born = false;     // its client has it; before, it is nobody's
    std::atomic<bool> telling = false;  // of a change that is on its way

private:
    using answered = std::variant<json::object, rpc_error>;

    [[nodiscard]] bool settle(std::string_view name, answered with);
    /// With the lock.
    void changed();
    void update_status();

    event_loop* const loop_;
    const std::string id_;
    const std::string owner_;
    const std::string counts_for_;
    const task_dialect dialect_;
    active_request request_;
    const cancel_token token_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    task_record record_;
    bool decided_ = false;
    std::string why_not_written_;
    std::map<std::string, task_question, std::less<>> questions_;
    std::map<std::string, answered, std::less<>> answers_;
    std::map<std::string, int, std::less<>> used_;  // names, and how often
    std::uint64_t changes_ = 0;
    std::vector<std::weak_ptr<std::function<void()>>> waiting_;
    std::size_t clean_at_ = 16;
};

}  // namespace andon::detail
