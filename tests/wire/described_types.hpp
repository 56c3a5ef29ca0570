// Types for the tests of described.hpp.
#pragma once

#include <boost/json/parse.hpp>
#include <string>
#include <vector>

#include "andon/wire/described.hpp"

namespace andon {

enum class unit { celsius = 1, fahrenheit };
BOOST_DESCRIBE_ENUM(unit, celsius, fahrenheit)

/// A struct with the one member `it`.
template <class M>
struct only {
    M it{};
    BOOST_DESCRIBE_CLASS(only, (), (it), (), ())
};

struct tree {
    std::string name;
    std::vector<tree> children;
    bool operator==(const tree&) const = default;
};
BOOST_DESCRIBE_STRUCT(tree, (), (name, children))

/// `text` as a member of type M.
template <class M>
M read(const std::string& text) {
    return from_json<only<M>>(boost::json::parse(R"({"it":)" + text + "}")).it;
}

}  // namespace andon
