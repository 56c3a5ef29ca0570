// What `andon log` does.
#pragma once

#include <cstddef>
#include <string>

#include "gateway/journal/journal_reader.hpp"

namespace andon::app {

struct log_request {
    gateway::journal_filter filter{};
    std::size_t most = 20;
    bool follow = false;
    bool json = false;
    std::string config{};  ///< empty: the one that is looked for
};

/// Gives the exit status.
[[nodiscard]] int show_log(const log_request& request);

/// One row for programs, without its newline.
[[nodiscard]] std::string log_json(const gateway::journal_row& row);

}  // namespace andon::app
