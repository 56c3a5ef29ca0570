#include "check/http_probes.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "andon/wire/error.hpp"

namespace andon::check {
namespace {

using clock = std::chrono::steady_clock;

http_session& over_http(session& with) {
    auto* const found = dynamic_cast<http_session*>(&with);
    if (found == nullptr) throw unobservable("not over HTTP");
    return *found;
}

/// A tool whose work is seen without its stream.
const slow_tool* visible_tool(const trial& t) {
    return t.known.showing_children() != nullptr ? t.known.showing_children() : t.known.showing_processor();
}

std::string no_view(const trial& t) {
    return t.server.starts() || t.server.pid > 0
               ? "no tool that was tried shows by processor time or child processes that it works"
               : "the processes of a server at a URL cannot be seen: give --pid, or --url and its command";
}

}  // namespace

finding disconnect_cancels(const trial& t) {
    const slow_tool* const tool = visible_tool(t);
    if (tool == nullptr) return not_observable(no_view(t));
    std::string words;
    for (const bool with_progress : {true, false}) {
        // Without a progress token nothing is sent before the answer, and the server may mean to answer in JSON.
        const auto with = t.open();
        http_session& http = over_http(*with);
        slow_tool quiet = *tool;
        quiet.progress = with_progress && tool->progress;
        const signs found = watch_stop(*with, quiet, "1", false, [&] { http.drop("1"); });
        if (!found.any_before) continue;
        if (found.any_after) return fail("the client left and the work goes on; " + tool->name + ": " + found.words);
        words = found.words;
    }
    if (words.empty()) return not_observable("no call could be seen working");
    return pass("the client left and the work stopped; " + tool->name + ": " + words);
}

namespace {

/// Cuts a call off, and comes back for its answer: at once, and again when it should have ended. Null: its stream
/// cannot be picked up, or not well enough to hear of it.
const json::object* answer_after_cut(http_session& with, const slow_tool& tool) {
    const flight call = begin(with, tool, "1");
    const http_exchange* const stream = with.exchange("1");
    std::string last = stream == nullptr ? "" : stream->last_event_id();
    if (last.empty()) return nullptr;
    with.drop("1");
    with.listen(milliseconds(200));
    for (const milliseconds time : {call.takes + milliseconds(500), milliseconds(1500)}) {
        with.resume("1", last);
        const http_exchange* const resumed = with.exchange("1");
        if (const json::object* const said = with.answer("1", time)) return said;
        if (!resumed->last_event_id().empty()) last = resumed->last_event_id();
        with.drop("1");
    }
    return nullptr;
}

}  // namespace

finding disconnect_is_no_cancel(const trial& t) {
    if (t.known.timed) {
        const auto with = t.open();
        if (const json::object* const said = answer_after_cut(over_http(*with), *t.known.timed)) {
            return result_of(*said) != nullptr
                       ? pass(
                             "the client was cut off and picked the stream up again: the call had run on to its result")
                       : fail("the client was cut off and picked the stream up again: it is answered with " +
                              in_words(*said));
        }
    }
    const slow_tool* const tool = visible_tool(t);
    if (tool == nullptr) return not_observable("no answer can be picked up after a disconnect; " + no_view(t));
    const auto with = t.open();
    http_session& http = over_http(*with);
    const signs found = watch_stop(*with, *tool, "1", false, [&] { http.drop("1"); });
    if (!found.any_before) return not_observable("no call could be seen working");
    with->cancel("1", "andon check");
    if (!found.any_after)
        return fail("the client was cut off and the work stopped; " + tool->name + ": " + found.words);
    return pass("the client was cut off and the work went on; " + tool->name + ": " + found.words);
}

finding stream_does_not_hang(const trial& t) {
    const slow_tool& tool = lasting_tool(t);
    const auto with = t.open();
    const flight call = begin(*with, tool, "1", milliseconds(60'000));
    const auto cancelled = clock::now();
    with->cancel("1", "andon check");
    const bool over = with->wait([&] { return with->stream_ended("1"); }, std::min(t.patience, milliseconds(3000)));
    if (!over) return fail("the stream of the cancelled call is still open after " + in_ms(clock::now() - cancelled));
    const auto said = with->answers("1");
    return pass("the stream ended " + in_ms(clock::now() - cancelled) + " after the cancel, " +
                (said.empty() ? "silently" : "with " + in_words(said.front()->message)));
}

finding without_sessions(const trial& t) {
    const auto with = t.open();
    if (!over_http(*with).session_id().empty()) return not_observable("the server has sessions");
    const slow_tool& tool = timed_tool(t);
    const flight call = begin(*with, tool, "1");
    with->cancel("1", "andon check");
    const bool told_apart = !t.server.headers.empty();
    outlast(*with, call, t);
    const auto said = with->answers("1");
    const bool ran = !said.empty() && result_of(said.front()->message) != nullptr;
    if (told_apart) {
        return ran ? fail("a posted cancel did not find its request, though a header says who asks")
                   : pass("a posted cancel found its request");
    }
    return ran ? pass("a posted cancel does nothing where nothing tells callers apart")
               : fail("a posted cancel stopped the request, though nothing tells callers apart: anybody could");
}

finding faults_are_answered(const trial& t) {
    const auto with = t.open();
    http_session& http = over_http(*with);
    const auto body = [](std::string_view version, std::string_view method) {
        return R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) +
               R"(","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":")" + std::string(version) +
               R"(","io.modelcontextprotocol/clientInfo":{"name":"andon-check","version":"1"},)" +
               R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
    };
    const auto headers = [](std::string_view version, std::string_view method) {
        header_list all{{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};
        if (!version.empty()) all.emplace_back("MCP-Protocol-Version", version);
        if (!method.empty()) all.emplace_back("Mcp-Method", method);
        return all;
    };
    constexpr std::string_view ours = "2026-07-28";
    constexpr std::string_view unknown = "2199-01-01";
    struct fault {
        std::string_view words;
        header_list headers;
        std::string body;
        unsigned status;
        int code;
    };
    const std::vector<fault> faults{
        {"header and body name different versions", headers("2025-11-25", "tools/list"), body(ours, "tools/list"), 400,
         error_code::header_mismatch},
        {"a version that does not exist", headers(unknown, "tools/list"), body(unknown, "tools/list"), 400,
         error_code::unsupported_version},
        {"no Mcp-Method", headers(ours, ""), body(ours, "tools/list"), 400, error_code::header_mismatch},
        {"Mcp-Method names another method", headers(ours, "prompts/list"), body(ours, "tools/list"), 400,
         error_code::header_mismatch},
        {"an unknown method", headers(ours, "andon/none"), body(ours, "andon/none"), 404, error_code::method_not_found},
    };
    std::string wrong;
    for (const fault& each : faults) {
        const http_exchange& got = http.exchange_with("POST", each.headers, each.body);
        boost::system::error_code failed;
        const json::value said = json::parse(got.body(), failed);
        const int code = !failed && said.is_object() ? code_of(said.get_object()) : 0;
        if (got.status() == each.status && code == each.code) continue;
        wrong += (wrong.empty() ? "" : "; ") + std::string(each.words) + ": " + std::to_string(got.status()) + " and " +
                 std::to_string(code) + " instead of " + std::to_string(each.status) + " and " +
                 std::to_string(each.code);
    }
    if (!wrong.empty()) return fail(wrong);
    return pass("versions, headers and methods that are wrong: 400 with -32020 and -32022, 404 with -32601");
}

}  // namespace andon::check
