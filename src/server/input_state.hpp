// What a call learnt in earlier rounds, on its way through the client (2026-07-28).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "andon/core/time.hpp"
#include "andon/wire/error.hpp"

namespace andon::detail {

/// A call that asks the client ends, and is called again with the answer. What earlier rounds answered goes along as
/// `requestState`, signed: it comes back through a stranger. It is bound to the request that it was made for, and good
/// for a while only.
class input_state {
public:
    /// Empty: a random key.
    explicit input_state(std::string key);

    /// `request`: what the state belongs to, such as the method, the name and the arguments.
    [[nodiscard]] std::string sealed(const json::object& answers, std::string_view request,
                                     std::chrono::system_clock::time_point now) const;
    /// Nothing where it was not made by us, for another request, or too long ago.
    [[nodiscard]] std::optional<json::object> opened(std::string_view sealed, std::string_view request,
                                                     std::chrono::system_clock::time_point now) const;

    static constexpr std::chrono::minutes good_for{30};

private:
    [[nodiscard]] std::string signature(std::string_view body, std::string_view request) const;

    std::string key_;
};

}  // namespace andon::detail
