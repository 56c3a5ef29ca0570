#include "gateway/gateway.hpp"

#include <netdb.h>
#include <unistd.h>
#include <vector>

#include "andon/core/visible_text.hpp"
#include "gateway/relay/relaying.hpp"
#include "gateway/relay/served_server.hpp"
#include "server/http_front.hpp"
#include "transport/http/tls_context.hpp"

namespace andon::gateway {
namespace {

http_options options_of(const gateway_config& config) {
    http_options options{.address = config.address,
                         .port = config.port,
                         .hosts = config.hosts,
                         .origins = config.origins,
                         .certificate = config.certificate,
                         .private_key = config.private_key};
    options.limits.body = config.max_body;
    options.limits.sessions = config.max_sessions;
    options.limits.per_client = config.max_in_flight_per_client;
    options.limits.stalled = config.stalled_after;
    options.abandon_after = config.abandon_after;
    if (!config.tokens.empty()) options.verify = static_tokens(principals_by_token(config));
    return options;
}

/// What can be known to be wrong before anything listens.
void check(const gateway_config& config) {
    addrinfo numeric{};
    numeric.ai_flags = AI_NUMERICHOST;
    addrinfo* found = nullptr;
    if (::getaddrinfo(config.address.c_str(), nullptr, &numeric, &found) != 0) {
        throw config_error({visible_text(config.address, 64) + " is no address to listen on, as 127.0.0.1 or ::1 is"});
    }
    ::freeaddrinfo(found);
    if (!detail::is_loopback(config.address) && config.hosts.empty()) {
        throw config_error({"an address that is not loopback, as " + config.address +
                            ", needs the names under which clients reach it: set \"hosts\" in [gateway]"});
    }
    if (config.certificate.empty()) return;
    try {
        static_cast<void>(detail::tls_context::server(config.certificate, config.private_key));
    } catch (const std::exception& error) {
        throw config_error({error.what()});
    }
}

/// Who started it by hand reads both standard output, where the addresses are, and the log.
bool both_are_read() { return ::isatty(STDOUT_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0; }

}  // namespace

std::string base_url(const gateway_config& config, std::uint16_t port) {
    const bool colons = config.address.find(':') != std::string::npos;
    return (config.certificate.empty() ? "http://" : "https://") +
           (colons ? '[' + config.address + ']' : config.address) + ':' + std::to_string(port);
}

void run_gateway(const configuration& config, const std::function<void(std::uint16_t)>& on_listening) {
    check(config.gateway);
    relaying all(config, {.kind = "gateway", .name = config.file.empty() ? "gateway" : config.file});
    all.desk().name_server_output_in(all.records().log());
    std::vector<std::unique_ptr<served_server>> servers;
    detail::http_front front(all.around(), options_of(config.gateway), {.free_again = [&] { all.leave(); }});
    for (const server_config& each : config.servers) {
        servers.push_back(std::make_unique<served_server>(all.around(), all.desk(), each));
        front.add(*servers.back(), each.path);
    }
    if (config.metrics.enabled) {
        front.add_page(config.metrics.path, {.type = std::string(relay_metrics::content_type),
                                             .text = [&] { return all.records().figures_text(); }});
    }
    all.desk().list_upstreams_by([&](std::vector<upstream_view>& views) {
        for (const auto& each : servers) each->list(views);
    });
    const std::uint16_t port = front.open();
    all.around()->loop.post([&] { front.start(); });
    const std::string base = base_url(config.gateway, port);
    for (const server_config& each : config.servers) {
        const log_level level = on_listening && both_are_read() ? log_level::debug : log_level::info;
        all.around()->log(level, each.name + ": listening on " + base + each.path);
    }
    if (on_listening) on_listening(port);
    all.run([&] { front.leave("the gateway was asked to leave"); });
    front.close_connections();
    all.around()->loop.finish();
}

}  // namespace andon::gateway
