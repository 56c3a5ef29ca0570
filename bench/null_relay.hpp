// What a relay costs that looks at nothing: the kernel's part of every relay.
#pragma once

#include <string>
#include <vector>

namespace andon::bench {

/// `wrap -- COMMAND...` or `gateway --port PORT -- COMMAND...`, as andon has them: passes the bytes on. The gateway
/// waits for the answer to one request before it takes the next. Returns when its input or the server ends.
int run_null_relay(const std::vector<std::string>& arguments);

}  // namespace andon::bench
