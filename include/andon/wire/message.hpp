// Messages as they are written: one line each, without its end.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "andon/wire/error.hpp"
#include "andon/wire/revision.hpp"

namespace andon {

/// `raw` is JSON already; ids are echoed in the bytes in which they came (MSG-3).
[[nodiscard]] std::string result_message(std::string_view raw_id, std::string_view raw_result);
[[nodiscard]] std::string error_message(std::string_view raw_id, int code, std::string_view message,
                                        const json::value& data = nullptr);
[[nodiscard]] std::string raw_error_message(std::string_view raw_id, std::string_view raw_error);
/// For a message whose id could not be read.
[[nodiscard]] std::string error_without_id(int code, std::string_view message, const revision_policy& policy);
[[nodiscard]] std::string request_message(std::int64_t id, std::string_view method, const json::object& params);
[[nodiscard]] std::string raw_request_message(std::int64_t id, std::string_view method, std::string_view raw_params);
[[nodiscard]] std::string notification_message(std::string_view method, const json::object& params);
/// `raw_params` is an object, or empty.
[[nodiscard]] std::string whole_notification_message(std::string_view method, std::string_view raw_params);
/// What is told on a subscription (2026-07-28): its id stands beside the params.
[[nodiscard]] std::string subscription_message(std::string_view raw_id, std::string_view method,
                                               const json::object& params);
/// The same with params whose members are JSON already, without their braces.
[[nodiscard]] std::string raw_notification_message(std::string_view method, std::string_view raw_members);
[[nodiscard]] std::string raw_subscription_message(std::string_view raw_id, std::string_view method,
                                                   std::string_view raw_members);
[[nodiscard]] std::string cancelled_message(std::string_view raw_id, std::string_view reason);

struct progress_update {
    double progress = 0;
    std::optional<double> total{};
    std::string_view message{};
};
[[nodiscard]] std::string progress_message(std::string_view raw_token, const progress_update& update,
                                           const revision_policy& policy);

/// `text` as a JSON string, quotes included. What is no UTF-8 is replaced.
[[nodiscard]] std::string json_quoted(std::string_view text);

/// As JSON on one line, whatever is in it: what JSON cannot say, an infinity (`1e400` is read as one) or text that is
/// no UTF-8, becomes null or is replaced. json::serialize() would write it all the same.
[[nodiscard]] std::string json_text(const json::value& value);
[[nodiscard]] std::string json_text(const json::object& value);

}  // namespace andon
