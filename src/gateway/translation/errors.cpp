#include "gateway/translation/errors.hpp"

#include <cstdint>
#include <optional>

#include "andon/core/request_id.hpp"
#include "andon/wire/envelope.hpp"
#include "andon/wire/error.hpp"
#include "andon/wire/message.hpp"
#include "gateway/translation/raw_json.hpp"

namespace andon::gateway {
namespace {

constexpr std::int64_t url_elicitation_required = -32042;  // 2025-11-25 only
// The modern revision gives out these; in the legacy ones a server may have meant anything by them.
constexpr std::int64_t first_reserved = -32020;
constexpr std::int64_t last_reserved = -32099;

/// An error object, mended where it is none: a client waits for its answer.
struct server_error {
    explicit server_error(std::string_view given) : raw(given) {
        const raw_object error(given, "the server's error");
        const auto number = request_id::integer_from_json(error.at("code"));
        const auto text = string_from_json(error.at("message"));
        if (!number || !text) raw = {};
        if (number) code = *number;
        message = text.value_or("the server gave no reason");
        raw_data = error.at("data");
    }

    [[nodiscard]] std::string written() const {
        if (!raw.empty()) return std::string(raw);
        raw_writer to;
        to.add("code", std::to_string(code)).add("message", json_quoted(message));
        if (!raw_data.empty()) to.add("data", raw_data);
        return std::move(to).done();
    }
    void becomes(int other) {
        raw = {};
        code = other;
    }
    /// Its code would mean nothing to the client, or something else.
    void becomes(int other, const std::string& why) {
        message = why + " (" + std::to_string(code) + "): " + message;
        becomes(other);
    }

    std::string_view raw;  // as it came, where it can stay so
    std::int64_t code = error_code::internal_error;
    std::string message;
    std::string_view raw_data;
};

/// -32602 says less than -32002: only the URI beside it tells that nothing was wrong with the request itself.
bool says_not_found(std::string_view method, const server_error& error) {
    return method == "resources/read" && error.code == error_code::invalid_params && is_raw_object(error.raw_data) &&
           is_raw_string(raw_object(error.raw_data, "data").at("uri"));
}

std::string unreadable(const translation_fault& fault) {
    server_error mended("{}");
    mended.message = fault.what();
    return mended.written();
}

}  // namespace

std::string error_for_legacy(std::string_view method, std::string_view raw_error) try {
    server_error error(raw_error);
    if (says_not_found(method, error)) {
        error.becomes(error_code::resource_not_found);
    } else if (error.code == error_code::missing_client_capability) {
        error.becomes(error_code::internal_error,
                      "this needs something of the client that is not translated (sampling, elicitation, roots or "
                      "tasks): use a client that speaks 2026-07-28");
    } else if (error.code == error_code::unsupported_version || error.code == error_code::header_mismatch) {
        error.becomes(error_code::internal_error, "the server refused what it was sent for the client");
    }
    return error.written();
} catch (const translation_fault& fault) {
    return unreadable(fault);
}

std::string error_for_modern(std::string_view method, std::string_view raw_error, bool tasks) try {
    server_error error(raw_error);
    if (error.code == error_code::resource_not_found) {
        error.becomes(error_code::invalid_params);
    } else if (error.code == url_elicitation_required) {
        error.becomes(error_code::internal_error,
                      "this needs the client's user to open a page, which is not translated: use a client that speaks "
                      "2025-11-25");
    } else if (error.code <= first_reserved && error.code >= last_reserved) {
        error.becomes(error_code::internal_error, "an error of the server's own");
    } else if (error.code == error_code::method_not_found && method == "tools/call" && tasks) {
        // For a modern client this would mean that the server has no tools.
        error.becomes(error_code::invalid_params,
                      "the tool cannot be called. One that must be called as a task cannot be reached from here: use a "
                      "client that speaks 2025-11-25");
    }
    return error.written();
} catch (const translation_fault& fault) {
    return unreadable(fault);
}

std::string raw_error_of(const refusal& why) {
    json::object error{{"code", why.code}, {"message", why.message}};
    if (!why.data.is_null()) error["data"] = why.data;
    return json_text(error);
}

}  // namespace andon::gateway
