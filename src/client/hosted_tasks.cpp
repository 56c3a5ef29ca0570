#include "client/hosted_tasks.hpp"

#include <algorithm>
#include <chrono>

#include "client/client_session.hpp"
#include "tasks/task_text.hpp"
#include "transport/clock.hpp"

namespace andon::detail {
namespace {

constexpr std::size_t most = 1'000;
constexpr std::chrono::milliseconds poll_interval{500};
constexpr std::chrono::milliseconds usual_ttl = std::chrono::hours(1);
constexpr std::chrono::milliseconds longest_ttl = std::chrono::hours(24);

std::string members_of(const task_record& task) { return task_members(task, task_dialect::requested, poll_interval); }

}  // namespace

/// The handler, on a worker. Deletes itself.
class hosted_tasks::thinking final : public turn {
public:
    thinking(std::shared_ptr<client_session> in, std::string id, json::object params, const question_handler& handler,
             cancel_token token)
        : turn(kind::thread),
          session_(std::move(in)),
          id_(std::move(id)),
          params_(std::move(params)),
          handler_(handler),
          token_(std::move(token)) {}

private:
    void begin() noexcept override {
        std::string result;
        std::string error;
        try {
            token_.throw_if_cancelled();
            result = json_text(handler_(params_, token_));
        } catch (const rpc_error& failed) {
            error = raw_error(failed.code(), failed.what(), failed.data());
        } catch (const std::exception& failed) {
            error = raw_error(error_code::internal_error, failed.what());
        } catch (...) {
            error = raw_error(error_code::internal_error, "the handler failed");
        }
        session_->talk().post(
            [session = session_, id = id_, result = std::move(result), error = std::move(error)]() mutable {
                const task_status status = error.empty() ? task_status::completed : task_status::failed;
                session->tasks().over(id, status, std::move(result), std::move(error));
            });
        session_->turns().done(*this);
        delete this;
    }

    std::shared_ptr<client_session> session_;
    std::string id_;
    json::object params_;
    question_handler handler_;
    cancel_token token_;
};

json::object hosted_tasks::declared_by(const client_options& options) {
    json::object requests;
    if (options.on_sampling) requests["sampling"] = {{"createMessage", json::object()}};
    if (options.on_elicitation) requests["elicitation"] = {{"create", json::object()}};
    if (requests.empty() || !options.tasks) return {};
    return {{"list", json::object()}, {"cancel", json::object()}, {"requests", std::move(requests)}};
}

bool hosted_tasks::take(incoming_request& request, const envelope& message) {
    if (!policy_of(request.speaks).task_requests || declared_by(session_->options()).empty()) return false;
    const std::string_view method = message.method;
    const bool about =
        method == "tasks/get" || method == "tasks/result" || method == "tasks/list" || method == "tasks/cancel";
    const question_handler* const handler = session_->handler_of(method);
    const bool may_be_task = handler != nullptr && method != "roots/list";
    if (!about && !may_be_task) return false;
    const auto params = object_from_json(message.raw_params);
    if (!about && (!params || !params->contains("task"))) return false;
    try {
        if (!params) throw rpc_error(error_code::invalid_params, "params could not be read");
        if (may_be_task) {
            create(request, message, *handler);
        } else if (method == "tasks/result") {
            result(request, message);
        } else {
            const std::string members = method == "tasks/get"    ? get(*params)
                                        : method == "tasks/list" ? list(*params)
                                                                 : cancel(*params);
            answer(std::move(request), result_message(message.raw_id, '{' + members + '}'));
        }
    } catch (const rpc_error& error) {
        answer(std::move(request), error_message(message.raw_id, error.code(), error.what(), error.data()),
               error.code());
    }
    return true;
}

void hosted_tasks::create(incoming_request& request, const envelope& message, const question_handler& handler) {
    json::object params = object_from_json(message.raw_params).value_or(json::object());
    const json::value wish = params.at("task");
    params.erase("task");
    if (!wish.is_object()) throw rpc_error(error_code::invalid_params, "\"task\" must be an object");
    std::chrono::milliseconds ttl = usual_ttl;
    if (const json::value* const asked = wish.get_object().if_contains("ttl")) {
        boost::system::error_code wrong;
        const auto count = asked->to_number<std::int64_t>(wrong);
        if (wrong || count <= 0) throw rpc_error(error_code::invalid_params, "\"ttl\" must be a number above 0");
        ttl = std::min(std::chrono::milliseconds(std::min<std::int64_t>(count, longest_ttl.count())), longest_ttl);
    }
    forget_expired();
    if (all_.size() >= most) throw rpc_error(error_code::internal_error, "too many tasks: wait for some to expire");
    auto work = session_->talk().begin_own_work(message.method, {.maximum = ttl});
    if (!work) throw rpc_error(error_code::internal_error, std::string(to_string(work.refusal)));
    task_record record{.id = new_task_id(), .label = std::string(message.method), .created = task_now(), .ttl = ttl};
    record.updated = record.created;
    const std::string id = record.id;
    const cancel_token token = work.request.token();
    const std::string line = result_message(message.raw_id, R"({"task":{)" + members_of(record) + "}}");
    all_.emplace(id, hosted{std::move(record), std::move(work.request), token});
    answer(std::move(request), line);
    auto thinks = std::make_unique<thinking>(session_->shared_from_this(), id, std::move(params), handler, token);
    session_->turns().submit(*thinks.release(), nullptr);
}

hosted_tasks::hosted& hosted_tasks::find(const json::object& params) {
    forget_expired();
    const json::value* const id = params.if_contains("taskId");
    const auto found = id != nullptr && id->is_string() ? all_.find(std::string(id->get_string())) : all_.end();
    if (found == all_.end()) throw rpc_error(error_code::invalid_params, "there is no such task, or none any more");
    return found->second;
}

std::string hosted_tasks::get(const json::object& params) { return members_of(find(params).record); }

std::string hosted_tasks::list(const json::object& params) const {
    if (params.contains("cursor")) throw rpc_error(error_code::invalid_params, "the cursor is not one of ours");
    std::vector<const task_record*> by_age;
    for (const auto& [id, task] : all_) by_age.push_back(&task.record);
    std::ranges::sort(by_age, {}, [](const task_record* each) { return std::pair(each->created, each->id); });
    std::string tasks;
    for (const task_record* const each : by_age) tasks += (tasks.empty() ? "{" : ",{") + members_of(*each) + '}';
    return R"("tasks":[)" + tasks + ']';
}

std::string hosted_tasks::cancel(const json::object& params) {
    hosted& task = find(params);
    if (is_terminal(task.record.status)) {
        throw rpc_error(error_code::invalid_params,
                        "the task cannot be cancelled: it is " + std::string(to_string(task.record.status)));
    }
    task.token.state()->cancel(cancel_cause::peer, "tasks/cancel", now());
    decide(task, task_status::cancelled, "cancelled by the server");
    return members_of(task.record);
}

void hosted_tasks::result(incoming_request& request, const envelope& message) {
    hosted& task = find(object_from_json(message.raw_params).value_or(json::object()));
    if (is_terminal(task.record.status)) return answer_result(std::move(request), message.raw_id, task.record);
    auto one = std::make_unique<waiting>();
    one->request = std::move(request);
    one->raw_id = std::string(message.raw_id);
    one->task = task.record.id;
    waiting& placed = *task.waiting_for.emplace_back(std::move(one));
    placed.callback.emplace(placed.request.request.token(), waiting::cancelled{this, &placed});
}

/// On the thread that cancels it.
void hosted_tasks::give_up(waiting& one) noexcept {
    session_->talk().post([session = session_->shared_from_this(), this, task = one.task, which = &one] {
        const auto found = all_.find(task);
        if (found == all_.end()) return;
        std::erase_if(found->second.waiting_for, [&](const auto& each) {
            if (each.get() != which) return false;
            each->callback.reset();
            each->request.request.finish(now());
            session->talk().answer(each->request.to, {});
            return true;
        });
    });
}

void hosted_tasks::over(const std::string& id, task_status status, std::string raw_result, std::string raw_error) {
    const auto found = all_.find(id);
    if (found == all_.end() || is_terminal(found->second.record.status)) return;  // what comes late is dropped
    hosted& task = found->second;
    const bool in_time = task.work.begin_response();
    task.record.raw_result = in_time ? std::move(raw_result) : std::string();
    task.record.raw_error = in_time ? std::move(raw_error) : std::string();
    decide(task, in_time ? status : task_status::failed, in_time ? "" : "it took too long");
}

void hosted_tasks::decide(hosted& task, task_status status, std::string message) {
    task.record.status = status;
    task.record.status_message = std::move(message);
    task.record.updated = task_now();
    task.work.finish(now());
    for (auto& each : std::exchange(task.waiting_for, {})) {
        each->callback.reset();
        answer_result(std::move(each->request), each->raw_id, task.record);
    }
}

void hosted_tasks::answer(incoming_request request, std::string_view line, int code) {
    const bool ours = request.request.begin_response();
    request.request.finish(now());
    session_->talk().answer(request.to, ours ? line : std::string_view(), code);
}

void hosted_tasks::answer_result(incoming_request request, std::string_view raw_id, const task_record& of) {
    if (of.raw_result.empty()) {
        const bool cancelled = of.status == task_status::cancelled;
        const std::string error =
            cancelled ? raw_error(error_code::request_cancelled, "the task was cancelled") : raw_error_of(of);
        return answer(std::move(request), raw_error_message(raw_id, error));
    }
    json::object whole = object_from_json(of.raw_result).value_or(json::object());
    json::value& meta = whole["_meta"];
    if (!meta.is_object()) meta = json::object();
    meta.get_object()[related_task] = json::object{{"taskId", of.id}};
    answer(std::move(request), result_message(raw_id, json_text(whole)));
}

void hosted_tasks::forget_expired() {
    const task_time time = task_now();
    std::erase_if(all_, [&](const auto& each) {
        return is_terminal(each.second.record.status) && each.second.record.expires() <= time;
    });
}

void hosted_tasks::end() { all_.clear(); }

}  // namespace andon::detail
