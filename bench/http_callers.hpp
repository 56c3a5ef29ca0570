// Sixty-four callers over HTTP, each with one call in flight.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "http_client.hpp"
#include "readings.hpp"
#include "server_process.hpp"

namespace andon::bench {

/// A server over HTTP in a process of its own, and the client that has introduced itself to it.
class http_session {
public:
    http_session(const peer& server, bool marks, const placement& cores)
        : process(server.command, marks, cores), client(process, how_to_wait(cores)) {
        client.introduce();
    }

    server_process process;
    http_client client;
    std::int64_t next_id = first_http_id;
};

/// Connections that are kept, and on each one call after the other: its request is built once, and for every call its
/// id is written over.
class http_callers {
public:
    explicit http_callers(http_client& client, std::int64_t& next_id, std::size_t count = 64);
    explicit http_callers(http_session& in) : http_callers(in.client, in.next_id) {}
    ~http_callers();
    http_callers(const http_callers&) = delete;
    http_callers& operator=(const http_callers&) = delete;

    /// Returns the seconds that it took. `midway` is called once, with half of the calls behind it.
    double call(std::int64_t calls, const std::function<void()>& midway = {});

private:
    struct request {
        http_connection* on = nullptr;
        std::string text;
        std::size_t id_at = 0;
        std::int64_t id = 0;
    };

    http_client* client_;
    std::int64_t* next_id_;
    std::vector<request> requests_;
};

/// As many open files as the system lets us have, here and in the servers.
void raise_file_limit();

}  // namespace andon::bench
