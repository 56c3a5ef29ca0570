// `andon check`, apart from its command line.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "andon/core/time.hpp"
#include "call/server_target.hpp"

namespace andon::app {

struct check_request {
    std::vector<std::string> server{};  ///< a command in words; or a URL, a name, a command, in one
    server_access access{};             ///< how it is reached
    std::string url{};                  ///< where the command serves
    int pid = 0;
    std::string tool{};
    std::string arguments{};                      ///< JSON
    duration timeout = std::chrono::seconds(30);  ///< for one probe
    std::vector<std::string> rules{};
    std::string era = "both";
    bool json = false;
    bool markdown = false;
    std::string junit{};
    bool verbose = false;
    bool list = false;
    int jobs = 4;
    // --client
    bool client = false;
    int http_port = -1;
    std::string report{};
};

/// Gives the exit status.
[[nodiscard]] int run_check(const check_request& asked);

}  // namespace andon::app
