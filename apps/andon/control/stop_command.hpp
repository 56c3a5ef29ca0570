// `andon stop`: makes what is in flight stop.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "andon/core/time.hpp"

namespace andon::app {

/// Exactly one of ids, tool, session and all is given.
struct stop_options {
    std::vector<std::string> ids{};
    std::optional<std::string> tool{};
    std::optional<std::string> session{};
    bool all = false;
    std::string reason{};
    bool wait = false;
    std::optional<duration> timeout{};
    bool yes = false;
    bool json = false;
};

[[nodiscard]] int run_stop(const stop_options& options);

/// Of whoever runs this; for those whose call is stopped.
[[nodiscard]] std::string user_name();

}  // namespace andon::app
