#include "call/call_tool.hpp"

#include <algorithm>
#include <chrono>

#include "andon/core/visible_text.hpp"
#include "call/argument_schema.hpp"
#include "call/safe_text.hpp"
#include "call/tool_arguments.hpp"
#include "exit_status.hpp"
#include "gateway/config/nearest_word.hpp"
#include "gateway/plain_json.hpp"

namespace andon::app {
namespace {

using std::chrono::steady_clock;

constexpr std::string_view pressed = "the user asked to stop";

/// What the words point at, read before a server is started for nothing.
std::string read_ahead(const std::vector<std::string>& words) {
    if (words.size() != 1) return {};
    if (words.front() == "-") return read_text("-");
    return words.front().starts_with('@') ? read_text(words.front().substr(1)) : std::string();
}

void warn_of_unknown(const json::object& arguments, const json::object& schema, call_display& display) {
    const std::vector<std::string> names = names_of(arguments_in(schema));
    if (names.empty()) return;
    for (const auto& [key, value] : arguments) {
        if (std::find(names.begin(), names.end(), key) != names.end()) continue;
        display.say("andon: the tool does not list an argument \"" + visible_text(key, 200) +
                    "\"; it is sent all the same" + gateway::did_you_mean(key, names));
    }
}

class tool_call {
public:
    tool_call(const call_request& asked, call_session& session, client& server)
        : asked_(asked), session_(session), server_(server) {}

    int run(json::object arguments) {
        session_.display().doing(asked_.tool);
        began_ = steady_clock::now();
        session_.signals().hold();
        return asked_.task || asked_.detach ? as_task(std::move(arguments)) : as_call(std::move(arguments));
    }

private:
    int as_call(json::object arguments) {
        call_options options;
        options.on_progress = [this](const progress_update& update) { session_.display().progress(update); };
        options.timeout = asked_.session.timeout;
        options.max_timeout = asked_.session.max_timeout;
        if (!asked_.session.quiet) options.log_level = asked_.session.log_level;
        pending_call pending = server_.call_tool(asked_.tool, std::move(arguments), std::move(options));
        session_.signals().on_stop([&] { pending.cancel(pressed); });
        const call_outcome outcome = pending.get();
        over();
        return session_.finish(outcome);
    }

    int as_task(json::object arguments) {
        pending_task pending = server_.call_tool_as_task(asked_.tool, std::move(arguments), session_.following());
        session_.signals().on_stop([&] { pending.cancel(pressed); });
        const std::string id = pending.id();
        if (!id.empty()) session_.report().subject["task"] = id;
        if (asked_.detach && !id.empty() && !session_.signals().asked()) return detached(id);
        if (!id.empty()) session_.display().say("task " + visible_text(id, 200));
        const call_outcome outcome = pending.get();
        over();
        if (id.empty() && outcome.completed()) {
            constexpr const char* no_task = "the server did not make it a task: it answered the call itself";
            // Who wants an id to come back to has none, and must not take the result for it.
            if (asked_.detach) {
                return session_.report().show_fault("failed", no_task, exit_status::failed, session_.display());
            }
            session_.display().say("andon: " + std::string(no_task));
        }
        return session_.finish_task(outcome, id);
    }

    int detached(const std::string& id) {
        over();
        if (is_command(asked_.session.server)) {
            session_.display().say(
                "andon: this server ends with the command that started it, and so does its work; "
                "a task outlives it only on a server that runs by itself");
        }
        session_.display().finish();
        if (asked_.session.json) {
            json::object all(session_.report().subject);
            all["status"] = "detached";
            print(gateway::plain_json(all) + '\n');
        } else {
            print(visible_text(id, 1'024) + '\n');
        }
        return exit_status::ok;
    }

    /// The handle that Ctrl-C cancels is about to go; a second one leaves all the same.
    void over() {
        session_.report().calling = steady_clock::now() - began_;
        session_.signals().on_stop([] {});
    }

    const call_request& asked_;
    call_session& session_;
    client& server_;
    time_point began_{};
};

}  // namespace

int call_tool(const call_request& asked) {
    call_session session(asked.session);
    session.report().subject["tool"] = asked.tool;
    std::string text;
    return session.run([&] { text = read_ahead(asked.words); },
                       [&](client& server) {
                           const json::object tool = session.tool_named(asked.tool);
                           const json::object* const found = object_in(tool, "inputSchema");
                           const json::object schema = found == nullptr ? json::object() : *found;
                           json::object arguments =
                               tool_arguments(asked.words, schema, [&](std::string_view) { return text; });
                           warn_of_unknown(arguments, schema, session.display());
                           return tool_call(asked, session, server).run(std::move(arguments));
                       });
}

}  // namespace andon::app
