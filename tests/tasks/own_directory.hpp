// A directory for one test, gone with it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace andon {

class own_directory {
public:
    own_directory() {
        std::string name = (std::filesystem::temp_directory_path() / "andon_tasks_XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no directory could be made");
        path_ = name;
    }
    ~own_directory() { std::filesystem::remove_all(path_); }
    own_directory(const own_directory&) = delete;
    own_directory& operator=(const own_directory&) = delete;
    [[nodiscard]] std::string file() const { return (path_ / "tasks.db").string(); }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace andon
