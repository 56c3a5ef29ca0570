// The stderr of a server under measurement: the marks of its handlers, and its last words should it fail.
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

class server_errors {
public:
    explicit server_errors(server_process& server) : server_(&server), lines_(server.errors()) {}

    void on_mark(std::function<void(const mark&)> call) { mark_ = std::move(call); }
    /// Everything that is no mark.
    void on_line(std::function<void(std::string_view)> call) { line_ = std::move(call); }

    [[nodiscard]] int fd() const { return lines_.fd(); }
    /// Takes what is there, with one read.
    line_reader::result read();
    /// Throws: `what`, how the server ended and what it said last.
    [[noreturn]] void fail(const std::string& what);

private:
    void take(std::string_view line);
    void remember(std::string_view line);

    server_process* server_;
    line_reader lines_;
    std::string last_words_;
    std::function<void(const mark&)> mark_;
    std::function<void(std::string_view)> line_;
};

}  // namespace andon::bench
