#include "server/scheduler.hpp"

#include <algorithm>
#include <system_error>

namespace andon::detail {
namespace {

void push(gate& queue, turn& call) noexcept {
    call.previous = queue.last;
    call.next = nullptr;
    (queue.last != nullptr ? queue.last->next : queue.first) = &call;
    queue.last = &call;
}

void unlink(gate& queue, turn& call) noexcept {
    (call.previous != nullptr ? call.previous->next : queue.first) = call.next;
    (call.next != nullptr ? call.next->previous : queue.last) = call.previous;
}

turn* pop(gate& queue) noexcept {
    turn* const first = queue.first;
    if (first != nullptr) unlink(queue, *first);
    return first;
}

}  // namespace

void scheduler::stop() {
    {
        const std::lock_guard lock(mutex_);
        leaving_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

bool scheduler::here() {
    const std::lock_guard lock(mutex_);
    return std::any_of(threads_.begin(), threads_.end(),
                       [](const std::thread& thread) { return thread.get_id() == std::this_thread::get_id(); });
}

void scheduler::submit(turn& call, gate* through) {
    const std::lock_guard lock(mutex_);
    call.through = through;
    if (through != nullptr && through->most != 0 && through->running >= through->most) {
        call.where = turn::place::at_gate;
        push(*through, call);
        return;
    }
    if (through != nullptr) ++through->running;
    enqueue(call);
}

void scheduler::enqueue(turn& call) {
    call.where = turn::place::in_queue;
    if (call.what == turn::kind::loop) {
        push(for_loop_, call);
        loop_->post([this] { begin_on_loop(); });
        return;
    }
    push(for_threads_, call);
    ++queued_;
    if (queued_ > idle_threads_ && threads_.size() < most_threads_) {
        try {
            threads_.emplace_back([this] { work(); });
        } catch (const std::system_error&) {  // no more are to be had: it waits for one of those that are there
            if (!threads_.empty()) return;
            unlink(for_threads_, call);
            --queued_;
            if (call.through != nullptr) --call.through->running;
            call.where = turn::place::nowhere;
            throw;
        }
    } else {
        wake_.notify_one();
    }
}

bool scheduler::withdraw(turn& call) {
    const std::lock_guard lock(mutex_);
    switch (call.where) {
        case turn::place::at_gate: unlink(*call.through, call); break;
        case turn::place::in_queue:
            unlink(call.what == turn::kind::loop ? for_loop_ : for_threads_, call);
            if (call.what == turn::kind::thread) --queued_;
            if (call.through != nullptr) {
                --call.through->running;
                if (turn* const next = pop(*call.through)) {
                    ++call.through->running;
                    enqueue(*next);
                }
            }
            break;
        case turn::place::nowhere:
        case turn::place::running: return false;
    }
    call.where = turn::place::nowhere;
    return true;
}

void scheduler::done(turn& call) {
    const std::lock_guard lock(mutex_);
    if (call.where != turn::place::running) return;
    call.where = turn::place::nowhere;
    gate* const through = call.through;
    if (through == nullptr) return;
    --through->running;
    if (turn* const next = pop(*through)) {
        ++through->running;
        enqueue(*next);
    }
}

void scheduler::begin_on_loop() {
    turn* call = nullptr;
    {
        const std::lock_guard lock(mutex_);
        call = pop(for_loop_);
        if (call == nullptr) return;  // it was withdrawn
        call->where = turn::place::running;
    }
    call->begin();
}

void scheduler::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        if (turn* const call = pop(for_threads_)) {
            call->where = turn::place::running;
            --queued_;
            ++busy_threads_;
            lock.unlock();
            call->begin();  // which calls done()
            lock.lock();
            if (--busy_threads_ == 0) idle_.notify_all();
            continue;
        }
        if (leaving_) return;
        ++idle_threads_;
        wake_.wait(lock, [&] { return leaving_ || for_threads_.first != nullptr; });
        --idle_threads_;
    }
}

bool scheduler::idle_within(duration limit) {
    std::unique_lock lock(mutex_);
    return idle_.wait_for(lock, limit, [&] { return busy_threads_ == 0; });
}

}  // namespace andon::detail
