// A folder for the control sockets of one test, gone with it; named in the environment.
#pragma once

#include <filesystem>

#include "own_folder.hpp"

namespace andon::gateway {

class runtime_folder {
public:
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    [[nodiscard]] std::size_t files() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
    }

private:
    own_folder folder_;
    std::filesystem::path path_ = folder_.path();
    own_variable named_{"ANDON_RUNTIME_DIR", path_.c_str()};
};

}  // namespace andon::gateway
