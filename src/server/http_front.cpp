#include "server/http_front.hpp"

#include <stdexcept>

#include "andon/core/visible_text.hpp"

namespace andon::detail {
namespace {

http_options checked(http_options given) {
    if (given.path.empty() || given.path.front() != '/') throw std::invalid_argument("the path must begin with /");
    if (!is_loopback(given.address) && given.hosts.empty()) {
        throw std::invalid_argument("a server that listens on " + given.address +
                                    " must name the hosts under which it is reached (http_options::hosts)");
    }
    if (given.certificate.empty() != given.private_key.empty()) {
        throw std::invalid_argument("TLS needs both a certificate and its private key");
    }
    return given;
}

void refuse(http_connection& from, int status, int code, std::string_view why) {
    from.respond(status, "application/json", error_without_id(code, why, policy_of(newest_modern)));
}

}  // namespace

http_front::http_front(std::shared_ptr<conversation::surroundings> around, http_options options, departure how)
    : around_(std::move(around)),
      options_(checked(std::move(options))),
      departure_(std::move(how)),
      listener_(around_->loop, options_, *this),
      patience_(around_->loop) {}

http_front::~http_front() = default;

void http_front::add(http_service& behind, std::string path) {
    endpoints_.push_back(std::make_unique<http_endpoint>(behind, options_, std::move(path)));
}

void http_front::start() {
    for (const auto& each : endpoints_) each->start();
    listener_.start();
}

void http_front::on_request(http_connection& from, http_request request) {
    if (leaving_) {
        from.last_answer();
        return refuse(from, 503, error_code::internal_error, "the server is shutting down");
    }
    if (!host_allowed(request, options_)) {
        return refuse(from, 403, error_code::invalid_request, "Forbidden: this server is not known under that Host");
    }
    if (!origin_allowed(request, options_)) {
        return refuse(from, 403, error_code::invalid_request, "Forbidden: that Origin may not call this server");
    }
    const std::string_view path = path_of(request);
    for (const auto& each : endpoints_) {
        if (each->has(path)) return each->take(from, request);
    }
    if (const auto found = pages_.find(path); found != pages_.end()) return show(from, request, found->second);
    from.respond(404, "text/plain", nothing_here());
}

bool http_front::let_in(http_connection& from, const http_request& request) {
    if (!options_.verify) return true;
    const auto given = request.header("authorization");
    const auto token = given ? bearer_token(*given) : std::nullopt;
    verification found;
    try {
        if (token) found = options_.verify(*token);
    } catch (const std::exception& error) {
        around_->log(log_level::error, "a token could not be looked at: " + visible_text(error.what(), 256));
        from.respond(500, "text/plain", "the token could not be looked at\n");
        return false;
    }
    if (found.who && !found.who->id.empty()) return true;
    from.respond(found.status, "text/plain", "a valid bearer token is needed\n", "WWW-Authenticate: Bearer\r\n");
    return false;
}

void http_front::show(http_connection& from, const http_request& request, const page& what) {
    if (!let_in(from, request)) return;
    if (request.method != "GET" && request.method != "HEAD") {
        return from.respond(405, "text/plain", "only GET\n", "Allow: GET, HEAD\r\n");
    }
    from.respond(200, what.type, what.text());
}

std::string http_front::nothing_here() const {
    // Clients show it in a line of their own.
    if (endpoints_.size() == 1) return "there is nothing here; the endpoint is " + endpoints_.front()->path();
    std::string paths;
    for (const auto& each : endpoints_) (paths += paths.empty() ? "" : ", ") += each->path();
    return "there is nothing here; the endpoints are " + paths;
}

void http_front::leave(std::string_view why) {
    if (std::exchange(leaving_, true)) return;
    listener_.stop_accepting();
    for (const auto& each : endpoints_) each->leave(why);
    // What was decided is to be written. That counts like a call, for as long as a call has to end.
    if (departure_.held_up) departure_.held_up();
    unwritten_.insert(nullptr);  // until all of them are in
    listener_.for_each([&](http_connection& connection) {
        if (connection.at_rest()) return;
        unwritten_.insert(&connection);
        connection.last_answer();
        connection.close_scope(cancel_cause::shutdown, why);
    });
    patience_.set(std::chrono::steady_clock::now() + departure_.within, [this] { all_written(); });
    written(nullptr);
    for (const auto& each : endpoints_) each->leave_rest(why);
}

void http_front::close_connections() {
    listener_.for_each([](http_connection& connection) { connection.close("the server has left"); });
}

void http_front::on_closed(http_connection& from) {
    listener_.forget(from);
    written(&from);
}

void http_front::written(const http_connection* from) {
    if (unwritten_.erase(from) != 0 && unwritten_.empty()) all_written();
}

void http_front::all_written() {
    unwritten_.clear();
    patience_.clear();
    if (departure_.free_again) departure_.free_again();
}

}  // namespace andon::detail
