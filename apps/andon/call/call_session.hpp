// One server, one person, and what is between them: the display, the questions, Ctrl-C.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "call/call_display.hpp"
#include "call/call_report.hpp"
#include "call/elicitation_form.hpp"
#include "call/server_target.hpp"
#include "call/stop_signals.hpp"
#include "call/time_to_leave.hpp"

namespace andon::app {

struct session_settings {
    server_access server{};
    std::string log_level = "info";  ///< from which on log messages of the server are wanted
    bool json = false;
    bool quiet = false;
    std::optional<duration> timeout{};        ///< of a call; unset: the library's
    std::optional<duration> max_timeout{};    ///< likewise
    std::optional<duration> give_up_after{};  ///< until answered(), the connecting included
};

struct task_end {
    bool cancelled = false;
    std::string state = "not known";  ///< safe to show
};

/// What is thrown becomes a report and an exit status here, so that work reads straight on.
class call_session {
public:
    explicit call_session(const session_settings& settings);

    /// Connects, works, and leaves; gives the exit status. Ctrl-C until `work` sets something else: leaves at once.
    int run(const std::function<int(client& server)>& work) { return run({}, work); }
    /// Before: what is to be done before a server is troubled.
    int run(const std::function<void()>& before, const std::function<int(client& server)>& work);

    [[nodiscard]] call_display& display() noexcept { return display_; }
    [[nodiscard]] call_report& report() noexcept { return report_; }
    [[nodiscard]] stop_signals& signals() noexcept { return signals_; }

    /// What was asked for is there: the display makes room for it, and nobody gives up any more.
    void answered();

    /// The tool of this name. Throws std::invalid_argument with the nearest name. Ctrl-C: leaves.
    [[nodiscard]] json::object tool_named(const std::string& name);

    /// How a task is followed: with the limits of the command line, and on the display.
    [[nodiscard]] follow_options following();

    /// A call that is over: shows it, and after a Ctrl-C what became of that too (SND-7).
    int finish(const call_outcome& outcome);
    /// The same for a task.
    int finish_task(const call_outcome& outcome, const std::string& id);
    /// A task whose server was told to cancel it: how it is, once it has ended or some time has gone by.
    [[nodiscard]] task_end end_of_task(const std::string& id);

private:
    [[nodiscard]] int work_with_server(const std::function<int(client& server)>& work);
    [[nodiscard]] client_options options_for_person();
    void ask_for_log_messages();
    void leave_on_stop();
    /// The server was told: does it stop?
    [[nodiscard]] std::string became_of_cancel();

    session_settings settings_;
    call_display display_;
    elicitation_form form_{display_};
    call_report report_;
    std::atomic<std::size_t> log_messages_ = 0;
    std::optional<client> server_;
    std::optional<time_to_leave> patience_;
    stop_signals signals_;  // last: its thread uses the rest
};

}  // namespace andon::app
