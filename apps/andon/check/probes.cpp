// The table of all probes.
#include <array>

#include "check/http_probes.hpp"
#include "check/message_probes.hpp"
#include "check/probe.hpp"
#include "check/receiver_probes.hpp"
#include "check/task_probes.hpp"

namespace andon::check {
namespace {

constexpr std::array table{
    probe{"MSG-1", "MUST", "MUST", over::both, "the form of the notification",
          "cancels by integer and string ids, with and without a reason", message_is_understood},
    probe{"MSG-2", "MUST", "", over::both, "a cancel without requestId is ignored", "sends one beside a call that runs",
          absent_id_is_ignored},
    probe{"MSG-3", "we", "we", over::both, "ids match by type and value, exactly",
          "cancels ids that are nearly those of calls that run", ids_match_exactly},
    probe{"MSG-4", "we", "we", over::both, "a reason is data from a stranger",
          "sends a huge one with control characters, and looks at the log", reason_is_data},
    probe{"DIR-1", "MUST", "", over::both, "a cancel touches only requests of its own direction",
          "cancels the id of a request that the server sent", other_direction},
    probe{"DIR-2", "", "MUST", over::both, "a server sends no cancel but for a subscription",
          "listens for one around calls and cancels", server_does_not_cancel},
    probe{"DIR-3", "MUST", "", over::both, "a server cancels only what it has sent, and while it waits",
          "cancels a call that asks its client, and looks at what the server cancels", cancels_its_own},
    probe{"DIR-4", "we", "", over::both, "a cancel of initialize is ignored", "sends one behind initialize",
          initialize_stands},
    probe{"DIR-5", "MUST", "MUST", over::both, "a task is not cancelled by the notification",
          "cancels the request that made a task", task_is_not_cancelled},
    probe{"DIR-6", "we", "we", over::http, "an id belongs to one session", "cancels an id that two sessions use",
          sessions_are_apart},
    probe{"RCV-1", "SHOULD", "SHOULD", over::both, "the work of a cancelled request stops",
          "watches progress, processor time and children before and after a cancel", work_stops},
    probe{"RCV-2", "SHOULD", "SHOULD", over::both, "what it held is freed",
          "compares open files, processes and threads after a dozen cancelled calls", resources_are_freed},
    probe{"RCV-3", "SHOULD NOT", "", over::both, "a cancelled request gets no response",
          "cancels a call and listens until it would have ended", no_response},
    probe{"RCV-4", "we", "MUST NOT", over::both, "nothing more is sent for a cancelled request",
          "cancels a call that sends progress, and listens", nothing_more},
    probe{"RCV-5", "SHOULD", "SHOULD", over::both, "a cancel of an unknown or completed request is ignored",
          "cancels ids that are not there, beside a call that runs", unknown_is_ignored},
    probe{"RCV-6", "SHOULD", "SHOULD", over::both, "a malformed cancel is ignored, and harms nobody",
          "sends a dozen of them, beside a call that runs", malformed_is_ignored},
    probe{"RCV-7", "we", "we", over::both, "a second cancel changes nothing", "cancels a call three times",
          twice_is_once},
    probe{"RCV-8", "we", "we", over::both, "an id that is used again starts clean",
          "uses the id of a cancelled call for the next", id_starts_clean},
    probe{"RCV-9", "MUST", "MUST", over::both, "the race of a cancel with the completion is settled once",
          "cancels many requests in the moment of their end", race_is_settled},
    probe{"RCV-10", "we", "we", over::both, "an id that is in flight is refused", "uses an id twice at once",
          duplicate_is_refused},
    probe{"RCV-11", "SHOULD", "SHOULD", over::both, "the reason is logged", "looks for it on standard error",
          reason_is_logged},
    probe{"RCV-12", "we", "we", over::both, "what a request started is cancelled with it",
          "cancels a call that asks its client, and one with child processes", nested_is_cancelled},
    probe{"HTTP-1", "", "MUST", over::http, "the client's disconnect cancels the request",
          "leaves a call, and watches processor time and children", disconnect_cancels},
    probe{"HTTP-2", "SHOULD NOT", "", over::http, "the client's disconnect cancels nothing",
          "leaves a call, and picks its stream up again or watches it work", disconnect_is_no_cancel},
    probe{"HTTP-3", "we", "", over::http, "the stream of a cancelled request does not hang",
          "waits for its end after a cancel", stream_does_not_hang},
    probe{"HTTP-4", "we", "", over::http, "without sessions a cancel finds its request by who asks",
          "posts a cancel to a server without sessions", without_sessions},
    probe{"HTTP-5", "", "MUST", over::http, "faults of version, header and method are answered as the page says",
          "sends five of them", faults_are_answered},
    probe{"TASK-1", "MUST", "", over::both, "tasks/cancel answers with the task, which is cancelled by then",
          "cancels a task, and asks for it", task_is_cancelled},
    probe{"TASK-2", "MUST", "", over::both, "tasks/cancel of an ended or unknown task is an error",
          "cancels a task twice, and one that never was", ended_task_is_refused},
    probe{"TASK-3", "MUST", "MUST", over::both, "a cancelled task stays cancelled",
          "asks for it when its work would have ended", task_stays_cancelled},
    probe{"TASK-4", "", "MUST", over::both, "tasks/cancel of the extension is acknowledged",
          "cancels a task, an unknown one, and one without the extension", task_is_acknowledged},
    probe{"TASK-5", "MUST", "MUST", over::both, "the ids of tasks cannot be guessed", "compares three of them",
          task_ids_are_unguessable},
    probe{"TASK-6", "SHOULD", "SHOULD", over::both, "tasks/cancel stops the work",
          "watches processor time and children", task_work_stops},
    probe{"SUB-1", "", "MUST", over::both, "nothing comes of a subscription that the client ended",
          "ends one of two, and listens", subscription_ends},
    probe{"SUB-2", "", "MUST", over::stdio, "a server that ends a subscription says so",
          "sends SIGTERM to a server with one", server_ends_subscription},
    probe{"SUB-3", "", "MUST", over::both, "a subscription is acknowledged first, and sends what was asked for",
          "opens two, and looks at what comes", subscription_is_orderly},
};

}  // namespace

std::span<const probe> all_probes() noexcept { return table; }

std::string_view to_string(result what) noexcept {
    constexpr std::array<std::string_view, 4> names{"pass", "fail", "differs", "not observable"};
    return names[static_cast<std::size_t>(what)];
}

std::unique_ptr<session> trial::open(bool tasks_extension) const {
    return server.open({.speaks = modern() ? newest_modern : newest_legacy,
                        .tasks_extension = tasks_extension,
                        .patience = patience,
                        .until = until});
}

}  // namespace andon::check
