#include "gateway/config/reaching.hpp"

#include <cstdlib>
#include <stdexcept>

namespace andon::gateway {
namespace {

std::string from_environment(const std::string& name) {
    const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody sets it
    if (value == nullptr || *value == '\0') {
        throw std::invalid_argument("the environment variable " + name + " is not set, and the configuration needs it");
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
