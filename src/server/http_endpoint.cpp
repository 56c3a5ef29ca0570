#include "server/http_endpoint.hpp"

#include <algorithm>
#include <iterator>

#include "andon/core/visible_text.hpp"
#include "andon/wire/http_headers.hpp"

namespace andon::detail {
namespace {

constexpr std::string_view json_type = "application/json";
constexpr std::string_view well_known = "/.well-known/oauth-protected-resource";
constexpr std::string_view allowed_methods = "Allow: GET, POST, DELETE\r\n";

/// What the stateless requests' session would send without being asked: there is nobody to send it to.
class no_transport final : public transport {
public:
    void open(event_loop& /*loop*/, events& /*to*/) override {}
    bool send(std::string_view /*line*/, const cancel_token* /*owner*/) override { return false; }
    void close() override {}
};

std::string text_key(std::string_view principal, const request_id_view& id) {
    std::string key(principal);
    key += '\0';
    key += id.is_string() ? 's' : 'n';
    return key += to_string(id);
}

std::optional<revision> version_header(const http_request& request) {
    const auto named = request.header(header::protocol_version);
    return named ? revision_from(*named) : std::nullopt;
}

/// Which parameter `mcp-name` repeats.
std::string_view named_by(std::string_view method) noexcept {
    if (method == "tools/call" || method == "prompts/get") return "name";
    if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel") return "taskId";
    return method == "resources/read" ? "uri" : "";
}

/// Whose tasks they are: the principal's, or the session's where there is none. Nobody's are those of whoever has the
/// id.
std::string owner_of(std::string_view principal, const http_session* session) {
    if (!principal.empty()) return "principal " + std::string(principal);
    return session != nullptr ? "session " + session->id() : std::string();
}

}  // namespace

http_endpoint::http_endpoint(http_service& with, const http_options& options, std::string path)
    : service_(&with),
      options_(&options),
      path_(std::move(path)),
      kept_(std::make_shared<kept_budget>(options_->limits.kept_by_all)),
      reader_(envelope_limits{.longest_id = service_->bounds().longest_id,
                              .lone_surrogates = service_->bounds().lone_surrogates}) {}

http_endpoint::~http_endpoint() = default;

void http_endpoint::start() { stateless_ = service_->open(std::make_unique<no_transport>(), {}, {}); }

bool http_endpoint::has(std::string_view path) const {
    return path == path_ || (options_->verify && (path == well_known || path == std::string(well_known) + path_));
}

void http_endpoint::leave(std::string_view why) {
    for (const auto& [id, session] : std::exchange(sessions_, {})) {
        session->talk().close(cancel_cause::shutdown, why);
        session->end();
        // Its streams have something to say still.
        service_->around().loop.post([session = session] {});
    }
}

void http_endpoint::leave_rest(std::string_view why) {
    for (const auto& [key, scope] : std::unordered_multimap(alone_)) {
        service_->around().table.cancel_session(scope->id(), cancel_cause::shutdown, why,
                                                std::chrono::steady_clock::now());
    }
    if (stateless_) stateless_->close(cancel_cause::shutdown, why);
}

void http_endpoint::refuse(passing& one, int status, int code, std::string_view why, std::string_view raw_id,
                           std::string_view extra) {
    const std::string body =
        raw_id.empty() ? error_without_id(code, why, policy_of(newest_modern)) : error_message(raw_id, code, why);
    one.from.respond(status, json_type, body, extra);
}

std::string http_endpoint::own_url(const http_request& request) const {
    if (!options_->resource.empty()) return options_->resource;
    return (options_->certificate.empty() ? "http://" : "https://") + std::string(request.header("host").value_or("")) +
           path_;
}

std::string http_endpoint::metadata_url(const http_request& request) const {
    const std::string own = own_url(request);
    const std::size_t host = own.find("://");
    const std::size_t path = own.find('/', host == std::string::npos ? 0 : host + 3);
    return own.substr(0, path) + std::string(well_known) + (path == std::string::npos ? "" : own.substr(path));
}

/// False, and it was answered.
bool http_endpoint::let_in(passing& one) {
    const std::string_view path = path_of(one.request);
    if (path != path_) {  // the document that says where tokens come from
        one.from.respond(
            200, json_type,
            protected_resource_metadata(own_url(one.request), options_->authorization_servers, options_->scopes));
        return false;
    }
    if (!options_->verify) return true;
    const auto given = one.request.header("authorization");
    const auto token = given ? bearer_token(*given) : std::nullopt;
    verification found;
    try {
        if (token) found = options_->verify(*token);
    } catch (const std::exception& error) {
        service_->around().log(log_level::error, "a token could not be looked at: " + visible_text(error.what(), 256));
        refuse(one, 500, error_code::internal_error, "the token could not be looked at");
        return false;
    }
    if (!found.who || found.who->id.empty()) {
        const std::string challenge =
            "WWW-Authenticate: " +
            www_authenticate(metadata_url(one.request), token ? &found : nullptr, options_->scopes) + "\r\n";
        refuse(one, found.status, error_code::invalid_request, "Unauthorized: a valid bearer token is needed", {},
               challenge);
        return false;
    }
    one.principal = std::move(found.who->id);
    return true;
}

void http_endpoint::take(http_connection& from, http_request& request) {
    passing one{.from = from, .request = request, .principal = {}};
    if (!let_in(one)) return;
    one.takes = accepted_by(request);
    if (request.method == "POST") return post(one);
    if (request.method == "GET") return get(one);
    if (request.method == "DELETE") return remove(one);
    refuse(one, 405, error_code::invalid_request, "Method Not Allowed", {}, allowed_methods);
}

std::optional<http_endpoint::counted> http_endpoint::count_in(passing& one, std::size_t requests) {
    counted it{.client = counts_for(one), .bytes = one.request.body.size(), .requests = requests};
    load& all = clients_[it.client];
    if (all.requests + it.requests > options_->limits.per_client ||
        all.bytes + it.bytes > service_->bounds().most_bytes) {
        if (all.requests == 0) clients_.erase(it.client);
        refuse(one, 429, error_code::internal_error, "too much is in flight for this client: try again later", {},
               "Retry-After: 1\r\n");
        return std::nullopt;
    }
    all.requests += it.requests;
    all.bytes += it.bytes;
    return it;
}

std::string http_endpoint::counts_for(const passing& one) {
    return one.principal.empty() ? one.from.address() : "principal " + one.principal;
}

std::shared_ptr<const claimant> http_endpoint::claimant_of(const passing& one, const http_session* session) {
    return std::make_shared<claimant>(claimant{owner_of(one.principal, session), counts_for(one)});
}

void http_endpoint::count_out(const counted& one) {
    const auto found = clients_.find(one.client);
    if (found == clients_.end()) return;
    found->second.bytes -= one.bytes;
    found->second.requests -= one.requests;
    if (found->second.requests == 0) clients_.erase(found);
}

// POST.

namespace {

/// By the header, or by what `_meta` names: unless that is the revision of a session, which says it as well. Then it
/// means nothing there, as any other key that the revision does not have.
bool is_modern(const envelope& message, std::optional<revision> by_header, bool in_session) {
    if (by_header && era_of(*by_header) == era::modern) return true;
    if (message.raw_version.empty()) return false;
    const auto named = revision_from(string_from_json(message.raw_version).value_or(""));
    return !named || era_of(*named) == era::modern || !in_session;
}

}  // namespace

void http_endpoint::post(passing& one) {
    if (!is_json(one.request)) {
        return refuse(one, 415, error_code::invalid_request, "Content-Type must be application/json");
    }
    if (!one.takes.json && !one.takes.events) {
        return refuse(one, 406, error_code::invalid_request,
                      "Not Acceptable: Accept must list application/json and text/event-stream");
    }
    if (envelope_reader::looks_like_batch(one.request.body)) return post_batch(one);
    const envelope* const message = reader_.read(one.request.body);
    if (message == nullptr) {
        const envelope_fault& fault = reader_.fault();
        return refuse(one, 400, fault.code, fault.message, fault.raw_id);
    }
    const auto version = version_header(one.request);
    const bool in_session =
        options_->sessions ? one.request.header(header::session_id).has_value() : version.has_value();
    if (is_modern(*message, version, in_session)) return post_modern(one, *message);
    post_legacy(one, *message);
}

message_stream_settings http_endpoint::settings_of(const passing& one, const envelope& message) const {
    message_stream_settings settings;
    if (message.kind == message_kind::request) settings.raw_ids.emplace_back(message.raw_id);
    settings.wants_events = one.takes.events && !options_->json_only;
    settings.wants_json = one.takes.json;
    settings.queue_bytes = options_->limits.waiting_soft;
    return settings;
}

std::string http_endpoint::header_mismatch(const passing& one, const envelope& message) const {
    const auto named = string_from_json(message.raw_version).value_or("");
    std::string wrong = mismatch("MCP-Protocol-Version", one.request.header(header::protocol_version), named, false);
    if (wrong.empty()) wrong = mismatch("Mcp-Method", one.request.header(header::method), message.method, false);
    const std::string_view member = named_by(message.method);
    if (!wrong.empty() || member.empty()) return wrong;
    std::string value;
    if (member == "name") {
        value = string_from_json(message.raw_name).value_or("");
    } else {
        const auto params = object_from_json(message.raw_params);
        const json::value* const uri = params ? params->if_contains(member) : nullptr;
        if (uri != nullptr && uri->is_string()) value = std::string(uri->get_string());
    }
    wrong = mismatch("Mcp-Name", one.request.header(header::name), value, true);
    if (!wrong.empty() || message.method != "tools/call") return wrong;
    const std::vector<param_header> mirrored = service_->mirrored_by(value);
    if (mirrored.empty()) return wrong;
    const auto params = object_from_json(message.raw_params);
    const json::value* const given = params ? params->if_contains("arguments") : nullptr;
    const json::object none;
    const json::object& arguments = given != nullptr && given->is_object() ? given->get_object() : none;
    for (const param_header& each : mirrored) {
        std::string name = each.header();
        for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        wrong = mismatch(each, one.request.header(name), arguments);
        if (!wrong.empty()) return wrong;
    }
    return {};
}

void http_endpoint::post_modern(passing& one, const envelope& message) {
    if (message.kind == message_kind::notification) return one.from.respond(202, {}, {});  // none means anything here
    if (message.kind != message_kind::request) {
        return refuse(one, 400, error_code::invalid_request, "a client sends no responses in this revision");
    }
    if (message.raw_version.empty()) {
        return refuse(one, 400, error_code::invalid_params,
                      "params._meta must have io.modelcontextprotocol/protocolVersion and clientCapabilities",
                      message.raw_id);
    }
    if (const std::string wrong = header_mismatch(one, message); !wrong.empty()) {
        return refuse(one, 400, error_code::header_mismatch, wrong, message.raw_id);
    }
    message_stream_settings settings = settings_of(one, message);
    settings.modern = true;
    if (message.method == "subscriptions/listen" && !settings.wants_events) {
        if (options_->json_only) {
            return refuse(one, 404, error_code::method_not_found,
                          "Method not found: this server answers nothing in events, and so it has no subscriptions",
                          message.raw_id);
        }
        return refuse(one, 406, error_code::invalid_request, "Not Acceptable: Accept must list text/event-stream",
                      message.raw_id);
    }
    auto counts = count_in(one);
    if (!counts) return;
    const auto stream = message_stream::make(service_->around().loop, std::move(settings));
    stream->when_over([this, counts = std::move(*counts)] { count_out(counts); });
    stream->attach(one.from);
    stateless_->talk().receive(
        message,
        {.scope = {.in = &one.from.scope(service_->around().table)}, .reply = stream, .from = claimant_of(one)});
}

std::optional<revision> http_endpoint::legacy_version(passing& one) {
    const auto named = one.request.header(header::protocol_version);
    if (!named) return revision::v2025_03_26;
    const auto version = revision_from(*named);
    const auto& spoken = service_->bounds().revisions;
    if (version && std::find(spoken.begin(), spoken.end(), *version) != spoken.end()) return version;
    json::array supported;
    for (const revision each : spoken) supported.emplace_back(to_string(each));
    one.from.respond(
        400, json_type,
        error_message("null", error_code::unsupported_version, "Unsupported protocol version",
                      json::object{{"supported", std::move(supported)}, {"requested", visible_text(*named, 64)}}));
    return std::nullopt;
}

std::shared_ptr<http_session> http_endpoint::session_of(passing& one) {
    const auto id = one.request.header(header::session_id);
    if (!id) {
        refuse(one, 400, error_code::invalid_request, "Bad Request: Mcp-Session-Id is missing: send initialize first");
        return nullptr;
    }
    const auto found = sessions_.find(std::string(*id));
    // Another principal's is as unknown as one that never was (DIR-6).
    if (found == sessions_.end() || found->second->principal() != one.principal) {
        refuse(one, 404, error_code::invalid_request, "there is no such session: send initialize to begin a new one");
        return nullptr;
    }
    found->second->touch();
    one.from.when_cut_off([weak = std::weak_ptr(found->second)](std::string_view how) {
        if (const auto session = weak.lock()) session->cut_off(how);
    });
    return found->second;
}

void http_endpoint::post_legacy(passing& one, const envelope& message) {
    const bool initialize = message.kind == message_kind::request && message.method == "initialize";
    const auto version = initialize ? revision::v2025_03_26 : legacy_version(one);
    if (!version) return;
    if (!options_->sessions) return post_alone(one, message, *version);
    if (initialize && !one.request.header(header::session_id)) return begin_session(one, message);
    if (const auto session = session_of(one)) post_in_session(one, session, message, {});
}

void http_endpoint::begin_session(passing& one, const envelope& message) {
    if (sessions_.size() >= options_->limits.sessions) {
        return refuse(one, 503, error_code::internal_error, "too many sessions: try again later", message.raw_id,
                      "Retry-After: 10\r\n");
    }
    event_loop& loop = service_->around().loop;
    const auto session = std::make_shared<http_session>(loop, new_session_id(), one.principal, *options_, kept_);
    session->belongs_to(service_->open(session->outlet(), session->id(), [this, id = session->id()] {
        if (const auto found = sessions_.find(id); found != sessions_.end()) {
            end_session(found->second, cancel_cause::disconnect, "it has ended");
        }
    }));
    sessions_.emplace(session->id(), session);
    const std::string id = session->id();
    session->expire_when_idle([this, id] {
        if (const auto found = sessions_.find(id); found != sessions_.end()) {
            end_session(found->second, cancel_cause::timeout, "the session was idle for too long");
        }
    });
    post_in_session(one, session, message, "Mcp-Session-Id: " + id + "\r\n");
    if (!session->talk().accepted()) {
        end_session(session, cancel_cause::disconnect, "it was never established");
    }
}

void http_endpoint::end_session(std::shared_ptr<http_session> session, cancel_cause cause, std::string_view why) {
    sessions_.erase(session->id());
    session->talk().close(cause, why);
    // Nobody else can reach its tasks.
    if (session->principal().empty()) service_->owner_gone(owner_of({}, session.get()), why);
    session->end();
    service_->around().loop.post([kept = std::move(session)] {});  // it may be inside its own timer that we are
}

void http_endpoint::post_in_session(passing& one, const std::shared_ptr<http_session>& session, const envelope& message,
                                    std::string headers) {
    conversation& talk = session->talk().talk();
    if (message.kind != message_kind::request) {
        talk.receive(message, {});
        return one.from.respond(202, {}, {});
    }
    auto counts = count_in(one);
    if (!counts) return;
    message_stream_settings settings = settings_of(one, message);
    settings.headers = std::move(headers);
    settings.primed = talk.protocol().established() && talk.protocol().speaks() >= revision::v2025_11_25;
    const auto stream =
        session->new_stream(std::move(settings), [this, counts = std::move(*counts)] { count_out(counts); });
    if (options_->abandon_after) stream->cancel_when_abandoned(*options_->abandon_after);
    stream->attach(one.from);
    talk.receive(message, {.scope = {}, .reply = stream, .from = claimant_of(one, session.get())});
}

void http_endpoint::post_batch(passing& one) {
    if (!options_->sessions) {
        return refuse(one, 400, error_code::invalid_request, "a batch: only 2025-03-26 has them, in a session");
    }
    if (!legacy_version(one)) return;
    if (version_header(one.request).value_or(revision::v2025_03_26) != revision::v2025_03_26) {
        return refuse(one, 400, error_code::invalid_request, "a batch: only 2025-03-26 has them");
    }
    const auto session = session_of(one);
    if (!session) return;
    const auto all = reader_.split_batch(one.request.body);
    message_stream_settings settings;
    settings.batch = true;
    bool answered = !all || all->empty();
    for (const std::string_view each : all.value_or(std::vector<std::string_view>())) {
        const envelope* const message = reader_.read(each);
        answered = answered || message == nullptr || message->kind == message_kind::request;
        if (message != nullptr && message->kind == message_kind::request)
            settings.raw_ids.emplace_back(message->raw_id);
    }
    // What nobody answers takes no place: a client that has them all taken can still cancel.
    auto counts =
        answered ? count_in(one, std::max<std::size_t>(settings.raw_ids.size(), 1)) : std::optional(counted{});
    if (!counts) return;
    settings.wants_events = one.takes.events && !options_->json_only;
    settings.wants_json = one.takes.json;
    const auto stream =
        session->new_stream(std::move(settings), [this, counts = std::move(*counts)] { count_out(counts); });
    if (options_->abandon_after) stream->cancel_when_abandoned(*options_->abandon_after);
    stream->attach(one.from);
    session->talk().talk().receive_batch(one.request.body,
                                         {.scope = {}, .reply = stream, .from = claimant_of(one, session.get())});
}

/// Without sessions: a cancel finds its request by the principal, who must have one of that id and no more (HTTP-4).
const session* http_endpoint::scope_of_cancelled(const passing& one, const envelope& message) const {
    std::string storage;
    const auto id = id_from_json(message.raw_request_id, storage);
    if (one.principal.empty() || !id) return nullptr;
    const auto [first, last] = alone_.equal_range(text_key(one.principal, *id));
    return first != last && std::next(first) == last ? first->second : nullptr;
}

void http_endpoint::post_alone(passing& one, const envelope& message, revision speaks) {
    if (message.kind != message_kind::request) {
        if (message.method == "notifications/cancelled") {
            stateless_->talk().receive(message, {.scope = {.in = scope_of_cancelled(one, message)}, .reply = {}});
        }
        return one.from.respond(202, {}, {});
    }
    auto counts = count_in(one);
    if (!counts) return;
    const auto stream = message_stream::make(service_->around().loop, settings_of(one, message));
    stream->keep(service_->around().table.open_session());
    const session_id scope = stream->scope()->id();
    std::string key = text_key(one.principal, message.id);
    alone_.emplace(key, stream->scope());
    stream->when_over([this, counts = std::move(*counts), key = std::move(key), scope] {
        count_out(counts);
        const auto [first, last] = alone_.equal_range(key);
        for (auto each = first; each != last; ++each) {
            if (each->second->id() == scope) {
                alone_.erase(each);
                return;
            }
        }
    });
    if (options_->abandon_after) stream->cancel_when_abandoned(*options_->abandon_after);
    stream->attach(one.from);
    stateless_->talk().receive(
        message, {.scope = {.in = stream->scope(), .speaks = speaks}, .reply = stream, .from = claimant_of(one)});
}

// GET and DELETE: only legacy sessions have them.

void http_endpoint::get(passing& one) {
    const auto version = version_header(one.request);
    if (!options_->sessions || (version && era_of(*version) == era::modern)) {
        return refuse(one, 405, error_code::invalid_request, "Method Not Allowed: there is no stream to GET", {},
                      "Allow: POST\r\n");
    }
    if (!one.takes.events) {
        return refuse(one, 406, error_code::invalid_request, "Not Acceptable: Accept must list text/event-stream");
    }
    if (!legacy_version(one)) return;
    const auto session = session_of(one);
    if (!session) return;
    if (const auto last = one.request.header(header::last_event_id)) {
        if (session->resume(one.from, *last)) return;
        return refuse(one, 400, error_code::invalid_request, "what came after that event is not kept any more");
    }
    if (session->own_stream()->listened_to()) {
        return refuse(one, 409, error_code::invalid_request, "Conflict: the session has its stream open already");
    }
    session->own_stream()->listen(one.from);
}

void http_endpoint::remove(passing& one) {
    const auto version = version_header(one.request);
    if (!options_->sessions || (version && era_of(*version) == era::modern)) {
        return refuse(one, 405, error_code::invalid_request, "Method Not Allowed: there are no sessions", {},
                      "Allow: POST\r\n");
    }
    const auto session = session_of(one);
    if (!session) return;
    end_session(session, cancel_cause::disconnect, "the client ended the session");
    one.from.respond(204, {}, {});
}

}  // namespace andon::detail
