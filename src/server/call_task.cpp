// How a call becomes a task, works as one, and ends.
#include <chrono>
#include <stdexcept>

#include "server/next_change.hpp"
#include "server/server_session.hpp"
#include "server/task_desk.hpp"
#include "transport/clock.hpp"

namespace andon::detail {
void call_state::may_become(std::shared_ptr<live_task> task, bool at_once) {
    task_ = std::move(task);
    at_once_ = at_once;
    wire_ = std::exchange(token_, task_->token());
    if (policy().task_requests && !talk().protocol().settings().stateless) task_->told = talk().weak_from_this();
}

// The birth. Everything here is decided on the loop.

void call_state::write_task(std::function<void()> then) {
    stage_.store(stage::being_written, std::memory_order_release);
    session_->facilities().tasks.create(task_, [this, then = std::move(then)](const std::string& refusal) {
        born(refusal);
        then();
    });
}

std::string call_state::created_line() const {
    const auto poll = session_->facilities().tasks.poll_interval();
    const task_record record = task_->record();
    if (policy().task_requests) {
        return result_message(raw_id(), R"({"task":{)" + task_members(record, task_dialect::requested, poll) + "}}");
    }
    return result_message(raw_id(), R"({"resultType":"task","_meta":)" + session_->raw_server_meta() + ',' +
                                        task_members(record, task_dialect::extension, poll) + '}');
}

void call_state::born(const std::string& refusal) noexcept {
    if (!refusal.empty()) {
        stage_.store(stage::refused, std::memory_order_release);
        if (at_once_ && begin_response()) {
            answer(error_line(error_code::internal_error, refusal), error_code::internal_error);
        }
        return;
    }
    const std::string line = created_line();
    if (!incoming_.request.begin_response()) {  // DIR-5: a call that was cancelled makes no task that lives
        stage_.store(stage::refused, std::memory_order_release);
        auto& tasks = session_->facilities().tasks;
        tasks.end(task_, {.status = task_status::cancelled, .message = "the call was cancelled before it was a task"});
        return tasks.work_over(task_);
    }
    stage_.store(stage::born, std::memory_order_release);
    task_->born = true;
    const task_record record = task_->record();
    std::optional<duration> most = entry_->limit;
    if (record.ttl && (!most || *record.ttl < *most)) most = *record.ttl;
    request().limit({.maximum = most}, now());
    answer(line);
}

void call_state::become_task(std::function<void()> then) {
    stage expected = stage::call;
    if (task_ && stage_.compare_exchange_strong(expected, stage::being_written)) return write_task(std::move(then));
    then();
}

// The two requests tell each other.

void call_state::cancel_task() noexcept {
    const reason why = wire_.why();
    task_->token().state()->cancel(wire_.cause(), why.text(), now());
}

/// False: it was answered, with a task.
bool call_state::cancel_wire() noexcept {
    if (token_.cancelled()) {
        const reason why = token_.why();
        wire_.state()->cancel(token_.cause(), why.text(), now());
    }
    return wire_.state()->state() == request_state::cancelled;
}

// The end.

void call_state::end_task(task_end how) noexcept { session_->facilities().tasks.end(task_, std::move(how)); }

void call_state::complete_task(const handler_result& result) {
    std::string raw = "{";
    if (!result.meta.empty()) raw += R"("_meta":)" + json_text(result.meta) + ',';
    raw += result.raw_members;
    if (!result.raw_structured.empty()) raw += R"(,"structuredContent":)" + result.raw_structured;
    raw += '}';
    if (!request().begin_response()) return request().count_discarded(1);
    const bool failed_in_2025 = result.is_error && policy().task_requests;
    end_task({.status = failed_in_2025 ? task_status::failed : task_status::completed,
              .message = result.is_error ? "the tool reported an error" : "",
              .raw_result = std::move(raw)});
}

void call_state::fail_task(const failed& how) {
    if (!request().begin_response()) return request().count_discarded(1);
    const bool error = how.code != 0;
    end_task({.status = error || policy().task_requests ? task_status::failed : task_status::completed,
              .message = how.words,
              .raw_result = error ? "" : '{' + tool_result::error(how.words).written().raw_members + '}',
              .raw_error = error ? raw_error(how.code, how.words, how.data) : ""});
}

// What it asks the client.

namespace {

/// The questions of one task, as long as somebody waits for them.
class questions_of_task {
public:
    questions_of_task(call_state& state, std::vector<input_request> questions) : state_(state) {
        for (std::size_t i = 0; i < questions.size(); ++i) {
            const std::string& key = questions[i].key;
            keys_.push_back(key.empty() ? "question-" + std::to_string(i + 1) : key);
        }
        names_ = state_.task()->ask(std::move(questions));
        state_.session().facilities().tasks.changed(state_.task());
    }
    questions_of_task(const questions_of_task&) = delete;
    questions_of_task& operator=(const questions_of_task&) = delete;
    ~questions_of_task() { state_.task()->withdraw(names_); }

    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
    [[nodiscard]] json::object answers() {
        std::vector<json::object> taken = state_.task()->take_answers(names_);
        json::object by_key;
        for (std::size_t i = 0; i < taken.size(); ++i) by_key[keys_[i]] = std::move(taken[i]);
        return by_key;
    }

private:
    call_state& state_;
    std::vector<std::string> keys_;
    std::vector<std::string> names_;
};

}  // namespace

json::object call_state::ask_as_task(std::vector<input_request> questions) {
    questions_of_task asked(*this, std::move(questions));
    task_->wait_for_answers(view_, asked.names());
    return asked.answers();
}

async<json::object> call_state::async_ask_as_task(std::vector<input_request> questions) {
    questions_of_task asked(*this, std::move(questions));
    for (;;) {
        const std::uint64_t seen = task_->changes();
        if (task_->all_answered(asked.names())) break;
        next_change change(*task_, seen, *this);
        co_await change;
        view_.throw_if_cancelled();
    }
    co_return asked.answers();
}

}  // namespace andon::detail

namespace andon {

std::string_view call::task_id() const noexcept {
    return state_->is_task() ? std::string_view(state_->task()->id()) : std::string_view();
}

bool call::become_task() const {
    must_be_free_to_block("become_task");
    throw_if_cancelled();
    std::atomic<bool> known = false;
    state_->become_task([&known] {
        known = true;
        known.notify_one();
    });
    known.wait(false);
    throw_if_cancelled();
    return state_->is_task();
}

async<bool> call::async_become_task() const {
    throw_if_cancelled();
    struct birth {
        detail::call_state& state;
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> waiting) {
            state.become_task([this, waiting] { state.talk().post([waiting] { waiting.resume(); }); });
        }
        void await_resume() const noexcept {}
    };
    birth coming{*state_};
    co_await coming;
    throw_if_cancelled();
    co_return state_->is_task();
}

}  // namespace andon
