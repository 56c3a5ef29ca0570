// The journal, read.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gateway/journal/journal_file.hpp"
#include "gateway/journal/sqlite_base.hpp"
#include "gateway/relay/relayed_call_view.hpp"

namespace andon::gateway {

/// What is not set lets everything through.
struct journal_filter {
    std::string server{};
    std::string tool{};
    std::optional<call_end> end{};
    std::optional<std::chrono::system_clock::time_point> since{};  ///< ended then or later
    bool ignored = false;                                          ///< only those whose cancel was ignored
};

struct journal_row {
    std::int64_t id = 0;
    pid_t andon = 0;  ///< the process that wrote it
    journal_entry entry{};
};

/// "completed", "timed out" and the others, as the journal has them.
[[nodiscard]] std::optional<call_end> parse_call_end(std::string_view text) noexcept;

/// Holds nothing up: between two calls nothing is locked.
class journal_reader {
public:
    /// Throws journal_error; `missing()` says where nobody has written anything yet.
    explicit journal_reader(const std::string& path);
    journal_reader(const journal_reader&) = delete;
    journal_reader& operator=(const journal_reader&) = delete;

    /// The newest `most`, the oldest of them first.
    [[nodiscard]] std::vector<journal_row> newest(const journal_filter& filter, std::size_t most);
    /// Those behind the row `id`, in their order, at most `most`.
    [[nodiscard]] std::vector<journal_row> after(std::int64_t id, const journal_filter& filter, std::size_t most);
    /// Of the newest row, whatever it is; 0: there is none.
    [[nodiscard]] std::int64_t last_id() { return base_.number("SELECT max(id) FROM call"); }
    /// Whether another file stands there now, or none.
    [[nodiscard]] bool replaced() const noexcept { return identity_of(path_) != identity_; }

private:
    [[nodiscard]] std::vector<journal_row> rows(const journal_filter& filter, std::int64_t after, std::size_t most,
                                                const char* order);

    std::string path_;
    std::optional<file_identity> identity_;
    sqlite_base base_;
};

}  // namespace andon::gateway
