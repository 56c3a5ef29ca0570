#include "andon/server/call.hpp"

#include <boost/json/serialize.hpp>
#include <chrono>
#include <stdexcept>

#include "server/call_state.hpp"
#include "server/question_to_client.hpp"
#include "server/server_session.hpp"
#include "tasks/task_text.hpp"

namespace andon {

const cancel_token& call::token() const noexcept { return state_->token(); }
std::stop_token call::stop_token() const { return state_->stop_token(); }
std::optional<time_point> call::deadline() const noexcept { return state_->request().deadline(); }
std::string_view call::raw_id() const noexcept { return state_->raw_id(); }
std::string_view call::name() const noexcept { return state_->name(); }
revision call::speaks() const noexcept { return state_->speaks(); }
void call::let_go_of_connection() const {
    if (state_->incoming().to.reply && !state_->is_task()) state_->incoming().to.reply->let_go_of_connection();
}

session_id call::session() const noexcept { return state_->incoming().scope; }
const json::object& call::client_capabilities() const noexcept { return state_->client().capabilities; }
const json::object& call::client_info() const noexcept { return state_->client().implementation; }
void call::notice() const noexcept { state_->notice(); }

void call::resume_soon(std::coroutine_handle<> waiting) const {
    state_->talk().post([waiting] { waiting.resume(); });
}

bool call::client_can(std::initializer_list<std::string_view> path) const noexcept {
    const json::object* at = &state_->client().capabilities;
    for (const std::string_view step : path) {
        const json::value* const found = at->if_contains(step);
        if (found == nullptr || !found->is_object()) return false;
        at = &found->get_object();
    }
    return true;
}

void call::progress(double done, std::optional<double> total, std::string_view message) const {
    state_->progress({.progress = done, .total = total, .message = message});
}

void call::log(message_level level, const json::value& data, std::string_view logger) const {
    const bool per_request = state_->policy().log_level_per_request;
    const auto from = per_request ? state_->log_level() : std::optional(state_->session().log_level());
    if (!from || level < *from) return;
    json::object params{{"level", detail::to_string(level)}, {"data", data}};
    if (!logger.empty()) params["logger"] = logger;
    if (state_->is_task()) params["_meta"] = detail::meta_of_task(task_id());
    state_->tell(notification_message("notifications/message", params));
}

// Asking the client.

namespace {

struct wanted_capability {
    std::string_view method;
    std::string_view capability;
};
constexpr std::array<wanted_capability, 3> capabilities{
    {{"sampling/createMessage", "sampling"}, {"elicitation/create", "elicitation"}, {"roots/list", "roots"}}};

json::object answer_of(const call& of, call_outcome& outcome) {
    switch (outcome.status) {
        case call_status::completed:
            if (outcome.result.is_object()) return std::move(outcome.result.get_object());
            throw std::runtime_error("the client's answer is no object");
        case call_status::failed: throw rpc_error(outcome.code, "the client: " + outcome.message, outcome.data);
        case call_status::timed_out: throw std::runtime_error("the client did not answer in time");
        case call_status::cancelled:
        case call_status::disconnected: break;
    }
    of.throw_if_cancelled();
    throw std::runtime_error("the client is gone");
}

void check_capabilities(const call& of, const std::vector<input_request>& questions) {
    for (const input_request& question : questions) {
        for (const auto& [method, capability] : capabilities) {
            if (question.method != method || of.client_can({capability})) continue;
            const std::string why = "the client has not declared that it can do " + std::string(capability);
            if (era_of(of.speaks()) == era::modern) {
                throw rpc_error(error_code::missing_client_capability, why,
                                json::object{{"requiredCapabilities", {{capability, json::object()}}}});
            }
            throw std::runtime_error(why);
        }
    }
}

/// The answers, where a client of today has sent them along; leaves the handler where it has not.
json::object answers_of_round(detail::input_round& round, std::vector<input_request>& questions) {
    json::object answers;
    for (input_request& question : questions) {
        if (question.key.empty()) question.key = "question-" + std::to_string(++round.asked);
        const json::value* const known = round.answers.if_contains(question.key);
        if (known != nullptr && known->is_object()) {
            answers[question.key] = round.used[question.key] = *known;
        } else {
            round.questions[question.key] =
                json::object{{"method", question.method}, {"params", std::move(question.params)}};
        }
    }
    if (!round.questions.empty()) throw detail::input_needed{};
    return answers;
}

/// Whether the client takes that question as a task, and is to.
bool as_task(const call& of, const detail::server_facilities& server, std::string_view method) {
    if (!server.options.tasks.questions || !policy_of(of.speaks()).task_requests) return false;
    if (method == "sampling/createMessage") {
        return of.client_can({"tasks", "requests", "sampling", "createMessage"});
    }
    return method == "elicitation/create" && of.client_can({"tasks", "requests", "elicitation", "create"});
}

/// The questions of one call. When it goes, nothing more is asked for it, however the asking ended.
class asked_of_client {
public:
    asked_of_client(const call& of, detail::call_state& state, std::vector<input_request>& questions) {
        const detail::server_facilities& server = state.session().facilities();
        int number = 0;
        for (input_request& question : questions) {
            if (question.key.empty()) question.key = "question-" + std::to_string(++number);
            const bool task = as_task(of, server, question.method);
            all_.push_back(std::make_shared<detail::question_to_client>(
                state.talk(), state.incoming(), question.method, std::move(question.params),
                time_limits{.maximum = server.options.ask_timeout}));
            all_.back()->start(task);
        }
    }
    asked_of_client(const asked_of_client&) = delete;
    asked_of_client& operator=(const asked_of_client&) = delete;
    ~asked_of_client() {
        for (const auto& each : all_) each->leave_call();
    }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    [[nodiscard]] detail::question_to_client& operator[](std::size_t i) const noexcept { return *all_[i]; }

private:
    std::vector<std::shared_ptr<detail::question_to_client>> all_;
};

}  // namespace

json::object call::ask(std::vector<input_request> questions) const {
    throw_if_cancelled();
    check_capabilities(*this, questions);
    if (state_->is_task()) return state_->ask_as_task(std::move(questions));
    if (state_->round) return answers_of_round(*state_->round, questions);
    must_be_free_to_block("ask");
    const asked_of_client asked(*this, *state_, questions);
    json::object answers;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        asked[i].wait();
        answers[questions[i].key] = answer_of(*this, asked[i].outcome());
    }
    return answers;
}

namespace {

struct until_settled {
    detail::question_to_client* call;
    [[nodiscard]] bool await_ready() const noexcept { return call->settled(); }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> waiting) const {
        return call->then([waiting] { waiting.resume(); });
    }
    void await_resume() const noexcept {}
};

json::object only(json::object answers) {
    return answers.empty() ? json::object() : std::move(answers.begin()->value().as_object());
}

}  // namespace

async<json::object> call::async_ask(std::vector<input_request> questions) const {
    throw_if_cancelled();
    check_capabilities(*this, questions);
    if (state_->is_task()) co_return co_await state_->async_ask_as_task(std::move(questions));
    if (state_->round) co_return answers_of_round(*state_->round, questions);
    const asked_of_client asked(*this, *state_, questions);
    json::object answers;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        co_await until_settled{&asked[i]};
        answers[questions[i].key] = answer_of(*this, asked[i].outcome());
    }
    co_return answers;
}

json::object call::sample(json::object params, std::string key) const {
    return only(ask({{std::move(key), "sampling/createMessage", std::move(params)}}));
}

json::object call::elicit(json::object params, std::string key) const {
    return only(ask({{std::move(key), "elicitation/create", std::move(params)}}));
}

json::object call::roots(std::string key) const { return only(ask({{std::move(key), "roots/list", {}}})); }

async<json::object> call::async_sample(json::object params, std::string key) const {
    std::vector<input_request> questions;
    questions.push_back({std::move(key), "sampling/createMessage", std::move(params)});
    co_return only(co_await async_ask(std::move(questions)));
}

async<json::object> call::async_elicit(json::object params, std::string key) const {
    std::vector<input_request> questions;
    questions.push_back({std::move(key), "elicitation/create", std::move(params)});
    co_return only(co_await async_ask(std::move(questions)));
}

async<json::object> call::async_roots(std::string key) const {
    std::vector<input_request> questions;
    questions.push_back({std::move(key), "roots/list", {}});
    co_return only(co_await async_ask(std::move(questions)));
}

}  // namespace andon
