// MSG: the message itself.
#include "check/message_probes.hpp"

#include <algorithm>
#include <array>

namespace andon::check {
namespace {

using clock = std::chrono::steady_clock;

/// Whether the cancel had an effect: the call did not run to its end.
bool stopped(session& with, const flight& call, const trial& t) {
    outlast(with, call, t);
    const auto said = with.answers(call.raw_id);
    return said.empty() || result_of(said.front()->message) == nullptr ||
           said.front()->at - call.began < call.takes * 8 / 10;
}

}  // namespace

finding message_is_understood(const trial& t) {
    expect_notification(t);
    const slow_tool& tool = timed_tool(t);
    struct form {
        std::string_view raw_id;
        bool reason;
        std::string_view words;
    };
    constexpr std::array<form, 4> forms{form{"41", true, "an integer id with a reason"},
                                        form{"42", false, "an integer id without a reason"},
                                        form{R"("forty-three")", true, "a string id with a reason"},
                                        form{R"("44")", false, "a string id without a reason"}};
    const auto with = t.open();
    std::vector<flight> calls;
    calls.reserve(forms.size());
    for (const form& each : forms) calls.push_back(begin(*with, tool, std::string(each.raw_id)));
    for (const form& each : forms) {
        with->cancel(each.raw_id, each.reason ? std::optional<std::string>("andon check") : std::nullopt);
    }
    std::string ignored;
    std::size_t worked = 0;
    for (std::size_t i = 0; i < forms.size(); ++i) {
        if (stopped(*with, calls[i], t)) {
            ++worked;
        } else {
            ignored += (ignored.empty() ? "" : ", ") + std::string(forms[i].words);
        }
    }
    with->fence();
    if (worked == 0) return not_observable("no cancel has any effect, whatever its form (see RCV-1 and RCV-3)");
    if (worked < forms.size()) return fail("no effect with " + ignored);
    return pass("integer and string ids, with and without a reason: all four took effect");
}

finding absent_id_is_ignored(const trial& t) {
    const slow_tool& tool = timed_tool(t);
    const auto with = t.open();
    const flight call = begin(*with, tool, "1");
    with->notify_cancelled(R"({"reason":"no id"})");
    with->notify_cancelled("{}");
    with->fence();
    if (const auto trouble = disturbed(*with, call, t)) return fail("a cancel without requestId: " + *trouble);
    with->fence();
    return pass("a cancel without requestId touched nothing");
}

finding ids_match_exactly(const trial& t) {
    expect_notification(t);
    const slow_tool& tool = timed_tool(t);
    const auto with = t.open();
    // Each pair: a call, and the id of a cancel that is not its own.
    struct pair {
        std::string_view call;
        std::string_view cancel;
    };
    constexpr std::array<pair, 4> pairs{pair{"71", R"("71")"}, pair{R"("72")", "72"}, pair{"73", "73.9"},
                                        pair{"9007199254740993", "9007199254740992"}};
    std::vector<flight> calls;
    calls.reserve(pairs.size());
    for (const pair& each : pairs) calls.push_back(begin(*with, tool, std::string(each.call)));
    for (const pair& each : pairs) with->cancel(each.cancel, "not yours");
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (const auto trouble = disturbed(*with, calls[i], t)) {
            return fail("the cancel of " + std::string(pairs[i].cancel) + " or an id that is not exact: " + *trouble);
        }
    }
    with->fence();
    return pass(R"(1 is not "1", 73.9 is not 73, 2^53 + 1 is not 2^53; each id came back as it was)");
}

finding reason_is_data(const trial& t) {
    expect_notification(t);
    const slow_tool& tool = some_slow_tool(t);
    const auto with = t.open();
    const flight call = begin(*with, tool, "1");
    const std::string mark = "andon-check-forged";
    const std::string reason = "stop\n" + mark + "\x1b[31m\x07" + std::string(200'000, 'r');
    with->cancel("1", reason);
    with->fence();
    const auto logged = [&] { return with->log().value_or("").find(mark) != std::string::npos; };
    with->wait(logged, milliseconds(700));
    const std::string log = with->log().value_or("");
    if (log.find('\n' + mark) != std::string::npos)
        return fail("a line of the reason stands in the log as a line of its own");
    if (log.find(mark + "\x1b") != std::string::npos)
        return fail("control characters of the reason are in the log as they came");
    if (log.find(std::string(100'000, 'r')) != std::string::npos)
        return fail("a reason of 200 kB is in the log, whole");
    const bool seen = logged();
    return pass("a reason of 200 kB with control characters: the server answers on" +
                std::string(seen ? ", and its log shows them as text" : ""));
}

}  // namespace andon::check
