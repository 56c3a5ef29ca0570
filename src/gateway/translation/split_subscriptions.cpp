#include "gateway/translation/split_subscriptions.hpp"

#include "andon/wire/message.hpp"
#include "gateway/translation/meta.hpp"
#include "gateway/translation/raw_json.hpp"

namespace andon::gateway {

subscription_step::request split_subscriptions::to_server(const std::string& uri, bool subscribe) {
    raw_writer params;
    params.add("uri", json_quoted(uri));
    return {uri, subscribe, {subscribe ? "resources/subscribe" : "resources/unsubscribe", std::move(params).done()}};
}

told split_subscriptions::on_stream(std::uint64_t number, const subscription& of, const notification& what) {
    const raw_object params(what.raw_params, "params");
    raw_writer meta;
    meta.add(meta_key::subscription_id, of.raw_id);
    add_meta_of_neither(params.at("_meta"), meta);
    raw_writer to;
    to.add("_meta", std::move(meta).done());
    for (const raw_member& member : params.members()) {
        if (!member.is("_meta")) to.add(member);
    }
    return {number, {what.method, std::move(to).done()}};
}

void split_subscriptions::acknowledge_if_complete(std::uint64_t number, subscription& one, subscription_step& step) {
    if (one.waits_for != 0 || std::exchange(one.acknowledged, true)) return;
    raw_writer params;
    params.add("notifications", one.filter.written());
    step.tell.push_back(on_stream(number, one, {"notifications/subscriptions/acknowledged", std::move(params).done()}));
}

subscription_step split_subscriptions::listen(std::uint64_t number, std::string_view raw_id,
                                              std::string_view raw_params) try {
    subscription_step step;
    subscription one{std::string(raw_id), listen_filter::read(raw_params, most_uris).within(offered_)};
    if (resources_.size() + one.filter.uris.size() > most_uris_of_all) {
        step.refused = refusal{error_code::internal_error, "too many resources are subscribed to: try again later"};
        return step;
    }
    for (const std::string& uri : one.filter.uris) {
        resource& about = resources_[uri];
        about.listeners.insert(number);
        if (about.agreed) continue;
        ++one.waits_for;
        if (std::exchange(about.asked, true)) continue;
        step.requests.push_back(to_server(uri, true));
    }
    const auto [place, fresh] = subscriptions_.insert_or_assign(number, std::move(one));
    acknowledge_if_complete(number, place->second, step);
    return step;
} catch (const translation_fault& fault) {
    subscription_step step;
    step.refused = refusal{error_code::invalid_params, fault.what()};
    return step;
}

subscription_step split_subscriptions::answered(const std::string& uri, bool agreed) {
    subscription_step step;
    const auto found = resources_.find(uri);
    if (found == resources_.end() || !found->second.asked) return step;
    resource& about = found->second;
    about.asked = false;
    const bool waited_for = !std::exchange(about.agreed, agreed);
    for (const std::uint64_t number : about.listeners) {
        subscription& one = subscriptions_.at(number);
        if (!agreed) one.filter.uris.erase(uri);
        if (waited_for && !one.acknowledged) --one.waits_for;
        acknowledge_if_complete(number, one, step);
    }
    if (agreed && about.listeners.empty()) step.requests.push_back(to_server(uri, false));
    if (!agreed || about.listeners.empty()) resources_.erase(found);
    return step;
}

subscription_step split_subscriptions::end(std::uint64_t number) {
    subscription_step step;
    const auto found = subscriptions_.find(number);
    if (found == subscriptions_.end()) return step;
    for (const std::string& uri : found->second.filter.uris) {
        const auto place = resources_.find(uri);
        resource& about = place->second;
        about.listeners.erase(number);
        if (!about.listeners.empty() || about.asked) continue;
        step.requests.push_back(to_server(uri, false));
        resources_.erase(place);
    }
    subscriptions_.erase(found);
    return step;
}

subscription_step split_subscriptions::begin_again() {
    subscription_step step;
    for (auto place = resources_.begin(); place != resources_.end();) {
        if (place->second.listeners.empty()) {
            place = resources_.erase(place);
            continue;
        }
        place->second.asked = true;
        step.requests.push_back(to_server(place->first, true));
        ++place;
    }
    for (const auto& [number, one] : subscriptions_) {
        if (!one.acknowledged) continue;
        for (const notification& each : one.filter.all_changes()) step.tell.push_back(on_stream(number, one, each));
    }
    return step;
}

std::vector<told> split_subscriptions::change(std::string_view method, std::string_view raw_params) const {
    std::vector<told> all;
    for (const auto& [number, one] : subscriptions_) {
        if (!one.acknowledged || !one.filter.wants(method, raw_params)) continue;
        all.push_back(on_stream(number, one, {std::string(method), std::string(raw_params)}));
    }
    return all;
}

}  // namespace andon::gateway
