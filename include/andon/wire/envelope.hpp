// What every JSON-RPC message has outside, and what cancellation needs to know of its inside.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andon/core/request_id.hpp"
#include "andon/wire/error.hpp"

namespace andon {

enum class message_kind : std::uint8_t {
    request,
    notification,
    result,
    error,
};

/// Views into the line that was read, and into the reader: good until it reads the next one. `raw` is JSON as it came.
struct envelope {
    message_kind kind = message_kind::notification;
    request_id_view id = 0;       ///< of all but notifications; has_id says whether an error has one
    bool has_id = false;          ///<
    std::string_view raw_id;      ///< to be echoed (MSG-3)
    std::string_view method;      ///< of requests and notifications
    std::string_view raw_params;  ///< an object, or empty
    std::string_view raw_result;  ///< of results; any value
    std::string_view raw_error;   ///< of errors; an object

    // From inside params, where that is an object; empty where absent.
    std::string_view raw_meta;            ///< `_meta`
    std::string_view raw_progress_token;  ///< `_meta.progressToken` of a request, `progressToken` of a notification
    std::string_view raw_version;         ///< `_meta["io.modelcontextprotocol/protocolVersion"]`
    std::string_view raw_subscription;    ///< `_meta["io.modelcontextprotocol/subscriptionId"]`
    std::string_view raw_traceparent;     ///< `_meta.traceparent`
    std::string_view raw_name;            ///< `name`
    std::string_view raw_uri;             ///< `uri`
    std::string_view raw_request_id;      ///< `requestId`
    std::string_view raw_reason;          ///< `reason`
};

/// Why a line is no message. Where a request's id could be read, the fault can be answered to it.
struct envelope_fault {
    int code = 0;
    std::string message;
    std::string raw_id{};  ///< of a request; empty: it had none that could be read
    bool silent = false;   ///< a notification, or an answer, whose id is one of the reader's own: nobody is told
    bool answer = false;   ///< by all appearances, and perhaps to a request of the reader's own
    std::optional<std::int64_t> answered{};  ///< that request; nothing: the answer does not say which
};

struct envelope_limits {
    std::size_t depth = 128;
    std::size_t longest_id = 1'024;  ///< bytes of a string id
    /// Lets halves of surrogate pairs through, which JSON allows and most libraries cannot read: for who passes it on.
    bool lone_surrogates = false;
};

/// Reads one message after the other with simdjson's on-demand parser, which looks at nothing it is not asked for; so
/// this walks the whole document: what it lets through is valid JSON to the last byte, and can be forwarded as it came.
/// What it refuses as an invalid request may be less: it steps over what is nested too deeply, and does not look into
/// what begins as no object. The members of the envelope may each come once. The line must be readable for
/// line_splitter::padding bytes behind its end.
class envelope_reader {
public:
    explicit envelope_reader(const envelope_limits& limits = {});
    envelope_reader(const envelope_reader&) = delete;
    envelope_reader& operator=(const envelope_reader&) = delete;
    ~envelope_reader();

    /// Null: fault() says why.
    [[nodiscard]] const envelope* read(std::string_view line);
    [[nodiscard]] const envelope_fault& fault() const noexcept;

    /// The messages of a batch, each to be given to read(); nothing where the line is no array. One that is no valid
    /// JSON, or is empty, is a fault.
    [[nodiscard]] static bool looks_like_batch(std::string_view line) noexcept;
    [[nodiscard]] std::optional<std::vector<std::string_view>> split_batch(std::string_view line);

private:
    class parsing;
    std::unique_ptr<parsing> parsing_;
};

/// The id that a raw JSON value stands for; string ids are unescaped into `storage`. Nothing for a value that is no id.
[[nodiscard]] std::optional<request_id_view> id_from_json(std::string_view raw, std::string& storage);

/// The value; nothing where it cannot be held (an exponent that no double has), though the reader let it through.
[[nodiscard]] std::optional<json::value> value_from_json(std::string_view raw);
/// The same for what has to be an object; no text is an empty one.
[[nodiscard]] std::optional<json::object> object_from_json(std::string_view raw);

/// The text of a raw JSON string; nothing for any other value.
[[nodiscard]] std::optional<std::string> string_from_json(std::string_view raw);

}  // namespace andon
