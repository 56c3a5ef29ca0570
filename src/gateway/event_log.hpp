// What wrap and gateway say on standard error: lines for a person at a terminal, JSON for everybody else.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>
#include <variant>

#include "andon/transport/log.hpp"
#include "gateway/config/config.hpp"
#include "gateway/relay/relayed_call_view.hpp"

namespace andon::gateway {

/// From any thread. Whatever is in a text, it stays one line and never moves a cursor (MSG-4). Never waits for a
/// reader, and throws nothing. A value: copies write to the same descriptor.
class event_log {
public:
    struct field {
        std::string_view name;
        std::variant<std::string_view, std::int64_t, double, bool> value;
    };

    explicit event_log(const log_config& config, int descriptor = STDERR_FILENO);

    void line(log_level level, std::string_view text) const noexcept { event(level, {}, text, {}); }
    /// The fields are for JSON; a person reads the text.
    void event(log_level level, std::string_view event, std::string_view text,
               std::span<const field> fields) const noexcept;

    /// What a server wrote to its own standard error, a line or a piece of one. Whatever the level: it is not ours.
    void server_said(std::string_view server, std::string_view text) const noexcept;
    /// Whether a line would be taken now.
    [[nodiscard]] bool has_room() const noexcept;
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

    // The way of a cancel (RCV-11), each with the call's fields: event, cause, reason, asked_by, server, tool, id,
    // call, session, traceparent.
    void cancel_asked(const relayed_call_view& call) const noexcept;
    /// It went on after the grace time. `doing`: what is done about it now, as "its process is killed".
    void cancel_ignored(const relayed_call_view& call, std::string_view doing) const noexcept;
    /// The work has stopped: also time_to_stop_ms, evidence, ignored, late_messages, killed.
    void cancel_over(const journal_entry& entry) const noexcept;

    /// For whatever else logs. Does not need this object any more.
    [[nodiscard]] log_sink_function sink() const;
    [[nodiscard]] bool shows(log_level level) const noexcept { return level >= from_ && level != log_level::off; }

private:
    log_level from_;
    bool json_;
    bool colours_;
    int descriptor_;
};

}  // namespace andon::gateway
