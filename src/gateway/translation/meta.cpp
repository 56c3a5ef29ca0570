#include "gateway/translation/meta.hpp"

#include <algorithm>
#include <array>

namespace andon::gateway {
namespace {

constexpr std::array of_one_era{meta_key::version,   meta_key::client_info,     meta_key::client_capabilities,
                                meta_key::log_level, meta_key::subscription_id, meta_key::server_info};

bool is_of_one_era(const raw_member& member) {
    return std::any_of(of_one_era.begin(), of_one_era.end(), [&](std::string_view key) { return member.is(key); });
}

}  // namespace

void add_meta_of_neither(std::string_view raw_meta, raw_writer& to) {
    for (const raw_member& member : raw_object(raw_meta, "_meta").members()) {
        if (!is_of_one_era(member)) to.add(member);
    }
}

void add_meta_of_request(std::string_view raw_meta, std::string_view raw_progress_token, raw_writer& to) {
    if (!raw_progress_token.empty()) to.add(meta_key::progress_token, raw_progress_token);
    for (const raw_member& member : raw_object(raw_meta, "_meta").members()) {
        if (!is_of_one_era(member) && !member.is(meta_key::progress_token)) to.add(member);
    }
}

std::string notification_params(std::string_view raw_params) {
    if (raw_params.empty()) return {};
    const raw_object params(raw_params, "params");
    raw_writer meta;
    add_meta_of_neither(params.at("_meta"), meta);
    raw_writer to;
    if (!meta.empty()) to.add("_meta", std::move(meta).done());
    for (const raw_member& member : params.members()) {
        if (!member.is("_meta")) to.add(member);
    }
    return to.empty() ? std::string() : std::move(to).done();
}

}  // namespace andon::gateway
