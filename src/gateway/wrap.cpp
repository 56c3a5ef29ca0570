#include "gateway/wrap.hpp"

#include "gateway/relay/relay.hpp"
#include "gateway/relay/relaying.hpp"

namespace andon::gateway {
namespace {

// A server that writes more than the host reads has to wait, so that nothing of what it says need be lost.
constexpr transport_limits to_host{.waiting_soft = transport_limits().waiting_hard};

}  // namespace

bool run_wrap(const configuration& config, const server_config& server) {
    relaying all(config, {.kind = "wrap", .name = server.name});
    const auto between = std::make_shared<relay>(
        all.around(), all.desk(), server, lane::settings{.instead = upstream::to_url(server)}, stdio_transport(to_host),
        relay::settings{.session = "stdio", .on_end = [&] { all.leave(); }});
    all.desk().list_upstreams_by([&](std::vector<upstream_view>& views) { between->way().list(views); });
    between->start_server();
    between->open();
    all.run([&] { between->close(cancel_cause::shutdown, "andon was asked to leave"); });
    return !between->talk().given_up();
}

}  // namespace andon::gateway
