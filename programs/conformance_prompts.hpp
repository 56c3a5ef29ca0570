// The prompts of the conformance suite, and the suggestions for their arguments.
#pragma once

#include <andon/server/server.hpp>

namespace everything {

/// test_simple_prompt, test_prompt_with_arguments, test_prompt_with_embedded_resource, test_prompt_with_image and
/// test_input_required_result_prompt.
void add_conformance_prompts(andon::server& server);

}  // namespace everything
