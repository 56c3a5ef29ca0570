// Suggestions for the argument of a prompt or of a resource template.
#pragma once

#include <boost/describe/class.hpp>
#include <map>
#include <string>
#include <vector>

#include "andon/server/handler.hpp"

namespace andon {

struct completion_request {
    std::string argument;                          ///< its name
    std::string value;                             ///< what is there so far
    std::map<std::string, std::string> context{};  ///< other arguments that are known
};
BOOST_DESCRIBE_STRUCT(completion_request, (), (argument, value, context))

class completion_result {
public:
    completion_result() = default;
    completion_result(std::vector<std::string> values) : values_(std::move(values)) {}  // NOLINT
    [[nodiscard]] detail::handler_result written() const;

private:
    std::vector<std::string> values_;
};

}  // namespace andon
