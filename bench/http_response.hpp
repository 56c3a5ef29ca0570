// One HTTP response, taken in as its bytes come: no more of HTTP/1.1 than a driver needs to know that it is right.
#pragma once

#include <string>
#include <string_view>

namespace andon::bench {

class http_response {
public:
    enum class state { incomplete, complete, broken };

    /// The bytes that came next. What follows the end of the response is not expected, and breaks it.
    state take(std::string_view bytes);
    /// The server closed the connection: the end of a body that has no other.
    state take_end();
    /// Ready for the next one.
    void clear();

    [[nodiscard]] bool begun() const { return !received_.empty(); }
    // True of a response whose head is there.
    [[nodiscard]] int status() const { return status_; }
    [[nodiscard]] std::string_view session_id() const { return session_id_; }
    /// The body without its frames: JSON, or the lines of an event stream.
    [[nodiscard]] std::string_view body() const;
    /// What has come of a body in chunks, which forgets it: for one that has no end.
    [[nodiscard]] std::string drain();
    /// The beginning of what came, for a message.
    [[nodiscard]] std::string_view beginning() const { return std::string_view(received_).substr(0, 300); }

private:
    enum class framing { head, length, chunked, until_close };

    [[nodiscard]] bool take_head();
    [[nodiscard]] bool take_header(std::string_view name, std::string_view value);
    [[nodiscard]] state take_chunks();

    std::string received_;
    std::size_t at_ = 0;  // what lies before it has been dealt with
    framing framing_ = framing::head;
    int status_ = 0;
    std::size_t length_ = 0;
    std::string session_id_;
    std::string unchunked_;
};

}  // namespace andon::bench
