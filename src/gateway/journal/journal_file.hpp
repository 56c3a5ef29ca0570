// The journal's file. One thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>

#include "gateway/journal/sqlite_base.hpp"
#include "gateway/relay/relayed_call_view.hpp"

namespace andon::gateway {

inline constexpr int journal_format = 1;
/// What is longer is cut, when it is written and when it is read.
inline constexpr std::size_t longest_journal_text = 1'024;

/// One that is newer than ours cannot be understood. Throws journal_error.
void expect_journal_format(std::int64_t found, const std::string& path);

/// Which file a path names, so that one that was put in its place is noticed.
struct file_identity {
    dev_t device = 0;
    ino_t number = 0;
    friend bool operator==(const file_identity&, const file_identity&) = default;
};
[[nodiscard]] std::optional<file_identity> identity_of(const std::string& path) noexcept;

struct journal_bounds {
    std::size_t max_rows = 100'000;
    std::size_t max_days = 30;
};

/// Several processes may write the same file at once.
class journal_file {
public:
    /// Makes the file and its folder if need be, for this user alone. `patience` is asked again and again while
    /// another process has the file locked: whether to wait on. Throws journal_error.
    journal_file(const std::string& path, const journal_bounds& bounds, std::function<bool(duration waited)> patience);
    journal_file(const journal_file&) = delete;
    journal_file& operator=(const journal_file&) = delete;

    /// All or none. Forgets what is too old or too much. Throws journal_error.
    void write(std::span<const journal_entry> entries);
    /// Whether another file stands there now, or none.
    [[nodiscard]] bool replaced() const noexcept { return identity_of(path_) != identity_; }

private:
    static int busy(void* file, int times);

    std::string path_;
    journal_bounds bounds_;
    std::function<bool(duration waited)> patience_;
    sqlite_base base_;
    std::optional<sqlite_statement> put_{};
    std::optional<sqlite_statement> take_back_{};
    std::optional<sqlite_statement> forget_old_{};
    std::optional<sqlite_statement> forget_many_{};
    std::optional<file_identity> identity_{};
};

}  // namespace andon::gateway
