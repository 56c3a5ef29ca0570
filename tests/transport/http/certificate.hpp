// A certificate that signs itself, made when it is needed.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace andon {

/// A directory that goes with the test.
class temporary_directory {
public:
    temporary_directory();
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;
    ~temporary_directory();
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    /// A file in it, with this in it.
    [[nodiscard]] std::string file(const std::string& name, const std::string& content) const;

private:
    std::filesystem::path path_;
};

struct certificate_options {
    std::string names = "DNS:localhost,IP:127.0.0.1,IP:::1";  ///< as openssl.cnf has subjectAltName
    std::chrono::seconds begins = -std::chrono::hours(1);     ///< from now
    std::chrono::seconds ends = std::chrono::hours(1);
};

/// Certificate and key as PEM files.
class certificate {
public:
    explicit certificate(const certificate_options& options = {});
    [[nodiscard]] std::string file() const { return directory_.path() / "certificate.pem"; }
    [[nodiscard]] std::string key_file() const { return directory_.path() / "key.pem"; }

private:
    temporary_directory directory_;
};

}  // namespace andon
