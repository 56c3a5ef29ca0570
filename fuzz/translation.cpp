// Any message of either side, in both directions: what comes out is one JSON value, says nothing in the name of the
// gateway that the other side wrote, and never that somebody can be asked or knows tasks.
#include <array>
#include <string>

#include "andon/wire/envelope.hpp"
#include "andon/wire/message.hpp"
#include "gateway/translation/legacy_to_modern.hpp"
#include "gateway/translation/meta.hpp"
#include "gateway/translation/modern_to_legacy.hpp"
#include "gateway/translation/raw_json.hpp"
#include "padded.hpp"
#include "require.hpp"

namespace {

using namespace andon;
using namespace andon::gateway;
using fuzz::require;

constexpr std::size_t depth = 64;

void require_value(std::string_view raw) {
    static envelope_reader reader({.depth = depth + 8});
    const fuzz::padded line(result_message("1", raw));
    require(reader.read(line.text()) != nullptr, "one JSON value");
}

void require_params(std::string_view raw) {
    if (raw.empty()) return;
    static envelope_reader reader({.depth = depth + 8});
    const fuzz::padded line(R"({"jsonrpc":"2.0","id":1,"method":"m","params":)" + std::string(raw) + '}');
    require(reader.read(line.text()) != nullptr, "params that a server can read");
}

std::string_view meta_of(std::string_view raw) { return raw_object(raw, "it").at("_meta"); }

std::size_t count(std::string_view raw, std::string_view name) {
    std::size_t found = 0;
    for (const raw_member& member : raw_object(raw, "it").members()) found += member.is(name) ? 1 : 0;
    return found;
}

void check(const refusal& refused) {
    require(!refused.message.empty() && refused.code != 0, "a refusal has words");
    if (refused.afterwards) require_params(refused.afterwards->raw_params);
}

void check(const gateway::reply& given, bool modern) {
    if (const auto* const refused = std::get_if<refusal>(&given)) return check(*refused);
    const std::string& raw = std::get<answer>(given).raw_result;
    require_value(raw);
    require(count(raw, "resultType") == (modern ? 1 : 0), "a modern result has one type, a legacy one none");
    require(count(raw, "_meta") <= 1, "one _meta");
    require(count(meta_of(raw), meta_key::server_info) == (modern ? 1 : 0), "and who the server is, there too");
}

void check(const listen_step& step) {
    if (step.reply) check(*step.reply, false);
    if (step.begin) require_params(step.begin->raw_params);
    for (const notification& each : step.tell) require_params(each.raw_params);
}

void check(const subscription_step& step) {
    for (const auto& each : step.requests) require_params(each.what.raw_params);
    for (const told& each : step.tell) {
        require_params(each.what.raw_params);
        require(count(meta_of(each.what.raw_params), meta_key::subscription_id) == 1, "the subscription is named once");
    }
    if (step.refused) check(*step.refused);
}

void check_capabilities(std::string_view raw, bool of_client) {
    for (const std::string_view name : {"sampling", "elicitation", "roots"}) {
        require(!of_client || count(raw, name) == 0, "nobody says that the client can be asked");
    }
    require(count(raw, "tasks") == 0, "nor speaks of tasks");
    for (const raw_member& member : raw_object(raw, "it").members()) {
        if (member.is("extensions")) require(count(member.raw_value, "io.modelcontextprotocol/tasks") == 0, "nor so");
    }
}

void check_forwarded(std::string_view raw_params) {
    require_params(raw_params);
    const std::string_view meta = meta_of(raw_params);
    require(count(meta, meta_key::version) == 1 && count(meta, meta_key::client_capabilities) == 1, "ours, once");
    require(count(meta, meta_key::progress_token) == 1, "the token is the relay's");
    require(raw_object(meta, "_meta").at(meta_key::progress_token) == "77", "the token is the relay's");
    check_capabilities(raw_object(meta, "_meta").at(meta_key::client_capabilities), true);
}

void to_a_modern_server(legacy_to_modern& session, const envelope& message) {
    const std::string method(message.method);
    switch (message.kind) {
        case message_kind::request: {
            const auto step = session.request(method, message.raw_params, "77");
            if (const auto* const forwarded = std::get_if<forward>(&step)) check_forwarded(forwarded->raw_params);
            if (const auto* const refused = std::get_if<refusal>(&step)) check(*refused);
            if (const auto* const listening = std::get_if<listen_step>(&step)) {
                check(*listening);
                if (listening->begin)
                    check(session.subscription().acknowledged(listening->begin->number, message.raw_params));
                if (listening->begin) check(session.subscription().ended(listening->begin->number, "{}"));
            }
            break;
        }
        case message_kind::notification: {
            if (const auto told = session.from_client(method, message.raw_params)) require_params(told->raw_params);
            if (const auto told = session.from_server(method, message.raw_params)) require_params(told->raw_params);
            check(session.subscription().begin_again());
            check(session.subscription().acknowledged(1, message.raw_params));
            break;
        }
        case message_kind::result:
            for (const auto* const of : {"tools/call", "tools/list", "resources/read", "x"}) {
                check(session.result(of, message.raw_result), false);
            }
            break;
        case message_kind::error: require_value(session.error("resources/read", message.raw_error));
    }
}

void to_a_legacy_server(modern_to_legacy& session, const envelope& message) {
    const std::string method(message.method);
    switch (message.kind) {
        case message_kind::request: {
            const auto step = session.request(method, message.raw_params, "77");
            if (const auto* const refused = std::get_if<refusal>(&step)) check(*refused);
            if (const auto* const forwarded = std::get_if<modern_to_legacy::forwarded>(&step)) {
                require_params(forwarded->what.raw_params);
                if (forwarded->first) require_params(forwarded->first->raw_params);
                const std::string_view meta = meta_of(forwarded->what.raw_params);
                require(count(meta, meta_key::version) + count(meta, meta_key::client_capabilities) == 0, "not modern");
                require(count(meta, meta_key::progress_token) == 1, "the token is the relay's");
            }
            if (std::holds_alternative<modern_to_legacy::listen>(step)) {
                const subscription_step listening =
                    session.subscriptions().listen(1, message.raw_id, message.raw_params);
                check(listening);
                for (const auto& each : listening.requests) {
                    check(session.subscriptions().answered(each.uri, each.uri.size() % 2 == 0));
                }
                for (const told& each :
                     session.subscriptions().change("notifications/resources/updated", message.raw_params)) {
                    require_params(each.what.raw_params);
                }
                check(session.subscriptions().begin_again());
                check(session.subscriptions().end(1));
            }
            check(session.server_request(method), false);
            break;
        }
        case message_kind::notification: {
            if (const auto told = session.from_client(method, message.raw_params)) require_params(told->raw_params);
            const auto news = session.from_server(method, message.raw_params);
            if (const auto* const told = std::get_if<notification>(&news)) require_params(told->raw_params);
            if (const auto* const log = std::get_if<modern_to_legacy::log_message>(&news)) {
                require_params(log->what.raw_params);
            }
            break;
        }
        case message_kind::result:
            for (const auto* const of : {"tools/call", "tools/list", "resources/read", "x"}) {
                check(session.result(of, message.raw_result), true);
            }
            break;
        case message_kind::error: require_value(session.error("tools/call", message.raw_error));
    }
}

/// The message as a handshake, of either side.
void shake_hands(const envelope& message) {
    const std::string_view raw = message.kind == message_kind::result ? message.raw_result : message.raw_params;
    constexpr std::string_view client = R"({"protocolVersion":"2025-11-25","capabilities":{}})";
    for (auto begun : {legacy_to_modern::begin(raw, "{}"), legacy_to_modern::begin(client, raw)}) {
        auto* const session = std::get_if<legacy_to_modern>(&begun);
        if (session == nullptr) continue;
        require_value(session->initialize_result());
        check_capabilities(raw_object(session->initialize_result(), "it").at("capabilities"), false);
        const auto step = session->request("tools/call", "", "77");
        check_forwarded(std::get<forward>(step).raw_params);
        check(session->subscription().begin());
    }
    const auto params = modern_to_legacy::initialize_params(message.raw_meta);
    if (const auto* const written = std::get_if<std::string>(&params)) {
        require_params(*written);
        check_capabilities(raw_object(*written, "it").at("capabilities"), true);
    }
    const auto begun = modern_to_legacy::begin(raw);
    if (const auto* const session = std::get_if<modern_to_legacy>(&begun)) {
        require_value(session->discover_result());
        check_capabilities(raw_object(session->discover_result(), "it").at("capabilities"), false);
    }
}

/// Text that no reader has let through: split somehow, or refused, and nothing is read behind its end.
void split_anything(std::string_view text) {
    const std::string exact(text);  // its end is the end of its memory
    try {
        for (const raw_member& member : raw_object(exact, "it").members()) {
            static_cast<void>(member.is("name"));
            require(member.raw_name.data() >= exact.data() && !member.raw_value.empty(), "a member lies in its text");
        }
    } catch (const translation_fault&) {
    }
    try {
        static_cast<void>(raw_elements(exact, "it"));
    } catch (const translation_fault&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    static envelope_reader reader({.depth = depth, .longest_id = 64});
    const fuzz::padded line({reinterpret_cast<const char*>(data), size});
    split_anything(line.text());
    const envelope* const message = reader.read(line.text());
    if (message == nullptr) return 0;
    constexpr std::string_view capabilities =
        R"({"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{},"tasks":{}})";
    const std::string server = R"({"protocolVersion":"2025-11-25","capabilities":)" + std::string(capabilities) + '}';
    for (const auto* const version : {"2024-11-05", "2025-11-25"}) {
        const std::string client = R"({"protocolVersion":")" + std::string(version) + R"(","capabilities":{}})";
        auto legacy = std::get<legacy_to_modern>(legacy_to_modern::begin(client, server));
        to_a_modern_server(legacy, *message);
    }
    auto modern = std::get<modern_to_legacy>(modern_to_legacy::begin(server));
    to_a_legacy_server(modern, *message);
    shake_hands(*message);
    return 0;
}
