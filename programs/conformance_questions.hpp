// The tools of the conformance suite that ask the client something.
#pragma once

#include <andon/server/server.hpp>

namespace everything {

/// test_sampling, test_elicitation, test_elicitation_sep1034_defaults, test_elicitation_sep1330_enums,
/// test_streaming_elicitation, test_missing_capability and test_input_required_result_*.
void add_conformance_questions(andon::server& server);

}  // namespace everything
