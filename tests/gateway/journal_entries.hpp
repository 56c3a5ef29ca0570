// Entries for a journal under test.
#pragma once

#include <string>

#include "gateway/relay/relayed_call_view.hpp"

namespace andon::gateway {

/// With every field set to something of its own.
inline journal_entry full_entry() {
    using namespace std::chrono_literals;
    journal_entry entry;
    entry.call = {.number = 12,
                  .server = "files",
                  .session = "stdio",
                  .method = "tools/call",
                  .tool = "search",
                  .request_id = "9007199254740993",
                  .traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                  .pid = 4711,
                  .started = std::chrono::system_clock::time_point(1'760'000'000'123'456us),
                  .stage = call_stage::stopped,
                  .cause = cancel_cause::peer,
                  .reason = "the user pressed Stop",
                  .asked_by = "host"};
    entry.call.started = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()) - 90s;
    entry.ended = entry.call.started + 1500ms;
    entry.end = call_end::cancelled;
    entry.error_code = -32'800;
    entry.evidence = stop_evidence::killed;
    entry.ignored = true;
    entry.time_to_stop = 2'041'007us;
    entry.late_messages = 3;
    entry.killed = 2;
    return entry;
}

inline journal_entry small_entry(std::uint64_t number, std::string tool = "wait") {
    journal_entry entry;
    entry.call.number = number;
    entry.call.server = "everything";
    entry.call.method = "tools/call";
    entry.call.tool = std::move(tool);
    entry.call.started = entry.ended = std::chrono::system_clock::now();
    return entry;
}

}  // namespace andon::gateway
