// `andon check`, apart from its command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace andon::app {

struct check_request {
    std::vector<std::string> server{};  ///< a command, one string to be split, or a URL
    std::string url{};                  ///< where the command serves
    std::vector<std::string> headers{};
    std::string ca_file{};
    int pid = 0;
    std::string tool{};
    std::string arguments{};  ///< JSON
    double timeout = 30;      ///< seconds, for one probe
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
