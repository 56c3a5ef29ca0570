// A server as a child process, line by line. Nothing of it outlives the session.
#pragma once

#include <string>
#include <vector>

#include "andon/process/process_tree.hpp"
#include "andon/wire/line_splitter.hpp"
#include "check/session.hpp"

namespace andon::check {

class stdio_session final : public session {
public:
    /// Throws server_gone where it cannot be started.
    stdio_session(const command& what, session_options how);

    [[nodiscard]] bool over_http() const noexcept override { return false; }
    void write(const outgoing& message) override;
    [[nodiscard]] std::optional<process_view> processes() const override;
    [[nodiscard]] std::optional<std::string> log() const override { return log_; }

    /// The process of the command.
    [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }

private:
    bool pump(milliseconds limit) override;
    [[nodiscard]] std::string why_gone() override;
    void take_log();

    process_tree process_;
    line_splitter lines_;
    std::string log_;
    bool ended_ = false;
};

/// Starts the command with a pipe at each stream; server_gone says why it cannot be.
[[nodiscard]] process_tree start_server(const command& what, process_stdio streams);
/// Adds what is there to `log`, of which no more than a few hundred KiB are kept. False: its end.
bool read_log(int fd, std::string& log);
/// As `it exited with 1`, `it was killed by signal 11 (Segmentation fault)`.
[[nodiscard]] std::string in_words(const std::optional<exit_status>& ended);

}  // namespace andon::check
