// The measure of the drivers themselves.
#pragma once

#include <string>
#include <string_view>

namespace andon::bench {

/// Servers that answer every request the same, with hardly a look at it. The rate that one reaches is the driver's own
/// limit, and no server's rate means anything close to it.

/// On stdin and stdout. Of a park, and of a cancel, it says when the line was there: a thread that does nothing but
/// sleep in read() and wake. Returns when its input ends.
int run_null_peer();
/// On a port of 127.0.0.1, which it tells on stderr. Returns only when it fails.
int run_http_null_peer();

/// Appends the answer to a request; nothing if it has no id.
void append_null_answer(std::string_view request, std::string& to);
/// Leaves the program where that fails.
void write_all(int fd, std::string_view rest);

}  // namespace andon::bench
