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
    descriptor_transport(descriptor in, descriptor out, const transport_limits& limits);
    ~descriptor_transport() override;

    void open(event_loop& loop, events& to) override;
    bool send(std::string_view line, const cancel_token* owner) override;
    void close() override;

protected:
    /// On the loop's thread: no line comes any more.
    void end(std::string_view why);

private:
    void read();
    /// Hands out what is there. False: there is nothing more to be had.
    bool read_once();
    void read_later();
    void flush();
    void nobody_reads();

    transport_limits limits_;
    descriptor in_;
    descriptor out_;
    line_splitter lines_;
    outbox outbox_;
    event_loop* loop_ = nullptr;
    events* events_ = nullptr;
    std::unique_ptr<event_loop::watch> watch_in_;
    std::unique_ptr<event_loop::watch> watch_out_;
    std::shared_ptr<descriptor_transport*> alive_;  // null inside: gone. For work that is posted
    std::atomic<bool> ended_ = false;
    bool blocked_ = false;     // the peer has to read before more can be written
    bool delivering_ = false;  // lines are being handed out: flush at their end
};

}  // namespace andon::detail
