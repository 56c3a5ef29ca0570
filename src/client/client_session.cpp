#include "client/client_session.hpp"

#include <chrono>
#include <stdexcept>

#include "andon/core/visible_text.hpp"
#include "client/question.hpp"

namespace andon::detail {
namespace {

json::object object_from(std::string_view raw) { return object_from_json(raw).value_or(json::object()); }

peer_settings settings_of(const client_options& options) {
    peer_settings settings{.role = peer_role::client,
                           .implementation = {{"name", options.name}, {"version", options.version}},
                           .capabilities = options.capabilities,
                           .revisions = options.revisions,
                           .probe_timeout = options.probe_timeout,
                           .handshake_timeout = options.connect_timeout};
    const auto declare = [&](std::string_view name, const question_handler& handler) {
        if (handler && !settings.capabilities.contains(name)) settings.capabilities[name] = json::object();
    };
    declare("sampling", options.on_sampling);
    declare("elicitation", options.on_elicitation);
    declare("roots", options.on_roots);
    return settings;
}

}  // namespace

client_session::client_session(client_options options, std::unique_ptr<transport> over)
    : options_(std::move(options)),
      around_(std::make_shared<conversation::surroundings>()),
      turns_(around_->loop, options_.workers) {
    around_->log = log_sink(options_.log);
    conversation_ = std::make_shared<conversation>(around_, settings_of(options_), std::move(over), *this);
}

void client_session::wait_until_established() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return established_ || ended_; });
    if (!established_) throw std::runtime_error("no session with the server: " + *ended_);
}

void client_session::on_established() {
    const std::lock_guard lock(mutex_);
    established_ = true;
    changed_.notify_all();
}

void client_session::on_ended(std::string_view why) {
    const std::lock_guard lock(mutex_);
    ended_ = std::string(why);
    changed_.notify_all();
}

const question_handler* client_session::handler_of(std::string_view method) const noexcept {
    const question_handler* const handler = method == "sampling/createMessage" ? &options_.on_sampling
                                            : method == "elicitation/create"   ? &options_.on_elicitation
                                            : method == "roots/list"           ? &options_.on_roots
                                                                               : nullptr;
    return handler != nullptr && *handler ? handler : nullptr;
}

void client_session::on_request(incoming_request request, const envelope& message) {
    const question_handler* const handler = handler_of(message.method);
    if (handler == nullptr) {
        const bool ours = request.request.begin_response();
        request.request.finish(std::chrono::steady_clock::now());
        const std::string line = error_message(message.raw_id, error_code::method_not_found,
                                               "Method not found: " + visible_text(message.method, 128));
        return conversation_->answer(request.to, ours ? line : std::string());
    }
    (new question(shared_from_this(), std::move(request), std::string(message.raw_id), object_from(message.raw_params),
                  *handler))
        ->dispatch();
}

void client_session::on_notification(const envelope& message) {
    if (!options_.on_notification) return;
    try {
        options_.on_notification(message.method, object_from(message.raw_params));
    } catch (const std::exception& error) {  // it is the user's, and this is the thread of everything
        conversation_->log(log_level::warning, std::string("on_notification threw: ") + error.what());
    } catch (...) {
        conversation_->log(log_level::warning, "on_notification threw");
    }
}

}  // namespace andon::detail
