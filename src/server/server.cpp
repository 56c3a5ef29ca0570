#include "andon/server/server.hpp"

#include <chrono>
#include <cstdlib>
#include <list>
#include <thread>

#include "server/http_front.hpp"
#include "server/server_session.hpp"

namespace andon {

struct server::state {
    explicit state(server_options options)
        : facilities(std::make_shared<detail::server_facilities>(std::move(options))), over_http(*this) {}

    [[nodiscard]] detail::event_loop& loop() noexcept { return facilities->around->loop; }
    void add(std::shared_ptr<detail::handler_entry> entry);
    bool remove(detail::offered kind, std::string_view name);
    void tell_changed(detail::offered kind);
    void tell_updated(std::string uri);
    std::shared_ptr<detail::server_session> open(std::unique_ptr<transport> over, const std::function<void()>& on_end,
                                                 bool stateless = false);
    std::uint16_t listen(http_options options);

    class served_over_http final : public detail::http_service {
    public:
        explicit served_over_http(state& of)
            : state_(&of),
              bounds_{.revisions = of.facilities->options.revisions,
                      .longest_id = of.facilities->options.requests.longest_id,
                      .most_bytes = of.facilities->options.most_bytes} {}
        [[nodiscard]] detail::conversation::surroundings& around() noexcept override {
            return *state_->facilities->around;
        }
        [[nodiscard]] const limits& bounds() const noexcept override { return bounds_; }
        [[nodiscard]] std::shared_ptr<guest> open(std::unique_ptr<transport> over, std::string_view id,
                                                  std::function<void()> /*ended*/) override {
            return state_->open(std::move(over), {}, id.empty());
        }
        [[nodiscard]] std::vector<param_header> mirrored_by(std::string_view tool) const override {
            const auto found = state_->facilities->offers.find(detail::offered::tool, tool);
            return found ? found->mirrored : std::vector<param_header>();
        }
        void owner_gone(std::string_view owner, std::string_view why) override {
            state_->facilities->tasks.owner_gone(std::string(owner), why);
        }

    private:
        state* state_;
        limits bounds_;
    };
    /// On the loop: every request is told, and has its time.
    void leave(std::string_view why);
    void run_in_thread();
    void close_all(cancel_cause cause, std::string_view why);

    std::shared_ptr<detail::server_facilities> facilities;
    std::list<std::shared_ptr<detail::server_session>> sessions;  // the loop's
    served_over_http over_http;
    std::list<std::unique_ptr<detail::http_front>> fronts;  // the loop's too, once they listen
    std::atomic<bool> serving = false;
    std::thread thread;
};

std::uint16_t server::state::listen(http_options options) {
    serving = true;
    std::string path = options.path;
    auto front = std::make_unique<detail::http_front>(
        facilities->around, std::move(options),
        detail::http_front::departure{.within = facilities->options.leave_within,
                                      .held_up = [this] { facilities->call_began(); },
                                      .free_again = [this] { facilities->call_ended(); }});
    front->add(over_http, std::move(path));
    const std::uint16_t port = front->open();
    auto shared = std::make_shared<std::unique_ptr<detail::http_front>>(std::move(front));
    loop().post([this, shared] {
        fronts.push_back(std::move(*shared));
        fronts.back()->start();
    });
    return port;
}

void server::state::leave(std::string_view why) {
    for (const auto& front : fronts) front->leave(why);
    close_all(cancel_cause::shutdown, why);
    facilities->tasks.leave(why);
}

void server::state::tell_changed(detail::offered kind) {
    if (!serving) return;
    loop().post([this, kind] {
        for (const auto& session : sessions) session->list_changed(kind);
        facilities->listeners.list_changed(kind);
    });
}

void server::state::tell_updated(std::string uri) {
    if (!serving) return;
    loop().post([this, uri = std::move(uri)] { facilities->listeners.resource_changed(uri); });
}

void server::state::add(std::shared_ptr<detail::handler_entry> entry) {
    const auto kind = entry->kind;
    facilities->offers.add(std::move(entry));
    if (kind != detail::offered::completion) tell_changed(kind);
}

bool server::state::remove(detail::offered kind, std::string_view name) {
    if (!facilities->offers.remove(kind, name)) return false;
    tell_changed(kind);
    return true;
}

std::shared_ptr<detail::server_session> server::state::open(std::unique_ptr<transport> over,
                                                            const std::function<void()>& on_end, bool stateless) {
    const auto place = sessions.emplace(sessions.end());
    *place = std::make_shared<detail::server_session>(
        facilities, std::move(over),
        [this, place, on_end] {
            // It is inside the session's own code that we are called.
            loop().post([this, place] { sessions.erase(place); });
            if (on_end) on_end();
        },
        stateless);
    auto session = *place;
    session->open();
    return session;
}

void server::state::close_all(cancel_cause cause, std::string_view why) {
    const auto open_now = sessions;
    for (const auto& session : open_now) session->close(cause, why);
}

server::server(server_options options) : state_(std::make_shared<state>(std::move(options))) {}

server::~server() {
    auto& facilities = *state_->facilities;
    if (state_->thread.joinable()) {
        // Handlers are told, and get their time; coroutines need the loop to come to their end.
        state_->loop().post([this, &facilities] {
            state_->leave("the server is shutting down");
            facilities.leave_when_idle();
        });
        state_->thread.join();
    }
    facilities.turns.stop();
    state_->loop().finish();
    for (const auto& front : state_->fronts) front->close_connections();
    facilities.tasks.flush();
    state_->loop().finish();
}

void server::add_tool(tool_options options, detail::handler run) {
    param_headers mirrored = read_param_headers(options.input_schema);
    if (!mirrored.error.empty()) {
        throw std::invalid_argument("the tool " + options.name + " cannot be offered: " + mirrored.error);
    }
    json::object listing{{"name", options.name}, {"inputSchema", std::move(options.input_schema)}};
    if (!options.title.empty()) listing["title"] = options.title;
    if (!options.description.empty()) listing["description"] = options.description;
    if (!options.output_schema.empty()) listing["outputSchema"] = std::move(options.output_schema);
    if (!options.annotations.empty()) listing["annotations"] = std::move(options.annotations);
    if (!options.meta.empty()) listing["_meta"] = std::move(options.meta);
    if (options.task != task_use::never) {
        const char* const support = options.task == task_use::required ? "required" : "optional";
        listing["execution"] = json::object{{"taskSupport", support}};
    }
    auto entry = std::make_shared<detail::handler_entry>();
    entry->kind = detail::offered::tool;
    entry->name = std::move(options.name);
    entry->listing = std::move(listing);
    entry->run = std::move(run);
    entry->limit = options.limit;
    entry->uncancellable = options.uncancellable;
    entry->turns.most = options.concurrency;
    entry->task = options.task;
    entry->task_on_demand = options.task_on_demand;
    if (entry->task != task_use::never) state_->facilities->tasks.begin();
    entry->mirrored = std::move(mirrored.all);
    state_->add(std::move(entry));
}

void server::add_resource(const resource_options& options, detail::handler run) {
    const bool family = options.uri.find('{') != std::string::npos;
    json::object listing{{family ? "uriTemplate" : "uri", options.uri}, {"name", options.name}};
    if (!options.title.empty()) listing["title"] = options.title;
    if (!options.description.empty()) listing["description"] = options.description;
    if (!options.mime_type.empty()) listing["mimeType"] = options.mime_type;
    auto entry = std::make_shared<detail::handler_entry>();
    entry->kind = family ? detail::offered::resource_template : detail::offered::resource;
    entry->name = options.uri;
    entry->listing = std::move(listing);
    entry->run = std::move(run);
    entry->mime_type = options.mime_type;
    state_->add(std::move(entry));
}

void server::add_prompt(const prompt_options& options, detail::handler run) {
    json::object listing{{"name", options.name}};
    if (!options.title.empty()) listing["title"] = options.title;
    if (!options.description.empty()) listing["description"] = options.description;
    json::array arguments;
    for (const prompt_argument& argument : options.arguments) {
        json::object described{{"name", argument.name}, {"required", argument.required}};
        if (!argument.description.empty()) described["description"] = argument.description;
        arguments.push_back(std::move(described));
    }
    if (!arguments.empty()) listing["arguments"] = std::move(arguments);
    auto entry = std::make_shared<detail::handler_entry>();
    entry->kind = detail::offered::prompt;
    entry->name = options.name;
    entry->listing = std::move(listing);
    entry->run = std::move(run);
    state_->add(std::move(entry));
}

void server::add_completion(std::string of, detail::handler run) {
    auto entry = std::make_shared<detail::handler_entry>();
    entry->kind = detail::offered::completion;
    entry->name = std::move(of);
    entry->run = std::move(run);
    state_->add(std::move(entry));
}

bool server::remove_tool(std::string_view name) { return state_->remove(detail::offered::tool, name); }
bool server::remove_prompt(std::string_view name) { return state_->remove(detail::offered::prompt, name); }
bool server::remove_resource(std::string_view uri) {
    return state_->remove(detail::offered::resource, uri) || state_->remove(detail::offered::resource_template, uri);
}

void server::resource_changed(std::string_view uri) { state_->tell_updated(std::string(uri)); }

void server::before_tool(std::function<void(call&)> hook) {
    const std::lock_guard lock(state_->facilities->hooks_mutex);
    state_->facilities->before = std::make_shared<const std::function<void(call&)>>(std::move(hook));
}

void server::after_tool(std::function<void(call&)> hook) {
    const std::lock_guard lock(state_->facilities->hooks_mutex);
    state_->facilities->after = std::make_shared<const std::function<void(call&)>>(std::move(hook));
}

in_flight& server::requests() noexcept { return state_->facilities->around->table; }

void server::state::run_in_thread() {
    serving = true;
    if (!thread.joinable()) thread = std::thread([this] { loop().run(); });
}

std::uint16_t server::listen_http(http_options options) {
    const std::uint16_t port = state_->listen(std::move(options));
    state_->run_in_thread();
    return port;
}

void server::serve_http(http_options options, const std::function<void(std::uint16_t)>& on_listening) {
    auto& facilities = *state_->facilities;
    auto& loop = state_->loop();
    detail::event_loop::timer patience(loop);
    const std::uint16_t port = state_->listen(std::move(options));
    loop.on_termination([&] {
        state_->leave("the server was asked to leave");
        if (facilities.leave_when_idle()) return;
        patience.set(std::chrono::steady_clock::now() + facilities.options.leave_within, [&] { loop.stop(); });
    });
    if (on_listening) on_listening(port);
    loop.run();
    loop.finish();
    for (const auto& front : state_->fronts) front->close_connections();
    facilities.tasks.flush();
    loop.finish();
    if (facilities.live_calls == 0 && facilities.turns.idle_within(facilities.options.leave_within)) return;
    facilities.around->log(log_level::warning, "handlers that do not return were left behind");
    std::_Exit(EXIT_SUCCESS);
}

void server::serve(std::unique_ptr<transport> over) {
    state_->run_in_thread();
    auto shared = std::make_shared<std::unique_ptr<transport>>(std::move(over));
    state_->loop().post([this, shared] { state_->open(std::move(*shared), {}); });
}

void server::serve_stdio() {
    auto& facilities = *state_->facilities;
    auto& loop = state_->loop();
    state_->serving = true;
    // The client is gone: what it had in flight was told. Coroutines need the loop to come to their end; nobody gets
    // longer than the limit.
    detail::event_loop::timer patience(loop);
    const auto on_end = [&] {
        facilities.tasks.leave("the server is leaving");
        if (facilities.leave_when_idle()) return;
        patience.set(std::chrono::steady_clock::now() + facilities.options.leave_within, [&] { loop.stop(); });
    };
    const auto session = state_->open(stdio_transport(facilities.options.lines), on_end);
    loop.on_termination([session] { session->close(cancel_cause::shutdown, "the server was asked to leave"); });
    loop.run();
    loop.finish();
    facilities.tasks.flush();
    loop.finish();
    if (facilities.live_calls == 0 && facilities.turns.idle_within(facilities.options.leave_within)) return;
    facilities.around->log(log_level::warning, "handlers that do not return were left behind");
    std::_Exit(EXIT_SUCCESS);
}

detail::handler_result prompt_result::written() const {
    std::string raw = R"("messages":)" + json_text(messages_);
    if (!description_.empty()) raw += R"(,"description":)" + json_text(json::string(description_));
    return {.raw_members = std::move(raw)};
}

detail::handler_result completion_result::written() const {
    constexpr std::size_t most = 100;
    json::array values;
    for (const std::string& value : values_) {
        if (values.size() < most) values.emplace_back(value);
    }
    const json::object completion{
        {"values", std::move(values)}, {"total", values_.size()}, {"hasMore", values_.size() > most}};
    return {.raw_members = R"("completion":)" + json_text(completion)};
}

}  // namespace andon
