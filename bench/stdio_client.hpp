// The client's side of one conversation with a server under measurement: light enough that the server is the limit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "line_reader.hpp"
#include "server_process.hpp"

namespace andon::bench {

/// What a handler said on stderr: `@start KEY NS` or `@cancel KEY NS`. Keys are the ids of the requests.
struct mark {
    bool cancelled;
    std::int64_t key;
    std::int64_t at;
};

struct response {
    std::int64_t id;
    std::string_view line;
    /// But for the id it is, byte for byte, like one that the same callback has had before.
    bool familiar;
};

/// Nothing here waits without a limit: what takes too long throws, and says what it was.
class stdio_client {
public:
    /// Asleep in poll(), or asking it again and again with the core held.
    enum class waiting { asleep, awake };

    stdio_client(server_process& server, waiting how);

    /// initialize and notifications/initialized. Returns the revision that the server chose.
    std::string initialize();
    void on_response(std::function<void(const response&)> call) {
        response_ = std::move(call);
        before_id_.clear();
    }
    void on_mark(std::function<void(const mark&)> call) { mark_ = std::move(call); }

    /// Puts whole lines on their way and returns without waiting. They stay where they are until written; what is
    /// still unwritten from before must end where they begin.
    void send(std::string_view lines);
    /// Reads and writes until `done()`; throws, naming `what`, when that takes longer than `seconds`.
    void wait_for(const std::string& what, double seconds, const std::function<bool()>& done);

private:
    void step();
    void write_some();
    void take_response(std::string_view line);
    void take_error_line(std::string_view line);
    [[noreturn]] void fail(const std::string& what);

    server_process* server_;
    waiting how_;
    line_reader output_;
    line_reader errors_;
    std::string_view unwritten_;
    std::string last_words_;
    std::string before_id_;
    std::string after_id_;
    std::function<void(const response&)> response_;
    std::function<void(const mark&)> mark_;
};

/// One line each, with its line feed.
[[nodiscard]] std::string echo_call(std::int64_t id, std::string_view text);
[[nodiscard]] std::string park_call(std::int64_t id);
[[nodiscard]] std::string cancel(std::int64_t id);

}  // namespace andon::bench
