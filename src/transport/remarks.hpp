// What there is to say of a peer that sends what it should not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "andon/transport/log.hpp"
#include "transport/event_loop.hpp"

namespace andon::detail {

/// A peer can give cause for any number of them: the first few are logged, and then every few seconds how many there
/// were since. On the loop's thread.
class remarks {
public:
    remarks(event_loop& loop, const log_sink& log) : log_(&log), timer_(loop) {}

    /// As "files: from the server": stands before every line.
    void name(std::string of) { name_ = std::move(of) + ": "; }
    void warn(std::string_view text);
    /// Nobody counts these: whoever reads them wants them all.
    void say(log_level level, std::string_view text) const { (*log_)(level, name_ + std::string(text)); }
    /// No more come: what was counted is said now.
    void end();

private:
    void count_again();
    void tell_count();

    const log_sink* log_;
    event_loop::timer timer_;
    std::string name_;
    unsigned said_ = 0;
    std::uint64_t unsaid_ = 0;
    bool counting_ = false;
};

}  // namespace andon::detail
