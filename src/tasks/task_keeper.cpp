#include "tasks/task_keeper.hpp"

#include <algorithm>
#include <chrono>
#include <future>

#include "tasks/task_text.hpp"

namespace andon::detail {
namespace {

constexpr std::string_view died = "the server stopped while it was working on this task";
constexpr auto looks_for_expired = std::chrono::seconds(1);
constexpr std::size_t at_once = 256;  // written, or forgotten: others wait meanwhile

/// To be forgotten, as soon as there is time.
bool is_over(const task_record& task) {
    const auto ends = task.expires();
    return ends && *ends <= task_now();
}

/// What the store says, or that it is well.
template <class Work>
std::string error_of(Work work) {
    try {
        work();
        return {};
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

task_keeper::task_keeper(std::shared_ptr<task_store> store)
    : store_(std::move(store)), failed_at_start_(store_->fail_unfinished(task_now(), died)), kept_(store_->size()) {
    thread_ = std::thread([this] { work(); });
}

task_keeper::~task_keeper() {
    {
        const std::lock_guard lock(mutex_);
        leaving_ = true;
    }
    woken_.notify_one();
    thread_.join();
}

void task_keeper::ask(wish what, bool wake) {
    bool asleep = false;
    {
        const std::lock_guard lock(mutex_);
        wishes_.push_back(std::move(what));
        asleep = asleep_ && wake;
    }
    if (asleep) woken_.notify_one();
}

void task_keeper::wake() {
    bool asleep = false;
    {
        const std::lock_guard lock(mutex_);
        asleep = asleep_ && !wishes_.empty();
    }
    if (asleep) woken_.notify_one();
}

void task_keeper::create(task_record task, written then) {
    ask({.task = std::move(task), .is_new = true, .then = std::move(then)});
}

void task_keeper::write(task_record task, written then, bool wake) {
    ask({.task = std::move(task), .then = std::move(then)}, wake);
}

void task_keeper::flush() {
    std::promise<void> done;
    ask({.other = [&] { done.set_value(); }});
    done.get_future().wait();
}

void task_keeper::find(std::string id, std::string owner, found then, bool wake) {
    ask({.other =
             [this, id = std::move(id), owner = std::move(owner), then = std::move(then)] {
                 std::optional<task_record> task;
                 const std::string error = error_of([&] { task = store_->find(id, owner); });
                 if (task && is_over(*task)) {
                     task.reset();
                     next_look_ = {};
                     forget_expired();
                 }
                 then(std::move(task), error);
             }},
        wake);
}

void task_keeper::list(std::string owner, task_place after, std::size_t most, listed then) {
    ask({.other = [this, owner = std::move(owner), after = std::move(after), most, then = std::move(then)] {
        std::vector<task_record> page;
        const std::string error = error_of([&] { page = store_->list(owner, after, most); });
        then(std::move(page), error);
    }});
}

void task_keeper::work() {
    std::vector<wish> wishes;
    for (;;) {
        wishes.clear();
        {
            std::unique_lock lock(mutex_);
            asleep_ = true;
            woken_.wait_for(lock, more_expired_ ? std::chrono::seconds(0) : looks_for_expired,
                            [this] { return leaving_ || !wishes_.empty(); });
            asleep_ = false;
            if (wishes_.empty() && leaving_) return;
            std::swap(wishes, wishes_);
        }
        forget_expired();
        for (std::size_t i = 0; i < wishes.size();) {
            if (wishes[i].task) {
                i += write_some(wishes, i);
            } else {
                wishes[i++].other();
            }
        }
    }
}

std::size_t task_keeper::write_some(std::vector<wish>& wishes, std::size_t first) {
    std::size_t last = first;
    std::vector<task_record> tasks;
    for (; last < wishes.size() && wishes[last].task && tasks.size() < at_once; ++last) {
        // The end of one that was forgotten meanwhile is not to bring it back.
        if (wishes[last].is_new || !is_over(*wishes[last].task)) tasks.push_back(*wishes[last].task);
    }
    if (error_of([&] { store_->write(tasks); }).empty()) {
        for (std::size_t i = first; i < last; ++i) {
            if (wishes[i].is_new) ++kept_;
            wishes[i].then({});
        }
    } else {
        // All or none: which one it was shows when each goes by itself.
        for (std::size_t i = first; i < last; ++i) write_one(wishes[i]);
    }
    return last - first;
}

void task_keeper::write_one(wish& what) {
    const std::string error = error_of([&] { store_->write({&*what.task, 1}); });
    if (error.empty() && what.is_new) ++kept_;
    what.then(error);
}

void task_keeper::forget_expired() {
    const auto time = std::chrono::steady_clock::now();
    if (time < next_look_) return;
    more_expired_ = false;
    next_look_ = time + looks_for_expired;
    static_cast<void>(error_of([this] {
        const std::size_t forgotten = store_->forget_expired(task_now(), at_once);
        kept_ -= std::min(forgotten, kept_.load());
        if (forgotten < at_once) return;
        more_expired_ = true;  // the next round goes on with them, also where nobody asks for anything
        next_look_ = {};
    }));
}

}  // namespace andon::detail
