#include "tasks/task_keeper.hpp"

#include <future>
#include <gtest/gtest.h>

namespace andon::detail {
namespace {

using namespace std::chrono_literals;

/// Counts what it is asked for, and can be made to wait or to refuse.
class watched_store final : public task_store {
public:
    struct notes {
        std::mutex mutex;
        std::vector<std::size_t> writes;  // how many tasks at a time
        std::shared_future<void> gate;    // until which the first one waits
    };
    explicit watched_store(std::shared_ptr<notes> into) : notes_(std::move(into)) {}

    void write(std::span<const task_record> tasks) override {
        if (notes_->gate.valid()) notes_->gate.wait();
        for (const task_record& each : tasks) {
            if (each.label == "refused") throw task_store_error("it is refused");
        }
        inner_->write(tasks);
        const std::lock_guard lock(notes_->mutex);
        notes_->writes.push_back(tasks.size());
    }
    std::optional<task_record> find(std::string_view id, std::string_view owner) override {
        return inner_->find(id, owner);
    }
    std::vector<task_record> list(std::string_view owner, const task_place& after, std::size_t most) override {
        return inner_->list(owner, after, most);
    }
    std::size_t forget_expired(task_time now, std::size_t most) override { return inner_->forget_expired(now, most); }
    std::size_t fail_unfinished(task_time now, std::string_view message) override {
        return inner_->fail_unfinished(now, message);
    }
    std::size_t size() override { return inner_->size(); }

private:
    std::shared_ptr<notes> notes_;
    std::unique_ptr<task_store> inner_ = memory_task_store();
};

task_record task(int number, std::string label = {}) {
    return {.id = std::to_string(number), .owner = "o", .label = std::move(label)};
}

class task_keeper_test : public testing::Test {
protected:
    std::optional<task_record> found(const std::string& id) {
        std::promise<std::optional<task_record>> answer;
        keeper->find(id, "o",
                     [&](std::optional<task_record> task, std::string_view) { answer.set_value(std::move(task)); });
        return answer.get_future().get();
    }

    std::shared_ptr<watched_store::notes> notes = std::make_shared<watched_store::notes>();
    std::promise<void> gate;
    std::optional<task_keeper> keeper;
};

TEST_F(task_keeper_test, writes_what_gathers_together_and_tells_each_in_order) {
    notes->gate = gate.get_future().share();
    keeper.emplace(std::make_unique<watched_store>(notes));
    std::vector<int> told;
    for (int i = 0; i < 1'000; ++i) {
        keeper->write(task(i), [&told, i](std::string_view error) {
            EXPECT_EQ(error, "");
            told.push_back(i);
        });
    }
    gate.set_value();
    EXPECT_TRUE(found("999"));
    ASSERT_EQ(told.size(), 1'000U);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_LE(notes->writes.size(), 6U);
}

TEST_F(task_keeper_test, one_that_is_refused_takes_no_other_along) {
    notes->gate = gate.get_future().share();
    keeper.emplace(std::make_unique<watched_store>(notes));
    std::vector<std::string> told;
    for (int i = 0; i < 5; ++i) {
        keeper->write(task(i, i == 2 ? "refused" : ""), [&told](std::string_view error) { told.emplace_back(error); });
    }
    gate.set_value();
    EXPECT_EQ(found("2"), std::nullopt);
    EXPECT_EQ(told, (std::vector<std::string>{"", "", "it is refused", "", ""}));
    EXPECT_TRUE(found("4"));
}

TEST_F(task_keeper_test, a_read_sees_what_was_written_before_it) {
    keeper.emplace(memory_task_store());
    for (int i = 0; i < 100; ++i) {
        keeper->write(task(i), [](std::string_view) {});
        EXPECT_TRUE(found(std::to_string(i)));
    }
    std::promise<std::size_t> size;
    keeper->list("o", {}, 50,
                 [&](const std::vector<task_record>& page, std::string_view) { size.set_value(page.size()); });
    EXPECT_EQ(size.get_future().get(), 50U);
}

TEST_F(task_keeper_test, does_what_was_asked_for_before_it_ends) {
    notes->gate = gate.get_future().share();
    keeper.emplace(std::make_unique<watched_store>(notes));
    std::atomic<int> told = 0;
    for (int i = 0; i < 10; ++i) keeper->write(task(i), [&](std::string_view) { ++told; });
    gate.set_value();
    keeper.reset();
    EXPECT_EQ(told, 10);
}

TEST_F(task_keeper_test, TASK_7_what_an_earlier_process_left_unfinished_has_failed) {
    auto store = memory_task_store();
    store->write(std::vector{task(1)});
    keeper.emplace(std::move(store));
    EXPECT_EQ(keeper->failed_at_start(), 1U);
    const auto failed = found("1");
    EXPECT_EQ(failed->status, task_status::failed);
    EXPECT_NE(failed->status_message.find("the server stopped"), std::string::npos);
}

TEST_F(task_keeper_test, forgets_the_expired_also_while_it_is_never_idle) {
    auto store = memory_task_store();
    task_record old = task(1);
    old.ttl = 1ms;
    store->write(std::vector{old});
    keeper.emplace(std::move(store));
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (found("1") && std::chrono::steady_clock::now() < until) continue;
    EXPECT_FALSE(found("1"));
}

}  // namespace
}  // namespace andon::detail
