// HTTP: what is only so over Streamable HTTP.
#pragma once

#include "check/probe_steps.hpp"

namespace andon::check {

finding disconnect_cancels(const trial& t);       // HTTP-1
finding disconnect_is_no_cancel(const trial& t);  // HTTP-2
finding stream_does_not_hang(const trial& t);     // HTTP-3
finding without_sessions(const trial& t);         // HTTP-4
finding faults_are_answered(const trial& t);      // HTTP-5

}  // namespace andon::check
