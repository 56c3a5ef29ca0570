// Puts the rules to a client: andon is its server.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/run.hpp"

namespace andon::check {

struct checked_client {
    std::string name{};
    bool over_http = false;
    std::vector<checked_rule> rules{};

    [[nodiscard]] int broken() const;
    [[nodiscard]] check_verdict verdict() const;
};

/// On standard input and output, until the client closes them.
[[nodiscard]] checked_client watch_stdio_client();
/// On a port, until SIGINT or SIGTERM. `ready` is told the URL.
[[nodiscard]] checked_client watch_http_client(int port, const std::function<void(const std::string& url)>& ready);
/// Starts the client, with ANDON_CHECK_URL and ANDON_CHECK_SERVER in its environment, and waits for its end. Of a
/// client that used both, each. Throws server_gone where it cannot be started, and server_hangs at the limit.
[[nodiscard]] std::vector<checked_client> watch_client_command(const std::vector<std::string>& argv,
                                                               milliseconds limit);

[[nodiscard]] std::string client_as_text(const checked_client& what, bool colours);
/// One line of JSON.
[[nodiscard]] std::string client_as_json(const checked_client& what);
[[nodiscard]] std::optional<checked_client> client_from_json(std::string_view line);

}  // namespace andon::check
