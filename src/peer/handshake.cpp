// How the two sides of a session agree on what they speak.
#include <algorithm>

#include "andon/core/visible_text.hpp"
#include "andon/peer/peer.hpp"
#include "peer/steps.hpp"

namespace andon {
namespace {

using detail::answer;
using detail::ignored;
using detail::meta_server_info;
using detail::object_from;
using detail::object_in;
using detail::string_in;

constexpr std::int64_t probe_id = 1;
constexpr std::int64_t initialize_id = 2;

/// A legacy client without a session has no stream on which it could be told of changes.
json::object without_news(json::object capabilities) {
    for (auto& member : capabilities) {
        if (!member.value().is_object()) continue;
        member.value().get_object().erase("listChanged");
        member.value().get_object().erase("subscribe");
    }
    return capabilities;
}

/// Modern errors name a modern server; any other answer to the probe names a legacy one.
bool is_modern_error(const json::object& error) {
    const json::value* const code = error.if_contains("code");
    return code != nullptr && code->is_int64() &&
           (code->get_int64() == error_code::unsupported_version ||
            code->get_int64() == error_code::missing_client_capability ||
            code->get_int64() == error_code::header_mismatch);
}

}  // namespace

void peer::adopt(revision agreed) noexcept {
    speaks_ = agreed;
    state_ = era_of(agreed) == era::modern ? state::modern : state::legacy;
}

std::optional<revision> peer::newest(era of) const noexcept {
    std::optional<revision> found;
    for (const revision which : settings_.revisions) {
        if (era_of(which) == of && (!found || which > *found)) found = which;
    }
    return found;
}

std::optional<revision> peer::common(const json::value* names, era of) const noexcept {
    std::optional<revision> found;
    if (names == nullptr || !names->is_array()) return found;
    for (const json::value& name : names->get_array()) {
        const auto which = name.is_string() ? revision_from(std::string_view(name.get_string())) : std::nullopt;
        if (which && supports(*which) && era_of(*which) == of && (!found || *which > *found)) found = which;
    }
    return found;
}

/// Tasks are declared in two ways, and each revision is told of its own.
json::object peer::capabilities_in(revision speaks) const {
    json::object all = settings_.capabilities;
    const revision_policy& rules = policy_of(speaks);
    if (rules.task_requests && !settings_.task_requests.empty()) all["tasks"] = settings_.task_requests;
    if (rules.tasks_extension && settings_.tasks_extension) {
        json::value& extensions = all["extensions"];
        if (!extensions.is_object()) extensions = json::object();
        extensions.get_object()["io.modelcontextprotocol/tasks"] = json::object();
    }
    return all;
}

// A server's handshake.

peer_step peer::on_initialize(const envelope& message) {
    const auto legacy = newest(era::legacy);
    if (!legacy) {
        return refuse(message, error_code::unsupported_version,
                      "Unsupported protocol version: this server speaks no revision that has initialize",
                      json::object{{"supported", supported()}});
    }
    const json::object params = object_from(message.raw_params);
    const std::string asked = string_in(params, "protocolVersion");
    if (asked.empty()) return refuse(message, error_code::invalid_params, "initialize needs protocolVersion, a string");
    const auto which = revision_from(asked);
    const revision agreed = which && era_of(*which) == era::legacy && supports(*which) ? *which : *legacy;
    json::object result{
        {"protocolVersion", to_string(agreed)},
        {"capabilities", settings_.stateless ? without_news(capabilities_in(agreed)) : capabilities_in(agreed)},
        {"serverInfo", settings_.implementation}};
    if (!settings_.instructions.empty()) result["instructions"] = settings_.instructions;
    peer_step step = answer(result_message(message.raw_id, json_text(result)));
    if (settings_.stateless) return step;
    speaks_ = agreed;
    state_ = state::legacy;
    their_capabilities_ = object_in(params, "capabilities");
    their_implementation_ = object_in(params, "clientInfo");
    step.what = next_step::established;
    return step;
}

peer_step peer::on_discover(const envelope& message) const {
    constexpr std::int64_t fresh_for_ms = 3'600'000;
    json::object result{{"resultType", "complete"},
                        {"supportedVersions", supported()},
                        {"capabilities", capabilities_in(newest_modern)},
                        {"ttlMs", fresh_for_ms},
                        {"cacheScope", "public"},
                        {"_meta", {{meta_server_info, settings_.implementation}}}};
    if (!settings_.instructions.empty()) result["instructions"] = settings_.instructions;
    return answer(result_message(message.raw_id, json_text(result)));
}

// A client's handshake.

peer_step peer::fail(std::string why) {
    state_ = state::failed;
    wake_.reset();
    peer_step step;
    step.what = next_step::failed;
    step.note = std::move(why);
    return step;
}

peer_step peer::open(time_point now) {
    const auto modern = newest(era::modern);
    if (!modern) return initialize(now);
    state_ = state::probing;
    speaks_ = *modern;
    wake_ = now + settings_.probe_timeout;
    return answer(request_message(probe_id, "server/discover", {{"_meta", meta(*modern)}}));
}

peer_step peer::initialize(time_point now) {
    const auto legacy = newest(era::legacy);
    if (!legacy) return fail("the server speaks no revision that we speak: it did not answer server/discover");
    state_ = state::initializing;
    speaks_ = *legacy;
    wake_ = now + settings_.handshake_timeout;
    return answer(request_message(initialize_id, "initialize",
                                  {{"protocolVersion", to_string(*legacy)},
                                   {"capabilities", capabilities_in(*legacy)},
                                   {"clientInfo", settings_.implementation}}));
}

peer_step peer::expire(time_point now) {
    if (!wake_ || now < *wake_) return {};
    if (state_ == state::probing) return initialize(now);
    return fail("the server did not answer initialize in time");
}

peer_step peer::lost(std::int64_t id, std::string_view why, time_point now) {
    const bool ours = id == (state_ == state::probing ? probe_id : initialize_id);
    if (state_ == state::probing && ours && newest(era::legacy)) return initialize(now);
    if ((state_ == state::probing || state_ == state::initializing) && ours) return fail(visible_text(why, 512));
    return {};
}

peer_step peer::on_discovered(const envelope& message, time_point now) {
    const bool failed = message.kind == message_kind::error;
    const json::object body = object_from(failed ? message.raw_error : message.raw_result);
    const json::object data = object_in(body, "data");
    const json::value* versions = nullptr;
    if (!failed) versions = body.if_contains("supportedVersions");
    if (failed && is_modern_error(body)) versions = data.if_contains("supported");
    const auto modern = common(versions, era::modern);
    // One that is slow to start finds our initialize behind the probe: modern it is all the same.
    if (state_ == state::initializing && (failed || !modern)) return ignored("a late answer to server/discover");
    if (!modern) {
        const bool listed = versions != nullptr && versions->is_array();
        if (!listed || common(versions, era::legacy)) return initialize(now);
        return fail("the server speaks no revision that we speak: " + visible_text(json_text(*versions), 512));
    }
    const revision asked = std::exchange(speaks_, *modern);
    if (failed && *modern == asked && std::exchange(asked_again_, true)) {
        return fail("the server refuses the revision that it says it speaks");
    }
    if (failed) {  // it is modern, but was asked in a revision that it does not speak, or changed its mind
        wake_ = now + settings_.handshake_timeout;
        return answer(request_message(probe_id, "server/discover", {{"_meta", meta(*modern)}}));
    }
    state_ = state::modern;
    their_capabilities_ = object_in(body, "capabilities");
    their_implementation_ = object_in(object_in(body, "_meta"), meta_server_info);
    their_instructions_ = string_in(body, "instructions");
    wake_.reset();
    peer_step step;
    step.what = next_step::established;
    return step;
}

peer_step peer::on_handshake(const envelope& message, time_point now) {
    const bool waiting = state_ == state::probing || state_ == state::initializing;
    if (waiting && message.id == request_id_view(probe_id)) return on_discovered(message, now);
    if (state_ != state::initializing || message.id != request_id_view(initialize_id)) {
        return ignored("an answer to nothing that we asked");
    }
    const bool failed = message.kind == message_kind::error;
    const json::object body = object_from(failed ? message.raw_error : message.raw_result);
    if (failed) return fail("the server refused initialize: " + visible_text(string_in(body, "message"), 512));
    const std::string version = string_in(body, "protocolVersion");
    const auto which = revision_from(version);
    if (!which || era_of(*which) != era::legacy || !supports(*which)) {
        return fail("the server speaks a revision that we do not: " + visible_text(version, 64));
    }
    speaks_ = *which;
    state_ = state::legacy;
    their_capabilities_ = object_in(body, "capabilities");
    their_implementation_ = object_in(body, "serverInfo");
    their_instructions_ = string_in(body, "instructions");
    wake_.reset();
    peer_step step;
    step.what = next_step::established;
    step.bytes = notification_message("notifications/initialized", {});
    return step;
}

}  // namespace andon
