// What the client scenarios of @modelcontextprotocol/conformance want of a client.
#pragma once

#include <andon/client/client.hpp>
#include <string>

namespace conformance {

/// Declares what the scenarios ask for, and how their questions are answered.
void prepare(andon::client_options& options);

/// `context` is what the suite hands over with the scenario. Throws where the server does not do its part.
void run(andon::client& client, const std::string& scenario, const andon::json::object& context);

}  // namespace conformance
