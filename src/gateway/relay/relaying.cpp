#include "gateway/relay/relaying.hpp"

#include <utility>

#include "process/orphans.hpp"
#include "transport/clock.hpp"

namespace andon::gateway {

relaying::relaying(const configuration& config, control_socket::identity who)
    : records_(config),
      around_(std::make_shared<detail::conversation::surroundings>()),
      desk_(records_),
      others_(around_->loop) {
    detail::adopt_orphans();
    note_others();
    // From here on there is something to be left in order: a socket, and soon processes.
    around_->loop.on_termination([this] { leaving_(); }, detail::event_loop::hangup::ends_too);
    around_->log = log_sink(records_.log().sink());
    if (!config.control.enabled) return;
    try {
        control_ = std::make_unique<control_socket>(around_->loop, desk_, std::move(who), around_->log);
    } catch (const std::exception& error) {
        around_->log(log_level::warning,
                     std::string("andon ps and andon stop will not find this one: ") + error.what());
    }
}

void relaying::note_others() {
    if (detail::note_others()) others_.set(now() + std::chrono::seconds(1), [this] { note_others(); });
}

void relaying::run(std::function<void()> leaving) {
    auto& loop = around_->loop;
    leaving_ = std::move(leaving);
    loop.run();
    loop.finish();
    control_.reset();
}

void relaying::leave() {
    desk_.when_no_process_is_left([this] { around_->loop.stop(); });
}

}  // namespace andon::gateway
