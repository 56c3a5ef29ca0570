#include <set>
#include <tuple>
#include <unordered_map>

#include "andon/tasks/task_store.hpp"

namespace andon {
namespace {

class memory_store final : public task_store {
public:
    void write(std::span<const task_record> tasks) override {
        for (const task_record& each : tasks) {
            const auto [place, is_new] = by_id_.try_emplace(each.id);
            if (!is_new) take_out(place->second);
            place->second = each;
            by_owner_.emplace(each.owner, each.created, each.id);
            if (const auto ends = each.expires()) by_end_.emplace(*ends, each.id);
            if (!is_terminal(each.status)) unfinished_.insert(each.id);
        }
    }

    std::optional<task_record> find(std::string_view id, std::string_view owner) override {
        const auto found = by_id_.find(std::string(id));
        return found == by_id_.end() || found->second.owner != owner ? std::nullopt : std::optional(found->second);
    }

    std::vector<task_record> list(std::string_view owner, const task_place& after, std::size_t most) override {
        std::vector<task_record> page;
        const std::string whose(owner);
        for (auto place = by_owner_.upper_bound({whose, after.created, after.id});
             place != by_owner_.end() && std::get<0>(*place) == whose && page.size() < most; ++place) {
            task_record task = by_id_.at(std::get<2>(*place));
            task.raw_result.clear();
            task.raw_error.clear();
            page.push_back(std::move(task));
        }
        return page;
    }

    std::size_t forget_expired(task_time now, std::size_t most) override {
        std::size_t count = 0;
        for (; count < most && !by_end_.empty() && by_end_.begin()->first <= now; ++count) {
            const auto place = by_id_.find(by_end_.begin()->second);
            take_out(place->second);
            by_id_.erase(place);
        }
        return count;
    }

    std::size_t fail_unfinished(task_time now, std::string_view message) override {
        const std::size_t count = unfinished_.size();
        for (const std::string& id : unfinished_) {
            task_record& task = by_id_.at(id);
            task.status = task_status::failed;
            task.status_message = message;
            task.updated = now;
        }
        unfinished_.clear();
        return count;
    }

    std::size_t size() override { return by_id_.size(); }

private:
    void take_out(const task_record& task) {
        by_owner_.erase({task.owner, task.created, task.id});
        if (const auto ends = task.expires()) by_end_.erase({*ends, task.id});
        unfinished_.erase(task.id);
    }

    std::unordered_map<std::string, task_record> by_id_;
    std::set<std::tuple<std::string, task_time, std::string>> by_owner_;
    std::set<std::pair<task_time, std::string>> by_end_;
    std::set<std::string> unfinished_;
};

}  // namespace

std::unique_ptr<task_store> memory_task_store() { return std::make_unique<memory_store>(); }

}  // namespace andon
