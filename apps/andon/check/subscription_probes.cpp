// SUB: how a subscription of 2026-07-28 begins and ends.
#include <algorithm>
#include <boost/json/serialize.hpp>
#include <csignal>

#include "check/stdio_session.hpp"
#include "check/task_probes.hpp"

namespace andon::check {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::string_view acknowledged = "notifications/subscriptions/acknowledged";

/// What carries that subscription's id, or answers it.
std::vector<const heard*> of_subscription(const session& with, std::string_view raw_id, time_point since = {}) {
    const json::value id = id_of(raw_id);
    std::vector<const heard*> found;
    for (const heard& each : with.all()) {
        if (each.at < since) continue;
        const json::value* const its =
            find(each.message, {"params", "_meta", "io.modelcontextprotocol/subscriptionId"});
        const json::value* const answers = each.message.contains("method") ? nullptr : each.message.if_contains("id");
        if ((its != nullptr && *its == id) || (answers != nullptr && *answers == id)) found.push_back(&each);
    }
    return found;
}

json::object everything() {
    return {{"toolsListChanged", true}, {"promptsListChanged", true}, {"resourcesListChanged", true}};
}

/// Throws unobservable where the server has no subscriptions.
void subscribe(session& with, std::string_view raw_id, json::object filter, const trial& t) {
    with.request(raw_id, "subscriptions/listen", {{"notifications", std::move(filter)}});
    with.wait([&] { return !of_subscription(with, raw_id).empty() || with.stream_ended(raw_id); }, t.patience);
    const auto said = of_subscription(with, raw_id);
    if (said.empty()) throw unobservable("subscriptions/listen is not acknowledged: the server may have none");
    const json::object& first = said.front()->message;
    if (code_of(first) == -32601) throw unobservable("the server has no subscriptions");
}

}  // namespace

finding subscription_ends(const trial& t) {
    const auto with = t.open();
    subscribe(*with, R"("sub-1")", everything(), t);
    subscribe(*with, R"("sub-2")", everything(), t);
    with->cancel(R"("sub-1")");
    with->fence();
    const auto since = clock::now();
    with->listen(std::max(t.quiet, milliseconds(1000)));
    const auto late = of_subscription(*with, R"("sub-1")", since);
    if (!late.empty()) return fail("after its end came " + json::serialize(late.front()->message));
    for (const heard* const each : of_subscription(*with, R"("sub-1")")) {
        if (!each->message.contains("method"))
            return fail("a subscription that the client ended was answered with " + in_words(each->message));
    }
    if (with->stream_ended(R"("sub-2")")) return fail("the end of one subscription ended another");
    for (const heard* const each : of_subscription(*with, R"("sub-2")")) {
        if (!each->message.contains("method")) return fail("the end of one subscription ended another");
    }
    with->fence();
    return pass("nothing came after its end, no response, and another subscription lives on");
}

finding server_ends_subscription(const trial& t) {
    const auto with = t.open();
    subscribe(*with, R"("sub-1")", everything(), t);
    auto* const process = dynamic_cast<stdio_session*>(with.get());
    if (process == nullptr) return not_observable("only a server that andon starts on stdio can be made to leave");
    const auto since = clock::now();
    ::kill(process->pid(), SIGTERM);
    const auto told = [&] {
        const auto late = of_subscription(*with, R"("sub-1")", since);
        return std::any_of(late.begin(), late.end(), [](const heard* h) { return !h->message.contains("method"); }) ||
               !with->notifications("notifications/cancelled", since).empty();
    };
    try {
        with->wait(told, milliseconds(2000));
        with->listen(milliseconds(300));
    } catch (const server_gone&) {
        // It left: what it had to say is said.
    }
    std::string words;
    if (!with->notifications("notifications/cancelled", since).empty()) words = "the cancel notification";
    const auto late = of_subscription(*with, R"("sub-1")", since);
    if (std::any_of(late.begin(), late.end(), [](const heard* h) { return !h->message.contains("method"); })) {
        words += (words.empty() ? "" : " and ") + std::string("the completing response");
    }
    if (words.empty())
        return not_observable("asked to leave, by SIGTERM, the server goes without a word, and the transport with it");
    return pass("asked to leave, by SIGTERM, the server sends " + words);
}

finding subscription_is_orderly(const trial& t) {
    const auto with = t.open();
    subscribe(*with, "61", {{"toolsListChanged", true}}, t);
    subscribe(*with, R"("62")", json::object(), t);
    with->listen(t.quiet);
    for (const std::string_view raw_id : {"61", R"("62")"}) {
        const auto said = of_subscription(*with, raw_id);
        if (text_at(said.front()->message, {"method"}) != acknowledged) {
            return fail("the first message of subscription " + std::string(raw_id) + " is " +
                        json::serialize(said.front()->message));
        }
        const json::value* const agreed = find(said.front()->message, {"params", "notifications"});
        if (agreed == nullptr || !agreed->is_object())
            return fail("the acknowledgement does not say what was agreed on");
        for (const auto& [key, value] : agreed->get_object()) {
            const bool asked = raw_id == "61" && key == "toolsListChanged";
            if (!asked && value.is_bool() && value.get_bool())
                return fail("agreed on what was not asked for: " + std::string(key));
        }
    }
    for (const heard& each : with->all()) {
        const std::string method = text_at(each.message, {"method"});
        if (!method.ends_with("list_changed") && method != acknowledged) continue;
        if (find(each.message, {"params", "_meta", "io.modelcontextprotocol/subscriptionId"}) == nullptr) {
            return fail("a message of a subscription carries no subscription id: " + method);
        }
        if (method.ends_with("list_changed") && method != "notifications/tools/list_changed") {
            return fail("sent without having been asked for: " + method);
        }
    }
    return pass("acknowledged first, with the id in its own type, and no more than was asked for");
}

}  // namespace andon::check
