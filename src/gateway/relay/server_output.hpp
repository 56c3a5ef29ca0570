// What a server writes to its standard error, line by line, where several servers share a log.
#pragma once

#include <memory>
#include <string>

#include "gateway/event_log.hpp"
#include "process/descriptor.hpp"
#include "transport/event_loop.hpp"

namespace andon::gateway {

/// As with a standard error that is passed on: nothing is lost, and where nobody reads the log the server waits in the
/// end. On the loop's thread. When it goes, what is left in the pipe is still logged.
class server_output {
public:
    server_output(detail::event_loop& loop, detail::descriptor from, event_log log, std::string server);
    server_output(const server_output&) = delete;
    server_output& operator=(const server_output&) = delete;
    ~server_output();

private:
    void read_later();
    void read();
    /// False: that was all there will be.
    bool read_once();
    /// Of what was read: whole lines, and pieces of long ones. False: the log has no room now.
    bool hand_on();
    void hand_on_later();

    detail::event_loop* loop_;
    detail::descriptor from_;
    event_log log_;
    std::string server_;
    std::string read_;
    std::size_t handed_on_ = 0;  // of that
    bool ended_ = false;
    std::unique_ptr<detail::event_loop::watch> watch_;
    std::unique_ptr<detail::event_loop::watch> room_;  // of the log
};

}  // namespace andon::gateway
