#include "call/call_session.hpp"

#include <chrono>
#include <thread>
#include <unistd.h>

#include "andon/core/visible_text.hpp"
#include "call/safe_text.hpp"
#include "exit_status.hpp"
#include "gateway/config/duration_text.hpp"
#include "gateway/config/nearest_word.hpp"

namespace andon::app {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds patience{2};  // with a server that was told to stop

std::string data_text(const json::object& message) {
    const json::value* const data = message.if_contains("data");
    if (data == nullptr) return {};
    return data->is_string() ? std::string(data->get_string()) : json_text(*data);
}

std::vector<std::string> names_of(const json::array& tools) {
    std::vector<std::string> names;
    for (const json::value& each : tools) {
        if (each.is_object()) names.emplace_back(text_in(each.get_object(), "name"));
    }
    return names;
}

}  // namespace

call_session::call_session(const session_settings& settings)
    : settings_(settings),
      display_(call_display::style_of_stderr(settings.quiet)),
      signals_(display_.draws() ? std::function<void()>([this] { display_.redraw(); }) : nullptr) {
    report_.json = settings.json;
    leave_on_stop();
}

void call_session::leave_on_stop() {
    signals_.on_stop([this] {
        const std::string nothing = "cancelled; nothing was in flight";
        ::_exit(report_.show_fault("cancelled", nothing, exit_status::cancelled, display_));
    });
}

client_options call_session::options_for_person() {
    client_options options;
    options.version = ANDON_VERSION;
    if (settings_.timeout) options.timeout = *settings_.timeout;
    if (settings_.max_timeout) options.max_timeout = *settings_.max_timeout;
    options.leave_within = patience;
    options.on_elicitation = [this](const json::object& params, const cancel_token& token) {
        return form_.answer(params, token);
    };
    options.on_notification = [this](std::string_view method, const json::object& params) {
        if (method != "notifications/message") return;
        ++log_messages_;
        display_.log(text_in(params, "level"), text_in(params, "logger"), data_text(params));
    };
    options.on_stderr = [this](std::string_view piece) { display_.server_said(piece); };
    options.log = [this](log_level level, std::string_view text) {
        if (level >= log_level::warning && level < log_level::off) display_.say("andon: " + std::string(text));
    };
    return options;
}

/// Since 2026-07-28 each call says so itself.
void call_session::ask_for_log_messages() {
    if (policy_of(server_->speaks()).log_level_per_request) return;
    if (settings_.quiet || !server_->server_capabilities().contains("logging")) return;
    // Whether it works is no matter: they would only be missing.
    static_cast<void>(
        server_->request("logging/setLevel", {{"level", settings_.log_level}}, {.timeout = patience}).get());
}

int call_session::run(const std::function<void()>& before, const std::function<int(client& server)>& work) {
    try {
        if (before) before();
        patience_.emplace(settings_.give_up_after, [this] {
            const std::string over = "timed out: no answer within " + gateway::duration_text(*settings_.give_up_after);
            ::_exit(report_.show_fault("timed_out", over, exit_status::timed_out, display_));
        });
        const int status = work_with_server(work);
        patience_.reset();
        return status;
    } catch (const std::invalid_argument& error) {
        return report_.show_fault("usage", error.what(), exit_status::usage, display_);
    } catch (const unreachable_error& error) {
        return report_.show_fault("unreachable", error.what(), exit_status::unreachable, display_);
    } catch (const rpc_error& error) {
        return report_.show_fault("failed",
                                  "the server answered with an error: " + visible_text(error.what(), 1'024) + " (" +
                                      std::to_string(error.code()) + ')',
                                  exit_status::failed, display_);
    } catch (const std::exception& error) {
        return report_.show_fault("unreachable", visible_text(error.what(), 1'024), exit_status::unreachable, display_);
    }
}

int call_session::work_with_server(const std::function<int(client& server)>& work) {
    const auto began = steady_clock::now();
    display_.doing("connecting…");
    server_.emplace(open_client(settings_.server, options_for_person()));
    report_.connecting = steady_clock::now() - began;
    report_.subject["server"] = server_->server_info();
    report_.subject["revision"] = to_string(server_->speaks());
    ask_for_log_messages();
    const int status = work(*server_);
    // All is said; a server that does not leave is not worth waiting for.
    signals_.on_stop([status] { ::_exit(status); });
    server_->close();
    return status;
}

void call_session::answered() {
    patience_.reset();
    display_.finish();
}

json::object call_session::tool_named(const std::string& name) {
    display_.doing("listing tools");
    const json::array tools = server_->list_tools();
    for (const json::value& each : tools) {
        if (each.is_object() && text_in(each.get_object(), "name") == name) return each.get_object();
    }
    const std::vector<std::string> names = names_of(tools);
    const std::string hint = names.empty() ? "; it has none" : gateway::did_you_mean(name, names);
    throw std::invalid_argument("the server has no tool \"" + visible_text(name, 200) + '"' + hint);
}

follow_options call_session::following() {
    follow_options options{.timeout = settings_.timeout, .max_timeout = settings_.max_timeout};
    options.on_progress = [this](const progress_update& update) { display_.progress(update); };
    options.on_status = [this](const task_report& report) {
        display_.message(std::string(to_string(report.status)) + (report.message.empty() ? "" : ": " + report.message));
    };
    return options;
}

int call_session::finish(const call_outcome& outcome) {
    if (signals_.asked() && outcome.status == call_status::cancelled) {
        display_.say("cancelling…");
        display_.doing("cancelling");
        report_.cancel = became_of_cancel();
    }
    return report_.show(outcome, display_);
}

int call_session::finish_task(const call_outcome& outcome, const std::string& id) {
    if (id.empty()) return finish(outcome);
    if (signals_.asked() && outcome.status == call_status::cancelled) {
        display_.say("cancelling…");
        display_.doing("cancelling");
        report_.cancel = "the server was told, and the task is " + end_of_task(id).state;
    }
    return report_.show(outcome, display_);
}

std::string call_session::became_of_cancel() {
    const auto told = steady_clock::now();
    const std::size_t messages = log_messages_;
    std::string became;
    if (is_command(settings_.server)) {
        server_->close();
        const duration took = steady_clock::now() - told;
        became = took < patience ? "the server was told, and ended " + show(took) + " later"
                                 : "the server was told, did not end by itself, and was killed after " + show(took);
    } else {
        // What does no harm, and says whether the server lives and reads.
        const bool modern = era_of(server_->speaks()) == era::modern;
        const auto alive = server_->request(modern ? "server/discover" : "ping", {}, {.timeout = patience}).get();
        became = alive.status == call_status::completed ? "the server was told, and answers other requests"
                                                        : "the server was told, and does not answer now";
    }
    const std::size_t late = log_messages_ - messages;
    return late == 0 ? became : became + "; it sent " + std::to_string(late) + " log messages after that";
}

task_end call_session::end_of_task(const std::string& id) {
    const auto until = steady_clock::now() + patience;
    task_end end;
    while (steady_clock::now() < until) {
        const auto asked = server_->request("tasks/get", {{"taskId", id}}, {.timeout = patience}).get();
        if (asked.status != call_status::completed || !asked.result.is_object()) break;
        const auto status = task_status_from(text_in(asked.result.get_object(), "status"));
        if (!status) break;
        end = {.cancelled = *status == task_status::cancelled, .state = std::string(to_string(*status))};
        if (is_terminal(*status)) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return end;
}

}  // namespace andon::app
