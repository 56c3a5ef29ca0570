// Waking up when a file changes, and not before.
#pragma once

#include <string>

namespace andon::gateway {

/// Its folder is watched, so that the file may come, go and be replaced; those beside it whose names begin with its own
/// count as it (SQLite's log).
class file_watch {
public:
    /// Makes the folder if it is missing. Throws std::system_error.
    explicit file_watch(const std::string& path);
    ~file_watch();
    file_watch(const file_watch&) = delete;
    file_watch& operator=(const file_watch&) = delete;

    /// Readable when there is something for changed() to look at.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    /// Whether the file was changed since the last call. Does not wait. Throws std::runtime_error where the folder is
    /// gone.
    [[nodiscard]] bool changed();

private:
    std::string folder_;
    std::string name_;
    int descriptor_ = -1;
};

}  // namespace andon::gateway
