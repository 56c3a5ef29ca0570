// TASK and SUB: what has ways of its own to end.
#pragma once

#include "check/task_steps.hpp"

namespace andon::check {

finding task_is_cancelled(const trial& t);         // TASK-1
finding ended_task_is_refused(const trial& t);     // TASK-2
finding task_stays_cancelled(const trial& t);      // TASK-3
finding task_is_acknowledged(const trial& t);      // TASK-4
finding task_ids_are_unguessable(const trial& t);  // TASK-5
finding task_work_stops(const trial& t);           // TASK-6

finding subscription_ends(const trial& t);         // SUB-1
finding server_ends_subscription(const trial& t);  // SUB-2
finding subscription_is_orderly(const trial& t);   // SUB-3

}  // namespace andon::check
