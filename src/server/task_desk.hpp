// Where tasks are made, found, and asked about.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "andon/server/tasks.hpp"
#include "server/live_task.hpp"
#include "server/registry.hpp"
#include "server/subscriptions.hpp"
#include "tasks/rate_limit.hpp"
#include "tasks/task_keeper.hpp"

namespace andon::detail {

/// What is sent where a request about tasks is answered.
struct task_answer {
    std::string raw_members{};
    json::object meta{};
    [[nodiscard]] handler_result written() const { return {.raw_members = raw_members, .meta = meta}; }
};

/// A task that works is found here, one that has ended in the store. Everything that is acknowledged is read from the
/// store, behind whatever was written before: so what a client has heard is on the disk. The requests about tasks are
/// calls like others, coroutines on the loop, and can be cancelled like others. See docs/tasks.md.
class task_desk {
public:
    task_desk(std::shared_ptr<conversation::surroundings> around, const task_options& options,
              subscriptions& listeners);
    task_desk(const task_desk&) = delete;
    task_desk& operator=(const task_desk&) = delete;
    ~task_desk();

    /// From any thread, more than once: from now on there are tasks. Throws task_store_error.
    void begin();
    [[nodiscard]] bool begun() const noexcept { return begun_.load(std::memory_order_acquire); }
    /// Until everything that was decided is written.
    void flush();

    // On the loop.

    /// Who answers that request; null: nobody.
    [[nodiscard]] std::shared_ptr<const handler_entry> method(std::string_view name, const revision_policy& policy);
    /// The server is leaving: everything is told, and nothing new begins.
    void leave(std::string_view why);
    /// Nobody can reach that owner's tasks any more: those that work are stopped.
    void owner_gone(const std::string& owner, std::string_view why);
    /// What a subscription may hear of: those of the ids that are the owner's.
    [[nodiscard]] async<std::vector<std::string>> known(std::vector<std::string> ids, call& call);
    /// Tells a subscription how its tasks are now.
    [[nodiscard]] async<void> tell_all(std::vector<std::string> ids, call& call);

    // From any thread.

    struct wish {
        std::string owner;
        std::string counts_for;
        std::string label;
        task_dialect dialect = task_dialect::extension;
        std::optional<std::chrono::milliseconds> ttl{};
        bool uncancellable = false;
    };
    /// Not yet one that anybody knows of. Throws rpc_error.
    [[nodiscard]] std::shared_ptr<live_task> prepare(wish what);
    /// Counts it, and writes it down. `then` comes on the loop; with words, there is no such task.
    void create(const std::shared_ptr<live_task>& task, std::function<void(std::string refusal)> then);
    /// It has ended, by whoever decided that.
    void end(const std::shared_ptr<live_task>& task, task_end how);
    /// It goes on: those who listen are told, as soon as there is time.
    void changed(const std::shared_ptr<live_task>& task);
    /// Nothing works on it any more.
    void work_over(const std::shared_ptr<live_task>& task);
    [[nodiscard]] std::chrono::milliseconds poll_interval() const noexcept { return options_.poll_interval; }

private:
    struct ended;
    class stored;
    class handed_over;

    void forget_live(const live_task& task);
    [[nodiscard]] std::string refusal_of(const live_task& task) const;
    [[nodiscard]] std::shared_ptr<live_task> find(std::string_view id, std::string_view owner) const;
    void write(const std::shared_ptr<ended>& what);
    void written(const std::shared_ptr<ended>& what, std::string_view error);
    void write_again();
    void wake_keeper_soon();
    void tell(const live_task& task, const std::function<std::string(task_dialect)>& members);
    void check(const call& by) const;
    void count(const call& by);
    [[noreturn]] void throw_unknown(const call& by);
    [[nodiscard]] task_record checked(std::optional<task_record> found, std::string_view id, const call& by);
    static std::string_view owner_of(const call& by);

    [[nodiscard]] async<void> until_decided(std::shared_ptr<live_task> task, call& call);
    async<task_answer> get(json::object params, call& call);
    async<task_answer> result(json::object params, call& call);
    async<task_answer> list(json::object params, call& call);
    async<task_answer> update(json::object params, call& call);
    async<task_answer> cancel(json::object params, call& call);

    std::shared_ptr<conversation::surroundings> around_;
    const task_options options_;
    subscriptions& listeners_;
    std::optional<session> scope_;
    std::mutex beginning_;
    std::unique_ptr<task_keeper> keeper_;
    std::atomic<bool> begun_ = false;
    std::unordered_map<std::string, std::shared_ptr<const handler_entry>> methods_;

    // The loop's.
    std::unordered_map<std::string, std::shared_ptr<live_task>> live_;
    std::unordered_map<std::string, std::unordered_set<live_task*>> live_by_owner_;
    std::unordered_map<std::string, std::size_t> working_;  // by whose limits they count against
    std::size_t all_working_ = 0;
    std::size_t being_created_ = 0;
    rate_limit asking_;
    std::vector<std::shared_ptr<ended>> unwritten_;
    event_loop::timer again_;
    bool left_ = false;
    bool waking_ = false;
};

}  // namespace andon::detail
