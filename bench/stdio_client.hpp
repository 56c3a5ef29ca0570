// The client's side of one conversation with a server under measurement: light enough that the server is the limit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "line_reader.hpp"
#include "server_errors.hpp"
#include "server_process.hpp"

namespace andon::bench {

struct response {
    std::int64_t id;
    std::string_view line;
    /// But for the id it is, byte for byte, like one that the same callback has had before.
    bool familiar;
};

/// Nothing here waits without a limit: what takes too long throws, and says what it was.
class stdio_client {
public:
    stdio_client(server_process& server, waiting how);

    /// initialize and notifications/initialized. Returns the revision that the server chose.
    std::string initialize();
    void on_response(std::function<void(const response&)> call) {
        response_ = std::move(call);
        before_id_.clear();
    }
    void on_mark(std::function<void(const mark&)> call) { errors_.on_mark(std::move(call)); }

    /// Puts whole lines on their way and returns without waiting. They stay where they are until written; what is
    /// still unwritten from before must end where they begin.
    void send(std::string_view lines);
    /// Reads and writes until `done()`; throws, naming `what`, when that takes longer than `seconds`.
    void wait_for(const std::string& what, double seconds, const std::function<bool()>& done);

private:
    void step();
    void write_some();
    void take_response(std::string_view line);

    server_process* server_;
    waiting how_;
    line_reader output_;
    server_errors errors_;
    std::string_view unwritten_;
    std::string before_id_;
    std::string after_id_;
    std::function<void(const response&)> response_;
};

}  // namespace andon::bench
