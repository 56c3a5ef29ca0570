// A folder for one test, gone with it, and files in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace andon {

class own_folder {
public:
    own_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "andon_test_XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder could be made");
        path_ = name;
    }
    ~own_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    own_folder(const own_folder&) = delete;
    own_folder& operator=(const own_folder&) = delete;

    [[nodiscard]] std::string operator/(std::string_view name) const { return (path_ / name).string(); }
    [[nodiscard]] std::string write(std::string_view name, std::string_view text) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary) << text;
        return *this / name;
    }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

/// A variable of the environment for one test.
class own_variable {
public:
    /// Null: unset.
    own_variable(const char* name, const char* value) : name_(name) {
        if (const char* const before = std::getenv(name)) before_ = before, was_set_ = true;
        set(value);
    }
    ~own_variable() { set(was_set_ ? before_.c_str() : nullptr); }
    own_variable(const own_variable&) = delete;
    own_variable& operator=(const own_variable&) = delete;

private:
    void set(const char* value) const {
        if (value == nullptr) {
            ::unsetenv(name_);
        } else {
            ::setenv(name_, value, 1);
        }
    }

    const char* name_;
    std::string before_;
    bool was_set_ = false;
};

}  // namespace andon
