// As little of an HTTP server as the drivers can talk to.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace andon::bench {

/// Appends the answer to a body; nothing where it is to be 202.
using body_answer = std::function<void(std::string_view, std::string&)>;

/// On this port of 127.0.0.1, or on any, which it tells on stderr. Returns only when it fails.
int answer_http(std::uint16_t port, const body_answer& answer);

}  // namespace andon::bench
