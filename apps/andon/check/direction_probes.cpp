// DIR: who may cancel what.
#include <algorithm>
#include <boost/json/serialize.hpp>

#include "check/message_probes.hpp"
#include "check/task_steps.hpp"

namespace andon::check {
namespace {

using clock = std::chrono::steady_clock;

const slow_tool& asking_tool(const trial& t) {
    if (!t.known.asking)
        throw unobservable("no tool that was tried asks its client for sampling, elicitation or roots");
    return *t.known.asking;
}

/// A call that waits for us to answer its question.
json::object asked_by(session& with, const slow_tool& tool, const std::string& raw_id, const trial& t) {
    with.holds_questions = true;
    with.call(raw_id, tool.name, tool.arguments(milliseconds(60'000)));
    with.wait([&] { return !with.questions().empty(); }, t.patience);
    if (with.questions().empty()) throw unobservable("'" + tool.name + "' asked nothing this time");
    return with.questions().front()->message;
}

}  // namespace

finding other_direction(const trial& t) {
    const slow_tool& tool = asking_tool(t);
    const auto with = t.open();
    const std::string own = R"("andon's own")";
    const json::object question = asked_by(*with, tool, own, t);
    const std::string its_id = json::serialize(question.at("id"));
    with->notify_cancelled(R"({"requestId":)" + its_id + "}");
    with->fence();
    if (const auto early = with->answers(own); !early.empty()) {
        return fail("the client cancelled the id " + its_id +
                    ", which only the server's own request has, and the call ended with " +
                    in_words(early.front()->message));
    }
    with->answer_question(question);
    const json::object* const said = with->answer(own, t.patience);
    if (said == nullptr) {
        return fail("after the client cancelled the id " + its_id +
                    ", which only the server's own request has, its answer to that request is not heard any more");
    }
    return pass("a cancel of the id " + its_id + " left the server's own request with that id alone");
}

finding server_does_not_cancel(const trial& t) {
    const slow_tool& tool = some_slow_tool(t);
    const auto with = t.open();
    const flight call = begin(*with, tool, "1");
    with->cancel("1", "andon check");
    with->fence();
    const flight another = begin(*with, tool, "2");
    outlast(*with, another, t);
    const auto sent = with->notifications("notifications/cancelled");
    if (!sent.empty()) return fail("the server sent a cancel: " + json::serialize(sent.front()->message));
    return pass("a cancelled call and one that was not: the server sent no cancel");
}

finding cancels_its_own(const trial& t) {
    const slow_tool& tool = asking_tool(t);
    const auto with = t.open();
    const json::object question = asked_by(*with, tool, "1", t);
    with->cancel("1", "andon check");
    with->wait([&] { return !with->notifications("notifications/cancelled").empty(); }, milliseconds(1500));
    with->listen(t.quiet);
    const auto sent = with->notifications("notifications/cancelled");
    if (sent.empty()) return not_observable("the server sent no cancel");
    for (const heard* const each : sent) {
        const json::value* const id = find(each->message, {"params", "requestId"});
        const auto asked = with->questions();
        const bool own = id != nullptr && std::any_of(asked.begin(), asked.end(),
                                                      [&](const heard* q) { return q->message.at("id") == *id; });
        if (!own) return fail("the server cancelled what it never asked: " + json::serialize(each->message));
    }
    if (sent.size() > with->questions().size()) return fail("the server cancelled one request more than once");
    return pass("it cancelled the request that it had sent, once, while that was unanswered");
}

finding initialize_stands(const trial& t) {
    const auto with = t.server.connect({.speaks = newest_legacy, .patience = t.patience, .until = t.until});
    json::object params{{"protocolVersion", to_string(newest_legacy)},
                        {"capabilities", json::object()},
                        {"clientInfo", {{"name", "andon-check"}, {"version", "1"}}}};
    with->request("1", "initialize", std::move(params));
    with->notify_cancelled(R"({"requestId":1,"reason":"changed my mind"})");
    const json::object* const said = with->answer("1", t.patience);
    if (said == nullptr) return fail("a cancel of initialize silenced its answer");
    if (result_of(*said) == nullptr) return fail("a cancel of initialize made it fail: " + in_words(*said));
    with->write(
        {.text = R"({"jsonrpc":"2.0","method":"notifications/initialized"})", .method = "notifications/initialized"});
    with->fence();
    return pass("a cancel of initialize was ignored: it was answered, and the session works");
}

finding task_is_not_cancelled(const trial& t) {
    const auto with = t.open(true);
    const made_task task = make_task(*with, t, R"("made a task")");
    with->notify_cancelled(R"({"requestId":)" + task.raw_id + R"(,"reason":"andon check"})");
    with->fence();
    with->listen(t.quiet);
    const std::string state = state_of(*with, task.id);
    end_task(*with, task.id);
    if (state != "working" && state != "input_required") {
        return fail("a cancel notification for the request that made the task left it '" + state + "'");
    }
    return pass("a cancel notification for the request that made the task left it at work");
}

finding sessions_are_apart(const trial& t) {
    if (t.server.starts() && !t.server.over_http()) return not_observable("on stdio a server has one client");
    const slow_tool& tool = timed_tool(t);
    const auto first = t.open();
    auto* const here = dynamic_cast<http_session*>(first.get());
    if (here == nullptr) return not_observable("on stdio a server has one client");
    if (!t.modern() && here->session_id().empty()) {
        return not_observable("the server has no sessions: nothing tells its clients apart");
    }
    const auto second = here->beside();
    second->open();
    const flight call = begin(*first, tool, "7");
    const flight other = begin(*second, tool, "7");
    second->cancel("7", "andon check");
    if (const auto trouble = disturbed(*first, call, t))
        return fail("another session cancelled its own request 7: " + *trouble);
    return pass("two sessions with equal ids: the cancel of one left the other alone");
}

}  // namespace andon::check
