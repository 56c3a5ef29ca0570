// The server under test: how to start it or where to find it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "check/http_session.hpp"
#include "check/session.hpp"

namespace andon::check {

/// A command on stdio; or a URL; or both, where the command is to be started and serves at the URL. `{port}` in either
/// stands for a port that is free, another one for each session.
struct target {
    std::vector<std::string> command{};
    std::vector<std::pair<std::string, std::string>> environment{};  ///< of the command, beside ours
    std::string directory{};                                         ///< to start it in; empty: ours
    std::string url{};
    header_list headers{};
    std::string ca_file{};
    pid_t pid = 0;  ///< of the server at the URL, where it runs here and may be looked at

    [[nodiscard]] bool over_http() const noexcept { return !url.empty(); }
    /// Whether each session has a server of its own.
    [[nodiscard]] bool starts() const noexcept { return !command.empty(); }
    [[nodiscard]] std::string in_words() const;

    /// A session that has said nothing yet.
    [[nodiscard]] std::unique_ptr<session> connect(session_options how) const;
    /// One that has shaken hands. Throws server_gone and not_spoken.
    [[nodiscard]] std::unique_ptr<session> open(session_options how) const;
};

}  // namespace andon::check
