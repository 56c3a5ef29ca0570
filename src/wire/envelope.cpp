#include "andon/wire/envelope.hpp"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <charconv>
#include <simdjson.h>
#include <utility>

#include "andon/wire/error.hpp"
#include "andon/wire/line_splitter.hpp"
#include "wire/unreadable.hpp"

namespace andon {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(line_splitter::padding >= simdjson::SIMDJSON_PADDING);

constexpr std::string_view version_key = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view subscription_key = "io.modelcontextprotocol/subscriptionId";

std::string_view without_end_blanks(std::string_view raw) noexcept {
    while (!raw.empty() && (raw.back() == ' ' || raw.back() == '\t' || raw.back() == '\r' || raw.back() == '\n')) {
        raw.remove_suffix(1);
    }
    return raw;
}

/// By the grammar: on-demand looks at no number that nobody asks for, and its integers end at 64 bits.
bool is_number(std::string_view raw) noexcept {
    std::size_t at = 0;
    const auto digits = [&] {
        const std::size_t first = at;
        while (at < raw.size() && raw[at] >= '0' && raw[at] <= '9') ++at;
        return at - first;
    };
    const auto take = [&](char c) { return at < raw.size() && raw[at] == c && ++at != 0; };
    take('-');
    const bool zero = at < raw.size() && raw[at] == '0';
    const std::size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) return false;
    if (take('.') && digits() == 0) return false;
    if (take('e') || take('E')) {
        if (!take('-')) take('+');
        if (digits() == 0) return false;
    }
    return at == raw.size();
}

struct fault_found {
    int code;
    const char* message;
};

/// One for all readers of a thread: it is large, and of use only during a read. What a large message made it grow to
/// is given back.
ondemand::parser& shared_parser(std::size_t size) {
    constexpr std::size_t kept_capacity = std::size_t{1} << 20U;
    thread_local ondemand::parser parser;
    if (parser.capacity() > kept_capacity && size <= kept_capacity) parser = ondemand::parser();
    return parser;
}

enum class escapes : std::uint8_t { right, lone_surrogate, wrong };

/// Of a string with its quotes; control characters and UTF-8 were looked at before.
escapes escapes_in(std::string_view raw) noexcept {
    bool lone = false;
    bool high = false;  // the one before was the first half of a pair, and ended here
    std::size_t end = 0;
    for (std::size_t at = raw.find('\\'); at != std::string_view::npos; at = raw.find('\\', at)) {
        const char which = at + 1 < raw.size() ? raw[at + 1] : '\0';
        if (std::string_view("\"\\/bfnrtu").find(which) == std::string_view::npos) return escapes::wrong;
        if (high && (at != end || which != 'u')) lone = true, high = false;
        at += 2;
        if (which != 'u') continue;
        unsigned unit = 0;
        const std::string_view digits = raw.substr(at, 4);
        const auto [stopped, error] = std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
        if (digits.size() != 4 || error != std::errc() || stopped != digits.data() + 4) return escapes::wrong;
        at += 4;
        end = at;
        const bool first = unit >= 0xD800 && unit < 0xDC00;
        const bool second = unit >= 0xDC00 && unit < 0xE000;
        if (second != high) lone = true;
        high = first;
    }
    return lone || high ? escapes::lone_surrogate : escapes::right;
}

}  // namespace

class envelope_reader::parsing {
public:
    explicit parsing(const envelope_limits& limits) : limits_(limits) {}

    const envelope* read(std::string_view line);
    std::optional<std::vector<std::string_view>> split_batch(std::string_view line);

    envelope_fault fault;

private:
    enum member : std::size_t {
        jsonrpc_member,
        id_member,
        method_member,
        params_member,
        result_member,
        error_member,
        // Of the params: what decides who or what is meant.
        meta_member,
        name_member,
        arguments_member,
        uri_member,
        request_id_member,
        version_member,
        subscription_member,
        token_member,
        token_of_meta_member,
        how_many_members
    };
    // What an object is, for the members that are worth remembering.
    enum class inside : std::uint8_t { message, params, meta, anything };

    [[nodiscard]] ondemand::document open(std::string_view line);
    void message(ondemand::document& document);
    void members(ondemand::object object, inside where, std::size_t depth);
    void elements(ondemand::array array, std::size_t depth);
    std::string_view value(ondemand::value value, inside where, std::size_t depth);
    std::string_view scalar(ondemand::value& value);
    [[nodiscard]] std::string_view* place_of(std::string_view key, inside where);
    void check();
    void check_id();
    void remember(const fault_found& found) noexcept;
    const char* location();
    bool at_end();
    void refuse(const simdjson::simdjson_error& error, std::string_view line);
    void refuse(const fault_found& found, std::string_view line);

    envelope_limits limits_;
    ondemand::document* document_ = nullptr;
    std::string id_storage_;

    envelope envelope_;
    std::string_view raw_version_of_rpc_;
    std::string_view raw_unused_;
    std::string_view raw_method_;
    std::string_view raw_token_of_meta_;
    std::string method_;
    std::array<bool, how_many_members> seen_{};
    bool id_twice_ = false;
    // Found on the way. The walk goes on to the id, which may come last: without it nobody could be answered.
    std::optional<fault_found> found_;
};

ondemand::document envelope_reader::parsing::open(std::string_view line) {
    return shared_parser(line.size()).iterate(line.data(), line.size(), line.size() + simdjson::SIMDJSON_PADDING);
}

const char* envelope_reader::parsing::location() { return document_->current_location(); }

bool envelope_reader::parsing::at_end() { return document_->current_location().error() == simdjson::OUT_OF_BOUNDS; }

void envelope_reader::parsing::remember(const fault_found& found) noexcept {
    if (!found_) found_ = found;
}

/// Where the member of an envelope goes; null: nobody needs it.
std::string_view* envelope_reader::parsing::place_of(std::string_view key, inside where) {
    const auto once = [&](std::size_t which, std::string_view& place) {
        if (std::exchange(seen_[which], true)) {
            remember({error_code::invalid_request, "a member of the message comes twice"});
            if (which == id_member) id_twice_ = true;
        }
        return &place;
    };
    switch (where) {
        case inside::message:
            if (key == "jsonrpc") return once(jsonrpc_member, raw_version_of_rpc_);
            if (key == "id") return once(id_member, envelope_.raw_id);
            if (key == "method") return once(method_member, raw_method_);
            if (key == "params") return once(params_member, envelope_.raw_params);
            if (key == "result") return once(result_member, envelope_.raw_result);
            if (key == "error") return once(error_member, envelope_.raw_error);
            return nullptr;
        case inside::params:
            if (key == "_meta") {
                raw_token_of_meta_ = envelope_.raw_version = envelope_.raw_subscription = {};
                return once(meta_member, envelope_.raw_meta);
            }
            if (key == "name") return once(name_member, envelope_.raw_name);
            if (key == "requestId") return once(request_id_member, envelope_.raw_request_id);
            if (key == "arguments") return once(arguments_member, raw_unused_);
            if (key == "uri") return once(uri_member, envelope_.raw_uri);
            if (key == "reason") return &envelope_.raw_reason;
            if (key == "progressToken") return once(token_member, envelope_.raw_progress_token);
            return nullptr;
        case inside::meta:
            if (key == "progressToken") return once(token_of_meta_member, raw_token_of_meta_);
            if (key == version_key) return once(version_member, envelope_.raw_version);
            if (key == subscription_key) return once(subscription_member, envelope_.raw_subscription);
            if (key == "traceparent") return &envelope_.raw_traceparent;
            return nullptr;
        case inside::anything: return nullptr;
    }
    return nullptr;
}

std::string_view envelope_reader::parsing::scalar(ondemand::value& value) {
    const std::string_view raw = without_end_blanks(value.raw_json_token());
    if (raw.front() == '"') {
        static_cast<void>(value.get_raw_json_string().value());
        const escapes found = escapes_in(raw);
        if (found == escapes::wrong) throw fault_found{error_code::parse_error, "an escape that is none"};
        if (found == escapes::lone_surrogate && !limits_.lone_surrogates) {
            remember({error_code::invalid_request, "half of a surrogate pair in a text"});
        }
    } else {
        if (raw != "true" && raw != "false" && raw != "null" && !is_number(raw)) {
            throw fault_found{error_code::parse_error, "a value that is no JSON"};
        }
        // Moves on over any scalar; what the token says was checked above.
        if (raw == "null") {
            static_cast<void>(value.is_null());
        } else if (raw == "true" || raw == "false") {
            static_cast<void>(value.get_bool().value());
        } else {
            static_cast<void>(value.get_double());
        }
    }
    return raw;
}

std::string_view envelope_reader::parsing::value(ondemand::value value, inside where, std::size_t depth) {
    const ondemand::json_type type = value.type();
    if (type != ondemand::json_type::object && type != ondemand::json_type::array) return scalar(value);
    if (depth > limits_.depth) {
        remember({error_code::invalid_request, "nested too deeply"});
        return {};  // whoever iterates steps over it
    }
    const char* const first = std::string_view(value.raw_json_token()).data();
    if (type == ondemand::json_type::object) {
        members(value.get_object(), where, depth);
    } else {
        elements(value.get_array(), depth);
    }
    return without_end_blanks({first, static_cast<std::size_t>(location() - first)});
}

void envelope_reader::parsing::members(ondemand::object object, inside where, std::size_t depth) {
    for (auto field : object) {
        const std::string_view key = field.unescaped_key();
        std::string_view* const place = place_of(key, where);
        const inside below = place == &envelope_.raw_params ? inside::params
                             : place == &envelope_.raw_meta ? inside::meta
                                                            : inside::anything;
        const std::string_view raw = value(field.value(), below, depth + 1);
        if (place != nullptr) *place = raw;
    }
}

void envelope_reader::parsing::elements(ondemand::array array, std::size_t depth) {
    for (auto element : array) value(element.value(), inside::anything, depth + 1);
}

void envelope_reader::parsing::check_id() {
    if (id_twice_) envelope_.raw_id = {};  // none of the two is to be answered to
    if (envelope_.raw_id.empty()) return;
    // An error whose request could not be read has null.
    if (envelope_.raw_id == "null" && !envelope_.raw_error.empty()) return;
    if (envelope_.raw_id.size() > 6 * limits_.longest_id + 2) {
        envelope_.raw_id = {};
        throw fault_found{error_code::invalid_request, "the id is too long"};
    }
    const auto id = id_from_json(envelope_.raw_id, id_storage_);
    if (!id) {
        envelope_.raw_id = {};
        throw fault_found{error_code::invalid_request, "the id is neither a string nor an integer of 64 bits"};
    }
    if (id->is_string() && id->text().size() > limits_.longest_id) {
        envelope_.raw_id = {};
        throw fault_found{error_code::invalid_request, "the id is too long"};
    }
    envelope_.id = *id;
    envelope_.has_id = true;
}

void envelope_reader::parsing::check() {
    check_id();
    if (found_) throw fault_found{*found_};
    const bool answers = !envelope_.raw_result.empty() || !envelope_.raw_error.empty();
    if (raw_version_of_rpc_ != "\"2.0\"") {
        throw fault_found{error_code::invalid_request, "no JSON-RPC 2.0: \"jsonrpc\" must be \"2.0\""};
    }
    if (!raw_method_.empty()) {
        if (answers) throw fault_found{error_code::invalid_request, "both a method and a result or error"};
        auto method = string_from_json(raw_method_);
        if (!method) throw fault_found{error_code::invalid_request, "the method is no string"};
        method_ = std::move(*method);
        envelope_.method = method_;
        if (!envelope_.raw_params.empty() && envelope_.raw_params.front() != '{') {
            throw fault_found{error_code::invalid_request, "params must be an object"};
        }
        envelope_.kind = envelope_.has_id ? message_kind::request : message_kind::notification;
        if (envelope_.has_id) {
            // As some clients say that they want none.
            envelope_.raw_progress_token = raw_token_of_meta_ == "null" ? std::string_view() : raw_token_of_meta_;
        }
        return;
    }
    if (!answers) throw fault_found{error_code::invalid_request, "neither a method nor a result or error"};
    if (!envelope_.raw_result.empty() && !envelope_.raw_error.empty()) {
        throw fault_found{error_code::invalid_request, "both a result and an error"};
    }
    envelope_.kind = envelope_.raw_result.empty() ? message_kind::error : message_kind::result;
    envelope_.raw_params = {};  // an answer has none, whatever is called so
    if (envelope_.kind == message_kind::result && !envelope_.has_id) {
        throw fault_found{error_code::invalid_request, "a result without an id"};
    }
}

void envelope_reader::parsing::message(ondemand::document& document) {
    if (document.type() != ondemand::json_type::object) {
        throw fault_found{error_code::invalid_request, "a message must be an object"};
    }
    members(document.get_object(), inside::message, 1);
    if (!at_end()) throw fault_found{error_code::parse_error, "something follows the message on its line"};
    check();
}

void envelope_reader::parsing::refuse(const fault_found& found, std::string_view line) {
    const bool valid = found.code != error_code::parse_error;
    const bool answers = !seen_[method_member] && (seen_[result_member] || seen_[error_member]);
    const detail::unreadable_answer answer = detail::answer_in(line);
    fault = {.code = found.code,
             .message = found.message,
             .raw_id = valid && !answers && envelope_.has_id ? std::string(envelope_.raw_id) : "",
             .silent = valid && (answers || (seen_[method_member] && !seen_[id_member])),
             .answer = answer.is_one,
             .answered = answer.to};
}

void envelope_reader::parsing::refuse(const simdjson::simdjson_error& error, std::string_view line) {
    const bool deep = error.error() == simdjson::DEPTH_ERROR;
    refuse(fault_found{deep ? error_code::invalid_request : error_code::parse_error, error.what()}, line);
}

const envelope* envelope_reader::parsing::read(std::string_view line) {
    envelope_ = {};
    raw_version_of_rpc_ = raw_method_ = raw_token_of_meta_ = {};
    seen_ = {};
    id_twice_ = false;
    found_.reset();
    try {
        ondemand::document document = open(line);
        document_ = &document;
        message(document);
        return &envelope_;
    } catch (const simdjson::simdjson_error& error) {
        refuse(error, line);
    } catch (const fault_found& found) {
        refuse(found, line);
    }
    return nullptr;
}

std::optional<std::vector<std::string_view>> envelope_reader::parsing::split_batch(std::string_view line) {
    envelope_ = {};
    seen_ = {};
    found_.reset();
    try {
        std::vector<std::string_view> messages;
        ondemand::document document = open(line);
        document_ = &document;
        for (auto element : document.get_array()) messages.push_back(value(element.value(), inside::anything, 1));
        if (!at_end()) throw fault_found{error_code::parse_error, "something follows the batch on its line"};
        if (found_) throw fault_found{*found_};
        if (messages.empty()) throw fault_found{error_code::invalid_request, "an empty batch"};
        return messages;
    } catch (const simdjson::simdjson_error& error) {
        refuse(error, line);
    } catch (const fault_found& found) {
        refuse(found, line);
    }
    return std::nullopt;
}

envelope_reader::envelope_reader(const envelope_limits& limits) : parsing_(std::make_unique<parsing>(limits)) {}
envelope_reader::~envelope_reader() = default;

const envelope* envelope_reader::read(std::string_view line) { return parsing_->read(line); }
const envelope_fault& envelope_reader::fault() const noexcept { return parsing_->fault; }

bool envelope_reader::looks_like_batch(std::string_view line) noexcept {
    const std::size_t first = line.find_first_not_of(" \t\r");
    return first != std::string_view::npos && line[first] == '[';
}

std::optional<std::vector<std::string_view>> envelope_reader::split_batch(std::string_view line) {
    return parsing_->split_batch(line);
}

std::optional<request_id_view> id_from_json(std::string_view raw, std::string& storage) {
    if (raw.empty()) return std::nullopt;
    if (raw.front() == '"') {
        const std::string_view inside = raw.substr(1, raw.size() - 2);
        if (inside.find('\\') == std::string_view::npos) return request_id_view(inside);
        auto text = string_from_json(raw);
        if (!text) return std::nullopt;
        storage = std::move(*text);
        return request_id_view(storage);
    }
    if (const auto number = request_id::integer_from_json(raw)) return request_id_view(*number);
    return std::nullopt;
}

std::optional<json::value> value_from_json(std::string_view raw) {
    json::parse_options options;
    options.max_depth = 1'000;  // the reader's limit holds before this one
    boost::system::error_code failed;
    json::value parsed = json::parse(raw, failed, {}, options);
    if (failed) return std::nullopt;
    return parsed;
}

std::optional<json::object> object_from_json(std::string_view raw) {
    if (raw.empty()) return json::object();
    auto parsed = value_from_json(raw);
    if (!parsed || !parsed->is_object()) return std::nullopt;
    return std::move(parsed->get_object());
}

std::optional<std::string> string_from_json(std::string_view raw) {
    if (raw.size() < 2 || raw.front() != '"') return std::nullopt;
    const std::string_view inside = raw.substr(1, raw.size() - 2);
    if (inside.find('\\') == std::string_view::npos) return std::string(inside);
    boost::system::error_code failed;
    const json::value parsed = json::parse(raw, failed);
    if (failed || !parsed.is_string()) return std::nullopt;
    return std::string(parsed.get_string());
}

}  // namespace andon
