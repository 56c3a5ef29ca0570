#include "gateway/gateway.hpp"

#include <vector>

#include "gateway/relay/relaying.hpp"
#include "gateway/relay/served_server.hpp"
#include "server/http_front.hpp"

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
    if (!config.tokens.empty()) options.verify = static_tokens(principals_by_token(config));
    return options;
}

}  // namespace

void run_gateway(const configuration& config, const std::function<void(std::uint16_t)>& on_listening) {
    relaying all(config, {.kind = "gateway", .name = config.file.empty() ? "gateway" : config.file});
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
    const std::string base =
        (config.gateway.certificate.empty() ? "http://" : "https://") + config.gateway.address + ':';
    for (const server_config& each : config.servers) {
        all.around()->log(log_level::info, each.name + ": listening on " + base + std::to_string(port) + each.path);
    }
    if (on_listening) on_listening(port);
    all.run([&] { front.leave("the gateway was asked to leave"); });
    front.close_connections();
    all.around()->loop.finish();
}

}  // namespace andon::gateway
