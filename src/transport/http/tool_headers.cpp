#include "transport/http/tool_headers.hpp"

#include "andon/core/visible_text.hpp"
#include "andon/wire/message.hpp"

namespace andon::detail {

const std::vector<param_header>* tool_headers::of(const std::string& tool) const {
    const auto found = tools_.find(tool);
    return found == tools_.end() ? nullptr : &found->second;
}

std::optional<std::string> tool_headers::learn(const envelope& answer, const warning& warn) {
    auto result = object_from_json(answer.raw_result);
    json::value* const listed = result ? result->if_contains("tools") : nullptr;
    if (listed == nullptr || !listed->is_array()) return std::nullopt;
    json::array offered;
    const json::array& all = listed->get_array();
    for (const json::value& tool : all) {
        const json::value* const name = tool.is_object() ? tool.get_object().if_contains("name") : nullptr;
        const json::value* const schema = tool.is_object() ? tool.get_object().if_contains("inputSchema") : nullptr;
        if (name != nullptr && name->is_string() && schema != nullptr && schema->is_object()) {
            const std::string known(name->get_string());
            param_headers found = read_param_headers(schema->get_object());
            if (!found.error.empty()) {
                warn("the tool " + visible_text(known, 128) + " is left out: " + visible_text(found.error, 256));
                tools_.erase(known);
                continue;
            }
            if (found.all.empty()) {
                tools_.erase(known);
            } else if (tools_.size() < most_tools || tools_.contains(known)) {
                tools_[known] = std::move(found.all);
            }
        }
        offered.push_back(tool);
    }
    if (offered.size() == all.size()) return std::nullopt;
    *listed = std::move(offered);
    return result_message(answer.raw_id, json_text(*result));
}

}  // namespace andon::detail
