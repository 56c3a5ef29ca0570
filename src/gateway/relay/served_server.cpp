#include "gateway/relay/served_server.hpp"

#include "gateway/relay/call_desk.hpp"

namespace andon::gateway {

served_server::served_server(std::shared_ptr<detail::conversation::surroundings> around, call_desk& desk,
                             const server_config& server)
    : around_(std::move(around)),
      desk_(&desk),
      server_(&server),
      to_url_(upstream::to_url(server)),
      probe_(around_, desk, server, to_url_) {}

std::shared_ptr<detail::http_service::guest> served_server::open(std::unique_ptr<transport> over, std::string_view id,
                                                                 std::function<void()> ended) {
    constexpr std::size_t shown = 8;  // of the id, which is a secret
    const bool stateless = id.empty();
    const auto place = relays_.emplace(relays_.end());
    relay::settings how{.session = std::string(id.substr(0, shown)),
                        .on_end = [this, place] { relays_.erase(place); },
                        .on_refused = std::move(ended),
                        .stateless = stateless};
    if (server_->translate) how.ask_era = [this](era_probe::told then) { probe_.ask(std::move(then)); };
    const bool pooled = stateless && server_->processes == process_use::pool;
    auto made = std::make_shared<relay>(
        around_, *desk_, *server_,
        lane::settings{.processes = pooled ? server_->pool_size : 1, .instead = to_url_, .computes = computes_},
        std::move(over), std::move(how));
    *place = made;
    made->open();
    return made;
}

void served_server::list(std::vector<upstream_view>& views) const {
    for (const auto& each : relays_) {
        if (const auto there = each.lock()) there->way().list(views);
    }
}

}  // namespace andon::gateway
