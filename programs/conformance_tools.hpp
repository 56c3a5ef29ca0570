// The tools that the protocol's conformance suite calls, as far as they need nothing from the client.
#pragma once

#include <andon/server/server.hpp>

namespace everything {

/// test_simple_text, test_image_content, test_audio_content, test_embedded_resource, test_multiple_content_types,
/// test_tool_with_logging, test_logging_tool, test_tool_with_progress, test_error_handling, json_schema_2020_12_tool,
/// test_reconnection, test_x_mcp_header, test_trigger_tool_change, test_trigger_prompt_change and
/// test_trigger_resource_change.
void add_conformance_tools(andon::server& server);

}  // namespace everything
