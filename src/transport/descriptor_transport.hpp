// A transport over two descriptors: standard input and output, pipes to a child, a socket.
#pragma once

#include <memory>
#include <optional>

#include "andon/transport/transport.hpp"
#include "andon/wire/line_splitter.hpp"
#include "process/descriptor.hpp"
#include "transport/event_loop.hpp"
#include "transport/outbox.hpp"

namespace andon::detail {

/// `fd` for writing without ever waiting. Making the description itself non-blocking would change it for everybody who
/// shares it, such as the shell behind a terminal; so it is opened again where that can be done.
[[nodiscard]] descriptor for_writing(descriptor fd);

class descriptor_transport : public transport {
public:
    /// One socket both ways: its end is read, and needs no second look-out.
    descriptor_transport(descriptor in, descriptor out, const transport_limits& limits, bool one_socket = false);
    ~descriptor_transport() override;

    void open(event_loop& loop, events& to) override;
    bool send(std::string_view line, const cancel_token* owner) override;
    void hold(bool wanted) override;
    void drop_cancelled() override;
    void close() override;

protected:
    /// On the loop's thread: no line comes any more.
    void end(std::string_view why);

private:
    void read();
    bool read_once();
    bool hand_out();
    void read_rest(std::string_view why);
    void read_later();
    void watch_for_end();
    void look_for_half_end();
    void flush();
    void overflow();
    void note_crowd();
    void look_for_room();

    transport_limits limits_;
    bool one_socket_;
    descriptor in_;
    descriptor out_;
    line_splitter lines_;
    outbox outbox_;
    event_loop* loop_ = nullptr;
    events* events_ = nullptr;
    std::unique_ptr<event_loop::watch> watch_in_;
    std::unique_ptr<event_loop::watch> watch_out_;
    std::optional<event_loop::timer> half_end_;     // where there can be one
    std::shared_ptr<descriptor_transport*> alive_;  // null inside: gone. For work that is posted
    std::atomic<bool> ended_ = false;
    std::atomic<bool> crowded_ = false;
    bool held_ = false;
    bool last_ = false;        // what is read now is the rest, whoever holds it
    bool reading_ = false;     // the watch for more of it is set
    bool ending_ = false;      // likewise, for its end
    bool blocked_ = false;     // the peer has to read before more can be written
    bool delivering_ = false;  // lines are being handed out: flush at their end
};

}  // namespace andon::detail
