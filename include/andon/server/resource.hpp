// A resource, or a family of them.
#pragma once

#include <boost/describe/class.hpp>
#include <boost/json/array.hpp>
#include <concepts>
#include <map>
#include <string>
#include <string_view>

#include "andon/server/handler.hpp"

namespace andon {

struct resource_options {
    std::string uri;  ///< or a template with `{name}` in it: each stands for one segment
    std::string name;
    std::string description{};
    std::string title{};
    std::string mime_type = "text/plain";
};

/// What a handler is asked for.
struct resource_request {
    std::string uri;
    std::map<std::string, std::string> variables{};  ///< what the template's names stand for
};
BOOST_DESCRIBE_STRUCT(resource_request, (), (uri, variables))

/// Contents in order. A plain string is one text.
class resource_result {
public:
    resource_result() = default;
    template <class T>
    requires std::convertible_to<T, std::string_view> resource_result(const T& words) {
        text(words);
    }  // NOLINT(google-explicit-constructor)

    resource_result& text(std::string_view words) { return contents({{"text", words}}); }
    resource_result& blob(std::string_view base64) { return contents({{"blob", base64}}); }
    /// `uri` and `mimeType` are filled in where they are missing.
    resource_result& contents(const json::object& any) {
        contents_.emplace_back(any);
        return *this;
    }
    [[nodiscard]] detail::handler_result written() const { return {.contents = contents_}; }

private:
    json::array contents_;
};

}  // namespace andon
