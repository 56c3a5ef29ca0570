// A plain struct as the arguments of a tool: parsed, checked, and its JSON Schema made from it.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <stdexcept>

#include "andon/wire/struct_form.hpp"

// What a user writes:
//
//     enum class unit { celsius, fahrenheit };
//     BOOST_DESCRIBE_ENUM(unit, celsius, fahrenheit)
//
//     struct forecast_arguments {
//         std::string city;                       // required
//         int days = 3;                           // may be left out, and is 3 then
//         unit in = unit::celsius;                // may be left out, because it is listed below
//         std::optional<std::string> language;    // may be left out or null
//         std::chrono::seconds patience{30};      // an integer, in seconds
//
//         static constexpr std::string_view optional_members[] = {"in"};
//         static constexpr andon::member_description descriptions[] = {{"city", "Where, in any language"}};
//     };
//     BOOST_DESCRIBE_STRUCT(forecast_arguments, (), (city, days, in, language, patience))
//
// When a member may be left out. C++ does not tell whether a member has an initialiser, only what `T{}` holds. So a
// member is required, unless
//   - it is a std::optional, or
//   - `T{}` gives it another value than its type has by itself (0, false, "", nothing): that is its default, or
//   - it is listed in `optional_members`: for defaults such as `bool verbose = false`.
// The default is in the schema. A name in `optional_members` or `descriptions` that is no member does not compile.
//
// What a member may be, and what it is in JSON:
//   bool                                boolean
//   integers                            integer, within the type's range; 1.0 and 1e2 are integers too, up to 2^48,
//                                       beyond which a parsed number with a fraction or an exponent is not exact
//   float, double                       number; infinity and NaN have no JSON
//   std::string                         string
//   std::chrono::duration               integer (or number) in its own unit, which the description names; up to 146
//                                       years either way, so that no clock overflows when it is added to now()
//   enum, described                     string: the enumerator's name
//   struct, described                   object; it may contain itself in a vector; public members, the bases' too
//   std::optional<M>                    M. As a member, null is the same as absent; elsewhere null is the empty one
//   std::vector<M>                      array
//   std::map<std::string, M>            object
//   boost::json::value, object, array   whatever there is of that kind
//
// An object with a member that the struct lacks is refused. Everything here may be called from any thread.

namespace andon {

/// Thrown for arguments that do not fit. The message is for whoever sent them: it names the place and what was
/// expected, as in `arguments.retries: expected an integer from 0 to 255, got a string`. Whatever it quotes has been
/// through visible_text.
class invalid_arguments : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The JSON Schema (2020-12) of `T`.
template <described_struct T>
[[nodiscard]] boost::json::object schema_of() {
    return detail::json_form<T>::schema({});
}

/// `arguments` as a `T`; throws invalid_arguments at the first thing that does not fit.
template <described_struct T>
[[nodiscard]] T from_json(const boost::json::value& arguments) {
    return detail::json_form<T>::read(arguments, {.name = "arguments"});
}

/// `result` as it fits `schema_of<T>()`; an empty optional is left out. Throws std::domain_error, which names the
/// place, for what has no JSON: a number that is not finite, an enum that is none of its enumerators.
template <described_struct T>
[[nodiscard]] boost::json::object to_json(const T& result) {
    return detail::json_form<T>::write(result, {.name = "result"});
}

}  // namespace andon
