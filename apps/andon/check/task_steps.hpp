// Tasks in both dialects: 2025-11-25 and the extension of 2026-07-28.
#pragma once

#include <string>

#include "check/probe_steps.hpp"

namespace andon::check {

struct made_task {
    std::string raw_id;  ///< of the request that made it
    std::string id;
};

/// A task that lasts, unless another time is asked for. Throws unobservable where the server has none.
[[nodiscard]] made_task make_task(session& with, const trial& t, std::string raw_id,
                                  milliseconds time = milliseconds(60'000));
[[nodiscard]] json::object about_task(std::string_view id);
/// By tasks/get; empty where that is an error.
[[nodiscard]] std::string state_of(session& with, std::string_view id);
/// So that none is left on a server that others use.
void end_task(session& with, std::string_view id);

}  // namespace andon::check
