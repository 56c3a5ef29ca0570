// One client of the control socket.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "andon/wire/line_splitter.hpp"
#include "process/descriptor.hpp"
#include "transport/event_loop.hpp"

namespace andon::gateway {

/// Reads a request, has it answered, and reads the next one only when the answer is written: a client that does not
/// read costs one answer. All on the loop's thread.
class control_connection : public std::enable_shared_from_this<control_connection> {
public:
    class owner {
    public:
        /// To be answered with say() as often as is needed, and answered() at the end, now or later.
        virtual void asked(const std::shared_ptr<control_connection>& by, std::string_view line) = 0;
        /// Requests are not looked at before that: other work has its turn.
        [[nodiscard]] virtual time_point next_turn() const = 0;
        /// It is closed.
        virtual void gone(const control_connection& which) = 0;

    protected:
        ~owner() = default;
    };

    /// `patience`: for a whole request to come, and for a piece of the answer to be read.
    control_connection(detail::event_loop& loop, detail::descriptor socket, owner& told, duration patience);

    void open();
    /// Is written with the next flush() or answered().
    void say(std::string_view line);
    void flush();
    void answered();
    /// An error, and the end once it is written.
    void say_goodbye(std::string_view why);
    void close();

    [[nodiscard]] bool busy() const noexcept { return busy_; }
    [[nodiscard]] std::size_t unread() const noexcept { return out_.size() - written_; }

    static std::string error_line(std::string_view why);

private:
    void read();
    void next_request();
    void watch_for_end();
    void be_quick();
    [[nodiscard]] bool closed() const noexcept { return socket_.get() < 0; }

    detail::event_loop* loop_;
    detail::descriptor socket_;
    owner* owner_;
    duration patience_;
    line_splitter lines_;
    std::string out_;
    std::size_t written_ = 0;  // of out_
    bool busy_ = false;        // a request is being answered
    bool ended_ = false;       // nothing more comes in
    bool leaving_ = false;     // once everything is written
    bool blocked_ = false;     // it has to read before more can be written
    bool end_watched_ = false;
    std::unique_ptr<detail::event_loop::watch> watch_;
    detail::event_loop::timer turn_;
    detail::event_loop::timer impatience_;
};

}  // namespace andon::gateway
