#include "gateway/translation/merged_subscription.hpp"

#include "andon/core/visible_text.hpp"
#include "andon/wire/envelope.hpp"
#include "gateway/translation/errors.hpp"
#include "gateway/translation/raw_json.hpp"

namespace andon::gateway {
namespace {

answer done() { return {"{}"}; }

listen_step at_once(gateway::reply reply) {
    listen_step step;
    step.reply = std::move(reply);
    return step;
}

}  // namespace

merged_subscription::merged_subscription(const announced_changes& offered, std::string raw_meta)
    : offered_(offered), raw_meta_(std::move(raw_meta)) {
    wanted_.tools = offered.tools;
    wanted_.prompts = offered.prompts;
    wanted_.resources = offered.resources;
}

listen_step::listen merged_subscription::attempt_for(why because, const std::string& uri) {
    raw_writer params;
    params.add("_meta", raw_meta_).add("notifications", wanted_.written());
    asked_.emplace(++last_, attempt{because, uri});
    return {.number = last_, .raw_params = std::move(params).done(), .after_pause = false};
}

listen_step merged_subscription::begin() {
    listen_step step;
    if (last_ == 0 && !wanted_.empty()) step.begin = attempt_for(why::lists);
    return step;
}

listen_step merged_subscription::subscribe(const std::string& uri) {
    if (!offered_.updates) {
        return at_once(refusal{error_code::method_not_found, "Method not found: the server has no subscriptions"});
    }
    if (uri.size() > longest_uri) return at_once(refusal{error_code::invalid_params, "the URI is too long"});
    if (agreed_.uris.contains(uri) && wanted_.uris.contains(uri)) return at_once(done());
    if (wanted_.uris.size() >= most_uris) {
        return at_once(refusal{error_code::invalid_params, "there are " + std::to_string(most_uris) +
                                                               " subscriptions already: unsubscribe from some first"});
    }
    wanted_.uris.insert(uri);
    listen_step step;
    step.begin = attempt_for(why::subscribe, uri);
    return step;
}

listen_step merged_subscription::unsubscribe(const std::string& uri) {
    if (wanted_.uris.erase(uri) == 0) return at_once(done());
    listen_step step;
    if (!wanted_.empty()) {
        step.begin = attempt_for(why::unsubscribe);
        return step;
    }
    // Requests that wait still are answered by what becomes of theirs.
    step.reply = done();
    if (counts_ != 0) step.end.push_back(std::exchange(counts_, 0));
    agreed_ = {};
    return step;
}

gateway::reply merged_subscription::reply_to(const attempt& made) const {
    if (made.because != why::subscribe || !wanted_.uris.contains(made.uri) || agreed_.uris.contains(made.uri)) {
        return done();
    }
    return refusal{error_code::invalid_params, "the server does not tell of changes of " + visible_text(made.uri, 256)};
}

/// One that it will not be told of. What the server agreed to before stays.
void merged_subscription::forget(const attempt& made) {
    if (made.because == why::subscribe && !agreed_.uris.contains(made.uri)) wanted_.uris.erase(made.uri);
}

listen_step merged_subscription::acknowledged(std::uint64_t number, std::string_view raw_params) {
    const auto found = asked_.find(number);
    if (found == asked_.end()) return {};
    const attempt made = std::move(found->second);
    asked_.erase(found);
    listen_step step;
    if (number < counts_) {
        step.end.push_back(number);  // a newer one was quicker
    } else {
        try {
            agreed_ = listen_filter::read(raw_params, most_uris);
        } catch (const translation_fault&) {
            agreed_ = {};  // it agreed to nothing that could be read
        }
        if (counts_ != 0) step.end.push_back(counts_);
        counts_ = number;
        if (std::exchange(missed_, false)) step.tell = agreed_.all_changes();
    }
    if (made.because == why::subscribe || made.because == why::unsubscribe) {
        step.reply = reply_to(made);
        forget(made);
    }
    // All that was wanted when it was asked for may be unwanted by now.
    if (wanted_.empty() && counts_ != 0) {
        step.end.push_back(std::exchange(counts_, 0));
        agreed_ = {};
    }
    return step;
}

listen_step merged_subscription::ended(std::uint64_t number, std::string_view raw_error) {
    listen_step step;
    const auto found = asked_.find(number);
    if (found != asked_.end()) {
        const attempt made = std::move(found->second);
        asked_.erase(found);
        forget(made);
        if (made.because == why::unsubscribe) step.reply = done();
        if (made.because == why::subscribe) {
            std::string message = "the server ended the subscription before it began";
            if (!raw_error.empty()) {
                const std::string error = error_for_legacy("resources/subscribe", raw_error);
                message = "the server refused the subscription: " +
                          string_from_json(raw_object(error, "the error").at("message")).value_or("");
            }
            step.reply = refusal{error_code::internal_error, std::move(message)};
        }
        // A server that refuses to tell of its lists is not asked again. What was lost before is, without the new one.
        const bool ours = made.because == why::lists || made.because == why::again;
        if (ours ? !raw_error.empty() : counts_ != 0 || !missed_) return step;
    } else if (number != counts_ || number == 0) {
        return step;
    } else {
        counts_ = 0;
        agreed_ = {};
    }
    missed_ = true;
    if (!asked_.empty() || wanted_.empty()) return step;
    step.begin = attempt_for(why::again);
    step.begin->after_pause = true;
    return step;
}

listen_step merged_subscription::begin_again() {
    for (const auto& [number, made] : asked_) forget(made);
    const bool begun = last_ != 0;
    asked_.clear();
    agreed_ = {};
    counts_ = 0;
    listen_step step;
    if (!begun || wanted_.empty()) return step;
    missed_ = true;
    step.begin = attempt_for(why::again);
    return step;
}

bool merged_subscription::wants(std::string_view method, std::string_view raw_params) const {
    return wanted_.wants(method, raw_params);
}

}  // namespace andon::gateway
