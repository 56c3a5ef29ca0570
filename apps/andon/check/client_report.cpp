#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "andon/core/visible_text.hpp"
#include "check/client_run.hpp"
#include "check/report.hpp"
#include "terminal.hpp"

namespace andon::check {

std::string client_as_text(const checked_client& what, bool colours) {
    const app::palette paint(colours);
    const auto era_of_all = what.rules.empty() ? era::legacy : what.rules.front().which;
    std::string out = paint(app::colour::bold, visible_text(what.name.empty() ? "a client" : what.name, 120)) + ", " +
                      std::string(to_string(era_of_all)) + " era, " + (what.over_http ? "Streamable HTTP" : "stdio") +
                      "\n\n";
    for (const checked_rule& each : what.rules) {
        constexpr std::array marks{app::colour::green, app::colour::red, app::colour::yellow, app::colour::dim};
        out += app::fit(each.id, 8) + app::fit(each.level, 12) +
               paint(marks[static_cast<std::size_t>(each.found.what)], app::fit(to_string(each.found.what), 16)) +
               each.found.evidence + '\n';
    }
    return out + '\n' + paint(colour_of(what.verdict()), in_words(what.verdict())) + '\n';
}

std::string client_as_json(const checked_client& what) {
    json::array rules;
    for (const checked_rule& each : what.rules) {
        rules.push_back(json::object{{"id", each.id},
                                     {"era", to_string(each.which)},
                                     {"level", each.level},
                                     {"rule", each.rule},
                                     {"result", to_string(each.found.what)},
                                     {"evidence", each.found.evidence}});
    }
    return json::serialize(json::object{{"schema", 1},
                                        {"client", what.name},
                                        {"transport", what.over_http ? "http" : "stdio"},
                                        {"rules", std::move(rules)},
                                        {"verdict", to_string(what.verdict())}}) +
           '\n';
}

std::optional<checked_client> client_from_json(std::string_view line) {
    boost::system::error_code failed;
    const json::value parsed = json::parse(json::string_view(line.data(), line.size()), failed);
    if (failed || !parsed.is_object()) return std::nullopt;
    checked_client made{.name = text_at(parsed.get_object(), {"client"}),
                        .over_http = text_at(parsed.get_object(), {"transport"}) == "http"};
    const json::value* const rules = parsed.get_object().if_contains("rules");
    if (rules == nullptr || !rules->is_array()) return std::nullopt;
    for (const json::value& each : rules->get_array()) {
        if (!each.is_object()) continue;
        const json::object& rule = each.get_object();
        const std::string found = text_at(rule, {"result"});
        result what = result::not_observable;
        for (const result one : {result::pass, result::fail, result::differs}) {
            if (found == to_string(one)) what = one;
        }
        made.rules.push_back({text_at(rule, {"id"}),
                              text_at(rule, {"level"}),
                              text_at(rule, {"era"}) == "modern" ? era::modern : era::legacy,
                              text_at(rule, {"rule"}),
                              {what, text_at(rule, {"evidence"})},
                              {}});
    }
    return made;
}

}  // namespace andon::check
