// Tables of revisions that a client speaks.
#pragma once

#include <string>

#include "andon/wire/revision.hpp"
#include "core/named_case.hpp"

namespace andon {

struct era_case {
    std::string name;
    revision speaks;
};

}  // namespace andon
