// The resources of the conformance suite, and the suggestions for their template.
#pragma once

#include <andon/server/server.hpp>

namespace everything {

/// test://static-text, test://static-binary, test://watched-resource and test://template/{id}/data.
void add_conformance_resources(andon::server& server);

}  // namespace everything
