// Sixty-four calls in flight over stdio.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "readings.hpp"
#include "server_process.hpp"
#include "stdio_client.hpp"

namespace andon::bench {

/// A client that has introduced itself to a server on pipes.
class stdio_session {
public:
    stdio_session(server_process& server, waiting how) : client(server, how) { client.initialize(); }

    stdio_client client;
    std::int64_t next_id = 1;
};

struct held_process {
    server_process process;
};

/// The same, and the server's process.
class served_stdio_session : public held_process, public stdio_session {
public:
    served_stdio_session(const peer& server, bool marks, const placement& cores)
        : served_stdio_session(server, marks, cores, how_to_wait(cores)) {}
    served_stdio_session(const peer& server, bool marks, const placement& cores, waiting how)
        : held_process{{server.command, marks, cores}}, stdio_session(process, how) {}
};

/// Sixty-four in flight until all are answered, each exactly once. Returns the seconds that it took. `midway` is called
/// with half of the calls behind it.
double echo_many(stdio_session& in, std::int64_t calls, const std::function<void()>& midway = {});
/// Calls a second, sixty-four in flight: after a second of warming up, for the compilers at run time, over about two
/// seconds.
double echo_rate(stdio_session& in);
/// Microseconds for an echo, one at a time.
std::vector<double> echo_times(stdio_session& in, int calls);

}  // namespace andon::bench
