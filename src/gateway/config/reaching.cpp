#include "gateway/config/reaching.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <unistd.h>

#include "transport/http/tls_context.hpp"

namespace andon::gateway {
namespace {

std::string from_environment(const std::string& name) {
    const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody sets it
    if (value == nullptr || *value == '\0') {
        throw std::invalid_argument("the environment variable " + name +
                                    " is not set, and the token or a header is to come from it");
    }
    return value;
}

}  // namespace

command command_of(const command_target& target) {
    command made{.argv = target.argv};
    made.environment.assign(target.environment.begin(), target.environment.end());
    made.directory = target.directory;
    return made;
}

bool can_be_started(const command_target& target) {
    namespace fs = std::filesystem;
    const auto is_program = [](const fs::path& file) {
        std::error_code fault;
        return fs::is_regular_file(file, fault) && ::access(file.c_str(), X_OK) == 0;
    };
    const std::string& program = target.argv.front();
    if (program.find('/') != std::string::npos) return is_program(fs::path(target.directory) / program);
    const auto own = target.environment.find("PATH");
    const char* const ours = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nobody sets it
    const std::string path = own != target.environment.end() ? own->second
                             : ours != nullptr               ? ours
                                                             : "/usr/local/bin:/usr/bin:/bin";
    for (std::string_view rest = path;;) {
        const auto colon = rest.find(':');
        if (is_program(fs::path(rest.substr(0, colon)) / program)) return true;
        if (colon == std::string_view::npos) return false;
        rest.remove_prefix(colon + 1);
    }
}

void expect_certificates(const url_target& target) {
    if (!target.ca_file.empty()) static_cast<void>(detail::tls_context::client(target.ca_file));
}

http_client_options http_options_of(const url_target& target) {
    http_client_options options;
    options.ca_file = target.ca_file;
    if (!target.bearer_env.empty()) options.bearer_token = from_environment(target.bearer_env);
    options.headers.assign(target.headers.begin(), target.headers.end());
    for (const auto& [header, variable] : target.headers_env) {
        options.headers.emplace_back(header, from_environment(variable));
    }
    return options;
}

}  // namespace andon::gateway
