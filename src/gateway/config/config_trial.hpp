// What a configuration that is right in itself would meet on this machine.
#pragma once

#include <string>
#include <vector>

#include "gateway/config/config.hpp"

namespace andon::gateway {

/// One line each, as "andon.toml:3:1: certificate: ...". Safe to show.
struct config_trial {
    std::vector<std::string> problems{};  ///< no andon would start with it, or reach that server: certificates
    std::vector<std::string> faults{};    ///< would fail here, and may be mended without the file: a command, a folder
    std::vector<std::string> warnings{};  ///< may be otherwise where andon is started: variables
};

/// Nothing is started, and nobody is called.
[[nodiscard]] config_trial try_config(const configuration& config);

}  // namespace andon::gateway
