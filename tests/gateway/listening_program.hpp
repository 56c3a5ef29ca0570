// A program that serves over HTTP and says where: andon gateway, and servers behind it.
#pragma once

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include "andon/process/process_tree.hpp"
#include "built_programs.hpp"
#include "own_folder.hpp"

namespace andon {

/// Ends with the object, and everything that it started. What andon keeps of itself is in the folder.
class listening_program {
public:
    listening_program(std::vector<std::string> argv, const own_folder& folder)
        : tree_(process_tree::start({.argv = std::move(argv),
                                     .environment = {{"ANDON_RUNTIME_DIR", folder / "run"},
                                                     {"ANDON_STATE_DIR", folder / "state"},
                                                     {"ANDON_LOG", "info"}}},
                                    {.in = stdio::null, .out = stdio::null, .err = stdio::pipe})) {
        constexpr std::string_view before = "listening on ";
        std::string heard;
        std::size_t begin = std::string::npos;
        std::size_t end = std::string::npos;
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (end == std::string::npos) {
            if (std::chrono::steady_clock::now() > until) throw std::runtime_error("it does not listen: " + heard);
            pollfd ready{tree_.err(), POLLIN, 0};
            ::poll(&ready, 1, 100);
            std::array<char, 4096> bytes{};
            const ssize_t got = ::read(tree_.err(), bytes.data(), bytes.size());
            if (got > 0) heard.append(bytes.data(), static_cast<std::size_t>(got));
            begin = heard.find(before);
            if (begin != std::string::npos) end = heard.find_first_of("\"\n", begin);
        }
        begin += before.size();
        url_ = heard.substr(begin, end - begin);
        tree_.close_err();
    }
    [[nodiscard]] const std::string& url() const noexcept { return url_; }
    [[nodiscard]] pid_t pid() const { return tree_.pid(); }

private:
    process_tree tree_;
    std::string url_;
};

/// What `andon log --json` says, one object a line.
[[nodiscard]] inline std::string journal_in(const own_folder& folder) {
    const std::string command =
        "ANDON_STATE_DIR=" + (folder / "state") + " " + built_program("andon") + " log --json -n 100000";
    std::string text;
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
    std::array<char, 4096> bytes{};
    while (const std::size_t got = std::fread(bytes.data(), 1, bytes.size(), pipe.get())) {
        text.append(bytes.data(), got);
    }
    return text;
}

}  // namespace andon
