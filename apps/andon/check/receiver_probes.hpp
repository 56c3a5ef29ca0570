// RCV: what a server does with a cancel.
#pragma once

#include "check/probe_steps.hpp"

namespace andon::check {

finding work_stops(const trial& t);            // RCV-1
finding resources_are_freed(const trial& t);   // RCV-2
finding no_response(const trial& t);           // RCV-3
finding nothing_more(const trial& t);          // RCV-4
finding unknown_is_ignored(const trial& t);    // RCV-5
finding malformed_is_ignored(const trial& t);  // RCV-6
finding twice_is_once(const trial& t);         // RCV-7
finding id_starts_clean(const trial& t);       // RCV-8
finding race_is_settled(const trial& t);       // RCV-9
finding duplicate_is_refused(const trial& t);  // RCV-10
finding reason_is_logged(const trial& t);      // RCV-11
finding nested_is_cancelled(const trial& t);   // RCV-12

}  // namespace andon::check
