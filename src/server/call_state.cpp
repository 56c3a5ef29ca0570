#include "server/call_state.hpp"

#include <chrono>
#include <cmath>

#include "andon/core/visible_text.hpp"
#include "andon/wire/message.hpp"
#include "server/live_task.hpp"
#include "server/server_session.hpp"
#include "transport/clock.hpp"

namespace andon::detail {
namespace {

/// Our own doing, not the client's: it still waits, and is told.
bool is_answered(cancel_cause cause, offered kind) noexcept {
    return cause == cancel_cause::timeout || cause == cancel_cause::operator_ ||
           (cause == cancel_cause::shutdown && kind == offered::subscription);
}

/// How a task ends that was stopped.
task_end end_of(cancel_cause cause, const reason& why) {
    const std::string because = why.empty() ? "" : ": " + std::string(why.text());
    switch (cause) {
        case cancel_cause::peer: return {task_status::cancelled, "cancelled by the client"};
        case cancel_cause::operator_: return {task_status::cancelled, "stopped by an operator" + because};
        case cancel_cause::timeout: return {task_status::failed, "it took longer than this server allows"};
        case cancel_cause::shutdown: return {task_status::failed, "the server was shut down"};
        case cancel_cause::disconnect:
        case cancel_cause::parent: break;
    }
    return {task_status::cancelled, "cancelled" + because};
}

}  // namespace

call_state::call_state(std::shared_ptr<server_session> in, incoming_request request, const request_facts& facts,
                       std::shared_ptr<const client_facts> client, std::shared_ptr<const handler_entry> entry,
                       json::value arguments)
    : turn(entry->run.coroutine ? kind::loop : kind::thread),
      session_(std::move(in)),
      incoming_(std::move(request)),
      texts_(std::string(facts.raw_id) + std::string(facts.raw_progress_token) + std::string(facts.uri)),
      client_(std::move(client)),
      entry_(std::move(entry)),
      arguments_(std::move(arguments)),
      token_(incoming_.request.token()),
      view_(*this),
      id_size_(static_cast<std::uint32_t>(facts.raw_id.size())),
      token_size_(static_cast<std::uint32_t>(facts.raw_progress_token.size())),
      bytes_(static_cast<std::uint32_t>(facts.bytes)),
      log_level_(facts.log_level) {
    session_->hold_bytes(bytes_);
    session_->facilities().call_began();
}

call_state::~call_state() {
    callback_.reset();
    passed_on_.reset();
    if (coroutine_.frame) coroutine_.frame.destroy();
    delete extras_.load();
    session_->give_back_bytes(bytes_);
    session_->facilities().call_ended();
}

conversation& call_state::talk() noexcept { return session_->talk(); }

active_request& call_state::request() noexcept { return task_ ? task_->request() : incoming_.request; }

void call_state::dispatch() {
    callback_.emplace(token_, cancelled{this});
    if (task_) passed_on_ = std::make_unique<cancel_callback<wire_cancelled>>(wire_, wire_cancelled{this});
    if (!at_once_) return submit();
    write_task([this] {
        if (is_task()) return submit();
        end();
    });
}

void call_state::submit() noexcept {
    if (what == kind::loop && entry_->turns.most == 0) return begin();
    try {
        session_->facilities().turns.submit(*this, entry_->turns.most == 0 ? nullptr : &entry_->turns);
    } catch (const std::exception&) {  // there is no thread to run it
        fail(std::current_exception());
        end();
    }
}

void call_state::begin() noexcept {
    if (token_.cancelled()) return end();  // it never starts (RCV-1)
    if (what == kind::loop) {
        run_coroutine();
    } else {
        run_blocking();
    }
}

void call_state::call_hook(bool before) {
    if (entry_->kind != offered::tool) return;
    server_facilities& with = session_->facilities();
    std::shared_ptr<const std::function<void(call&)>> hook;
    {
        const std::lock_guard lock(with.hooks_mutex);
        hook = before ? with.before : with.after;
    }
    if (hook) (*hook)(view_);
}

void call_state::run_blocking() noexcept {
    bool returned = false;
    bool began = false;
    try {
        call_hook(true);
        began = true;
        handler_result result = entry_->run.blocking(std::move(arguments_), view_);
        returned = true;
        call_hook(false);
        complete(std::move(result));
    } catch (...) {
        if (began && !returned) {
            fail_after_handler(std::current_exception());
        } else {
            fail(std::current_exception());
        }
    }
    end();
}

/// The handler threw, as most do that are cancelled: what comes after it sees that too.
void call_state::fail_after_handler(const std::exception_ptr& failure) noexcept {
    try {
        call_hook(false);
    } catch (...) {  // the handler's own failure says more
        talk().log(log_level::warning, "the hook after a tool that failed has failed too");
    }
    fail(failure);
}

void call_state::run_coroutine() noexcept {
    bool began = false;
    try {
        call_hook(true);
        began = true;
        coroutine_ = entry_->run.coroutine(std::move(arguments_), view_);
    } catch (...) {
        if (began) {
            fail_after_handler(std::current_exception());
        } else {
            fail(std::current_exception());
        }
        return end();
    }
    arguments_ = nullptr;  // the coroutine has its own
    coroutine_.promise->context = this;
    coroutine_.promise->over = [](void* self) noexcept { static_cast<call_state*>(self)->coroutine_over(); };
    coroutine_.frame.resume();
    if (phase_.exchange(phase::returned, std::memory_order_acq_rel) == phase::over) finish_coroutine();
}

/// Inside the coroutine's last step: its frame must live until that is left.
void call_state::coroutine_over() noexcept {
    if (phase_.exchange(phase::over, std::memory_order_acq_rel) == phase::returned) {
        talk().post([this] { finish_coroutine(); });
    }
}

void call_state::finish_coroutine() noexcept {
    bool returned = false;
    try {
        handler_result result = coroutine_.take(*coroutine_.promise);
        returned = true;
        call_hook(false);
        complete(std::move(result));
    } catch (...) {
        if (returned) {
            fail(std::current_exception());
        } else {
            fail_after_handler(std::current_exception());
        }
    }
    end();
}

std::string call_state::error_line(int code, std::string_view message, const json::value& data) const {
    return error_message(raw_id(), code, message, data);
}

std::string call_state::input_required() const {
    const std::string state =
        session_->facilities().states.sealed(round->used, round->request_digest, std::chrono::system_clock::now());
    return result_message(raw_id(), R"({"resultType":"input_required","_meta":)" + session_->raw_server_meta() +
                                        R"(,"inputRequests":)" + json_text(round->questions) + R"(,"requestState":)" +
                                        json_quoted(state) + '}');
}

std::string call_state::written(handler_result result) const {
    const revision_policy& rules = policy();
    if (entry_->kind == offered::resource || entry_->kind == offered::resource_template) {
        for (json::value& each : result.contents) {
            json::object& contents = each.as_object();
            if (!contents.contains("uri")) contents["uri"] = name();
            if (!contents.contains("mimeType")) contents["mimeType"] = entry_->mime_type;
        }
        result.raw_members = R"("contents":)" + json_text(result.contents);
        if (rules.cache_hints) result.raw_members += R"(,"ttlMs":0,"cacheScope":"private")";
    }
    if (rules.structured_content && !result.raw_structured.empty()) {
        result.raw_members += R"(,"structuredContent":)" + result.raw_structured;
    }
    if (result.meta.empty()) {
        return result_message(raw_id(), whole_result(result.raw_members, rules, session_->raw_server_meta()));
    }
    std::string raw_meta = json_text(result.meta);
    if (rules.result_type) {  // ours beside the handler's
        raw_meta.pop_back();
        raw_meta += ',' + session_->raw_server_meta().substr(1);
        return result_message(raw_id(), whole_result(result.raw_members, rules, raw_meta));
    }
    return result_message(raw_id(), whole_result(R"("_meta":)" + raw_meta + ',' + result.raw_members, rules, {}));
}

void call_state::answer(std::string_view line, int code) noexcept {
    answered_ = true;
    // Out of the table first: the client may use the id again as soon as it has read the answer.
    incoming_.request.finish(now());
    talk().answer(incoming_.to, line, code);
}

bool call_state::begin_response() noexcept {
    // The task's first: after it nobody can make one of this call any more.
    return (!task_ || task_->request().begin_response()) && incoming_.request.begin_response();
}

void call_state::complete(handler_result result) noexcept {
    try {
        if (is_task()) return complete_task(result);
        const std::string line = round && !round->questions.empty() ? input_required() : written(std::move(result));
        if (begin_response()) {
            answer(line);
        } else {
            request().count_discarded(1);
        }
    } catch (...) {
        fail(std::current_exception());
    }
}

call_state::failed call_state::failed_with(const std::exception_ptr& failure) const {
    const bool tool = entry_->kind == offered::tool;
    try {
        std::rethrow_exception(failure);
    } catch (const rpc_error& error) {
        return {error.code(), error.what(), error.data()};
    } catch (const invalid_arguments& error) {
        return {tool ? 0 : error_code::invalid_params, error.what()};
    } catch (const std::exception& error) {
        return {tool ? 0 : error_code::internal_error, error.what()};
    } catch (...) {
        return tool ? failed{0, "the tool failed"} : failed{error_code::internal_error, "the handler failed"};
    }
}

void call_state::fail(const std::exception_ptr& failure) noexcept {
    std::string line;
    int code = 0;
    try {
        std::rethrow_exception(failure);
    } catch (const input_needed&) {
        if (is_task()) return fail_task({error_code::internal_error, "the tool asked in a way that a task cannot"});
        line = input_required();
    } catch (...) {
        const failed how = failed_with(failure);
        if (is_task()) return fail_task(how);
        code = how.code;
        line = code != 0 ? error_line(code, how.words, how.data)
                         : result_message(raw_id(), whole_result(tool_result::error(how.words).written().raw_members,
                                                                 policy(), session_->raw_server_meta()));
    }
    if (begin_response()) {
        answer(line, code);
    } else {
        request().count_discarded(1);
    }
}

void call_state::end() noexcept {
    // Waits for a cancel that is telling us on another thread; inside our own callback it does not.
    callback_.reset();
    passed_on_.reset();
    // A handler that was quick to notice is here before the canceller came to our callback.
    if (!told_ && (token_.cancelled() || (!answered_ && wire_.cancelled()))) tell_of_cancel();
    if (task_) task_->request().finish(now());
    incoming_.request.finish(now());
    if (is_task()) session_->facilities().tasks.work_over(task_);
    if (!answered_ && incoming_.to.batch) talk().answer(incoming_.to, {});
    session_->facilities().turns.done(*this);
    delete this;
}

void call_state::on_cancel() noexcept {
    tell_of_cancel();
    if (session_->facilities().turns.withdraw(*this)) end();
}

/// What the client gets when it was we who stopped it.
std::string call_state::stopped_line(cancel_cause cause, const reason& why) const {
    const std::string& meta = session_->raw_server_meta();
    if (entry_->kind == offered::subscription) {
        const std::string with_id =
            R"({"io.modelcontextprotocol/subscriptionId":)" + std::string(raw_id()) + ',' + meta.substr(1);
        return result_message(raw_id(), whole_result({}, policy(), with_id));
    }
    const std::string words = cause == cancel_cause::timeout
                                  ? "stopped: it took longer than this server allows"
                                  : "stopped by an operator" + (why.empty() ? "" : ": " + std::string(why.text()));
    if (entry_->kind != offered::tool) return error_line(error_code::internal_error, words);
    return result_message(raw_id(), whole_result(tool_result::error(words).written().raw_members, policy(), meta));
}

void call_state::tell_of_cancel() noexcept {
    told_ = true;
    const bool of_call = !task_ || cancel_wire();
    const cancel_token& by = token_.cancelled() ? token_ : wire_;
    const cancel_cause cause = by.cause();
    const reason why = by.why();
    std::string text = of_call ? "request " + visible_text(raw_id(), 64) + " (" + visible_text(request().label(), 128) +
                                     ") of session " + std::to_string(static_cast<std::uint64_t>(incoming_.scope))
                               : "task " + task_->id() + " (" + visible_text(request().label(), 128) + ')';
    text += " cancelled: " + std::string(to_string(cause));
    if (!why.empty()) (text += ", ") += why.text();
    talk().log_soon(log_level::info, std::move(text));
    if (!of_call) return end_task(end_of(cause, why));
    if (is_answered(cause, entry_->kind)) {
        answered_ = true;
        // Where the subscriptions share a stream (SUB-2).
        if (entry_->kind == offered::subscription && !incoming_.to.reply) {
            talk().send(cancelled_message(raw_id(), why.text()));
        }
        talk().answer_last(incoming_.to, stopped_line(cause, why));
    } else if (incoming_.to.reply && !incoming_.to.batch) {
        incoming_.to.reply->no_answer();  // a stream of its own must not hang (HTTP-3)
    }
}

std::string_view call_state::name() const noexcept {
    const std::string_view uri = std::string_view(texts_).substr(id_size_ + token_size_);
    return uri.empty() ? std::string_view(entry_->name) : uri;
}

call_state::extras& call_state::more() {
    if (extras* const there = extras_.load(std::memory_order_acquire)) return *there;
    auto made = std::make_unique<extras>();
    extras* first = nullptr;
    if (extras_.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel)) return *made.release();
    return *first;
}

std::stop_token call_state::stop_token() {
    extras& with = more();
    const std::lock_guard lock(with.mutex);
    if (!with.stopping) with.stopping = std::make_unique<stop_on_cancel>(token_);
    return with.stopping->token();
}

void call_state::notice() noexcept {
    if (!noticed_.exchange(true, std::memory_order_relaxed)) request().notice(now());
}

bool call_state::tell(std::string_view line) {
    if (request().state() != request_state::running) {
        request().count_discarded(1);
        return false;
    }
    if (!is_task()) return talk().send(incoming_.to, line, &token_);
    // The extension has none of these; before, they belong to the session now.
    if (policy().tasks_extension) return false;
    return talk().send(line, &token_);
}

void call_state::progress(const progress_update& update) {
    if (is_task() && !update.message.empty() && task_->set_message(update.message)) {
        session_->facilities().tasks.changed(task_);
    }
    if (raw_progress_token().empty() || !std::isfinite(update.progress)) return;
    extras& with = more();
    const std::lock_guard lock(with.mutex);
    if (with.last_progress && update.progress <= *with.last_progress) return;
    with.last_progress = update.progress;
    std::string line = progress_message(raw_progress_token(), update, policy());
    if (is_task()) line.insert(line.size() - 2, R"(,"_meta":)" + json_text(meta_of_task(task_->id())));
    tell(line);
}

}  // namespace andon::detail
