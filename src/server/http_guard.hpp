// What a request's headers have to say before anybody looks at its body.
#pragma once

#include <string>
#include <string_view>

#include "andon/server/http.hpp"
#include "transport/http/request_reader.hpp"

namespace andon::detail {

/// Whether the request names a host under which we are known. A page whose name was made to lead to this machine (DNS
/// rebinding) names its own.
[[nodiscard]] bool host_allowed(const http_request& request, const http_options& options);
/// Whether it comes from no web page, or from one that may.
[[nodiscard]] bool origin_allowed(const http_request& request, const http_options& options);

struct accepted_types {
    bool json = false;
    bool events = false;
};
/// A request without the header takes anything.
[[nodiscard]] accepted_types accepted_by(const http_request& request);
[[nodiscard]] bool is_json(const http_request& request);
/// The target without its query.
[[nodiscard]] std::string_view path_of(const http_request& request);
[[nodiscard]] bool is_loopback(std::string_view address);

}  // namespace andon::detail
