// RCV: cancels that name nothing, come twice, too late, or are none.
#include <algorithm>
#include <array>

#include "check/receiver_probes.hpp"

namespace andon::check {
namespace {

using clock = std::chrono::steady_clock;

/// An answer to nothing that was asked: somebody answered a notification.
std::string stray_answer(const session& with, time_point since, std::initializer_list<std::string_view> asked) {
    for (const heard& each : with.all()) {
        if (each.at < since || each.message.contains("method")) continue;
        const json::value* const id = each.message.if_contains("id");
        const bool known =
            id != nullptr && !id->is_null() &&
            (std::any_of(asked.begin(), asked.end(), [&](std::string_view a) { return id_of(a) == *id; }) ||
             (id->is_int64() && id->get_int64() > 1000));  // fences and the like
        if (!known) return "a notification was answered with " + in_words(each.message);
    }
    return {};
}

}  // namespace

finding unknown_is_ignored(const trial& t) {
    expect_notification(t);
    const auto with = t.open();
    with->request("50", "tools/list");
    (void)with->answer("50", t.patience);
    const auto since = clock::now();
    std::optional<flight> beside;
    if (t.known.timed) beside = begin(*with, *t.known.timed, "51");
    for (const std::string_view id : {R"(424242)", R"("no such request")", "-1", "0", R"("")", "50"})
        with->cancel(id, "x");
    with->fence();
    with->listen(t.quiet);
    if (const std::string stray = stray_answer(*with, since, {"50", "51"}); !stray.empty()) return fail(stray);
    if (with->answers("50").size() > 1) return fail("a completed request was answered again after its cancel");
    if (beside) {
        if (const auto trouble = disturbed(*with, *beside, t)) return fail("the cancel of unknown ids: " + *trouble);
    }
    with->fence();
    return pass("five unknown ids and a completed request: no reply, the server answers on" +
                std::string(beside ? ", a call beside them ended as it should" : ""));
}

finding malformed_is_ignored(const trial& t) {
    expect_notification(t);
    constexpr std::array<std::string_view, 11> malformed{"",
                                                         "null",
                                                         "[]",
                                                         R"("text")",
                                                         "{}",
                                                         R"({"requestId":null})",
                                                         R"({"requestId":{}})",
                                                         R"({"requestId":[51]})",
                                                         R"({"requestId":true})",
                                                         R"({"requestId":51.5})",
                                                         R"({"requestId":424242,"reason":{"not":"a string"}})"};
    const auto with = t.open();
    std::optional<flight> beside;
    const auto since = clock::now();
    if (t.known.timed) beside = begin(*with, *t.known.timed, "51");
    for (const std::string_view params : malformed) {
        try {
            with->notify_cancelled(params);
            with->fence();
        } catch (const std::exception& error) {
            return fail("params " + std::string(params.empty() ? "absent" : params) + ": " + error.what());
        }
    }
    const std::string as_request =
        R"({"jsonrpc":"2.0","id":52,"method":"notifications/cancelled","params":{"requestId":51}})";
    with->write({.text = as_request, .method = "notifications/cancelled", .raw_id = "52"});
    const json::object* const said = with->answer("52", std::min(t.patience, milliseconds(3000)));
    if (said != nullptr && code_of(*said) == 0)
        return fail("sent as a request it was answered with " + in_words(*said));
    if (beside) {
        if (const auto trouble = disturbed(*with, *beside, t)) return fail("malformed cancels: " + *trouble);
    }
    for (const heard& each : with->all()) {
        const bool reply = each.at >= since && !each.message.contains("method");
        const json::value* const id = each.message.if_contains("id");
        const bool to_nobody = reply && (id == nullptr || id->is_null());
        if (to_nobody && !with->over_http()) {
            return fail("a malformed notification was answered with " + in_words(each.message));
        }
    }
    const bool refused = said == nullptr && with->stream_ended("52");
    if (said == nullptr && !refused)
        return fail("sent as a request, with an id, it was not answered: -32601 is expected");
    return pass(std::to_string(malformed.size()) +
                " malformed cancels ignored; sent as a request: " + (refused ? with->refusal("52") : in_words(*said)));
}

finding twice_is_once(const trial& t) {
    expect_notification(t);
    const slow_tool& tool = some_slow_tool(t);
    const auto with = t.open();
    const flight call = begin(*with, tool, "1");
    with->cancel("1", "the first");
    with->fence();
    const auto since = clock::now();
    with->cancel("1", "the second");
    with->cancel("1");
    with->fence();
    outlast(*with, call, t);
    const auto late = with->answers("1", since);
    if (!late.empty() && with->answers("1").size() > 1) return fail("the second cancel was answered");
    with->fence();
    return pass("two more cancels of the same call: nothing more was sent, the server answers on");
}

finding id_starts_clean(const trial& t) {
    const slow_tool& tool = timed_tool(t);
    const auto with = t.open();
    const flight first = begin(*with, tool, "7");
    with->cancel(first.raw_id, "andon check");
    with->fence();
    // Its stream may be ended by an error, which is not the answer to the next.
    if (with->over_http()) with->wait([&] { return with->stream_ended("7"); }, milliseconds(1500));
    // The work may take a moment to end, and until then the id is taken.
    const auto until = clock::now() + std::min(t.patience, milliseconds(3000));
    for (;;) {
        const auto again = clock::now();
        const flight second = begin(*with, tool, "7");
        with->wait([&] { return !with->answers("7", again).empty(); }, second.takes + t.patience);
        const auto said = with->answers("7", again);
        if (said.empty()) return fail("the id of a cancelled call was used again, and that call was never answered");
        if (result_of(said.front()->message) == nullptr) {
            if (clock::now() < until) continue;
            return fail("the id was used again and that call answered with " + in_words(said.front()->message));
        }
        const auto took = said.front()->at - second.began;
        if (took < second.takes / 2) {
            return fail("the answer to the cancelled call came for the next with its id, after " + in_ms(took));
        }
        with->listen(t.quiet);
        if (with->answers("7", again).size() > 1) return fail("the second call with the id was answered twice");
        return pass("the id was used again, and that call answered after " + in_ms(took));
    }
}

finding race_is_settled(const trial& t) {
    const auto with = t.open();
    constexpr int lists = 100;
    for (int i = 0; i < lists; ++i) {
        const std::string id = std::to_string(2'000'000 + i);
        with->request(id, "tools/list");
        with->cancel(id);
    }
    constexpr int calls = 12;
    std::vector<flight> in_flight;
    if (t.known.timed && t.known.timed->adjustable()) {
        // Asked to end at about the moment of the cancel.
        for (int i = 0; i < calls; ++i) {
            const std::string id = std::to_string(3'000'000 + i);
            in_flight.push_back({id, clock::now(), milliseconds(200 + i)});
            with->call(id, t.known.timed->name, t.known.timed->arguments(milliseconds(200 + i)));
        }
        with->listen(milliseconds(205));
        for (const flight& each : in_flight) with->cancel(each.raw_id);
    }
    with->fence();
    with->listen(t.quiet);
    int answered = 0;
    for (int i = 0; i < lists; ++i) {
        const auto said = with->answers(std::to_string(2'000'000 + i));
        if (said.size() > 1) return fail("a request that was cancelled in the moment of its answer was answered twice");
        answered += static_cast<int>(said.size());
    }
    int calls_answered = 0;
    for (const flight& each : in_flight) {
        const auto said = with->answers(each.raw_id);
        if (said.size() > 1) return fail("a call that was cancelled in the moment of its end was answered twice");
        calls_answered += static_cast<int>(said.size());
    }
    with->fence();
    std::string words = std::to_string(lists) + " requests cancelled at once: " + std::to_string(answered) +
                        " answered once, the others never";
    if (!in_flight.empty()) {
        words +=
            "; " + std::to_string(calls) + " calls at their end: " + std::to_string(calls_answered) + " answered once";
    }
    return pass(words);
}

finding duplicate_is_refused(const trial& t) {
    if (t.modern() && t.server.over_http()) {
        return not_observable("over HTTP each request of this revision stands alone: ids do not meet");
    }
    const slow_tool& tool = timed_tool(t);
    const auto with = t.open();
    const flight call = begin(*with, tool, "7");
    with->call("7", tool.name, tool.arguments(milliseconds(1200)));
    outlast(*with, call, t);
    const auto said = with->answers("7");
    const auto errors =
        std::count_if(said.begin(), said.end(), [](const heard* h) { return code_of(h->message) != 0; });
    const auto results = static_cast<std::ptrdiff_t>(said.size()) - errors;
    if (errors >= 1 && results == 1) return pass("the second is refused with " + in_words(said.front()->message));
    return fail("two calls with one id at once: " + std::to_string(results) + " results and " + std::to_string(errors) +
                " errors");
}

finding reason_is_logged(const trial& t) {
    if (t.modern() && t.server.over_http()) return not_observable("a closed stream carries no reason");
    const slow_tool& tool = some_slow_tool(t);
    const auto with = t.open();
    const flight call = begin(*with, tool, "1");
    constexpr std::string_view reason = "andon-check-reason-51";
    with->cancel("1", std::string(reason));
    with->fence();
    const auto logged = [&] { return with->log() && with->log()->find(reason) != std::string::npos; };
    with->wait(logged, milliseconds(1000));
    if (logged()) return pass("the reason is in what it writes to standard error");
    return not_observable("the reason is not on standard error; it may be logged elsewhere");
}

finding nested_is_cancelled(const trial& t) {
    std::string words;
    if (t.known.asking && !t.modern()) {
        const auto with = t.open();
        with->holds_questions = true;
        with->call("1", t.known.asking->name, t.known.asking->arguments(milliseconds(60'000)));
        with->wait([&] { return !with->questions().empty(); }, t.patience);
        if (!with->questions().empty()) {
            const json::object question = with->questions().front()->message;
            with->cancel("1", "andon check");
            const auto taken_back = [&] {
                const auto all = with->notifications("notifications/cancelled");
                return std::any_of(all.begin(), all.end(), [&](const heard* h) {
                    const json::value* const id = find(h->message, {"params", "requestId"});
                    return id != nullptr && *id == question.at("id");
                });
            };
            if (!with->wait(taken_back, milliseconds(2000))) {
                return fail("the call that asked was cancelled; its question, " + text_at(question, {"method"}) +
                            ", was not taken back");
            }
            words = "its question, " + text_at(question, {"method"}) + ", was taken back";
        }
    }
    if (const slow_tool* const tool = t.known.showing_children()) {
        const auto with = t.open();
        const signs found = watch_stop(*with, *tool, "1", false, [&] { with->cancel("1", "andon check"); });
        if (found.any_before && found.any_after) return fail(tool->name + ": " + found.words);
        if (found.any_before) words += (words.empty() ? "" : "; ") + tool->name + ": " + found.words;
    }
    if (words.empty()) return not_observable("no tool asks its client or starts processes");
    return pass(words);
}

}  // namespace andon::check
