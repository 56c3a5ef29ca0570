// MSG and DIR: the message itself, and who may cancel what.
#pragma once

#include "check/probe_steps.hpp"

namespace andon::check {

finding message_is_understood(const trial& t);   // MSG-1
finding absent_id_is_ignored(const trial& t);    // MSG-2
finding ids_match_exactly(const trial& t);       // MSG-3
finding reason_is_data(const trial& t);          // MSG-4
finding other_direction(const trial& t);         // DIR-1
finding server_does_not_cancel(const trial& t);  // DIR-2
finding cancels_its_own(const trial& t);         // DIR-3
finding initialize_stands(const trial& t);       // DIR-4
finding task_is_not_cancelled(const trial& t);   // DIR-5
finding sessions_are_apart(const trial& t);      // DIR-6

}  // namespace andon::check
