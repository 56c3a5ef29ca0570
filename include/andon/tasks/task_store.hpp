// Where tasks are kept.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "andon/tasks/task_record.hpp"

namespace andon {

/// What a store could not do, in words for whoever runs the server: "the disk is full", "the file cannot be written".
class task_store_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Where a page of a list ended.
struct task_place {
    task_time created{};
    std::string id{};
};

/// Called by one thread at a time, and not by the one that reads from clients: it may take its time. Every function may
/// throw task_store_error, and has then changed nothing.
class task_store {
public:
    task_store() = default;
    task_store(const task_store&) = delete;
    task_store& operator=(const task_store&) = delete;
    virtual ~task_store() = default;

    /// All of them or none, new ones and new states of old ones. When it returns they are as safe as this store makes
    /// them.
    virtual void write(std::span<const task_record> tasks) = 0;
    /// Another owner's is as unknown as one that never was, and is looked for in the same way.
    [[nodiscard]] virtual std::optional<task_record> find(std::string_view id, std::string_view owner) = 0;
    /// The owner's, the oldest first, after that place; results are left out.
    [[nodiscard]] virtual std::vector<task_record> list(std::string_view owner, const task_place& after,
                                                        std::size_t most) = 0;
    /// Forgets those whose time is over, at most so many. How many it were.
    virtual std::size_t forget_expired(task_time now, std::size_t most) = 0;
    /// All those whose work died with the process that did it. How many it were.
    virtual std::size_t fail_unfinished(task_time now, std::string_view message) = 0;
    [[nodiscard]] virtual std::size_t size() = 0;
};

/// Gone with the process.
[[nodiscard]] std::unique_ptr<task_store> memory_task_store();

/// In a SQLite file, made where there is none. What was written is on the disk. One process at a time: a second one
/// throws, as does a file that is no store, or that cannot be read or written.
[[nodiscard]] std::unique_ptr<task_store> sqlite_task_store(const std::string& path);

}  // namespace andon
