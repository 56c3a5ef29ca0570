// What became of a call, for people and for scripts.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>

#include "andon/client/call_outcome.hpp"
#include "andon/core/time.hpp"
#include "call/call_display.hpp"

namespace andon::app {

/// Everything that is said of a call once it is over.
struct call_report {
    bool json = false;  ///< one object on standard output, and nothing else there
    json::object subject{};
    std::optional<duration> connecting{};
    std::optional<duration> calling{};
    std::string cancel{};  ///< what became of a cancel, where one was asked for (SND-7)

    /// Prints, and gives the exit status.
    int show(const call_outcome& outcome, call_display& display) const;
    /// There was no call: `kind` is what a script sees, `status` what we end with.
    int show_fault(std::string_view kind, const std::string& message, int status, call_display& display) const;

private:
    [[nodiscard]] json::object as_json(std::string_view status) const;
};

}  // namespace andon::app
