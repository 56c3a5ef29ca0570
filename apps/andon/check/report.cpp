#include "check/report.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "andon/core/visible_text.hpp"

namespace andon::check {
namespace {

using app::colour;
using app::fit;
using app::palette;

constexpr std::size_t longest_name = 120;

colour colour_of(result what) {
    switch (what) {
        case result::pass: return colour::green;
        case result::fail: return colour::red;
        case result::differs: return colour::yellow;
        case result::not_observable: return colour::dim;
    }
    return colour::plain;
}

std::string server_line(const known_server& known) {
    const std::string name = known.name.empty() ? "a server without a name" : visible_text(known.name, longest_name);
    return name + ' ' + visible_text(known.version, longest_name) + ", " + std::string(to_string(known.speaks));
}

std::string tools_line(const known_server& known) {
    std::string words;
    const auto add = [&](std::string_view what, const std::optional<slow_tool>& tool) {
        if (tool) words += (words.empty() ? "" : ", ") + std::string(what) + " '" + visible_text(tool->name, 60) + "'";
    };
    add("ends by itself:", known.timed);
    add("lasts:", known.lasting);
    for (const slow_tool& each : known.showing) {
        add(each.children ? "has children:" : each.processor ? "keeps a processor busy:" : "sends progress:", each);
    }
    add("asks:", known.asking);
    add("makes tasks:", known.task);
    return words.empty() ? visible_text(known.why_not, 200) : words;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : visible_text(text, 2000)) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += c;
        }
    }
    return out;
}

json::value tool_or_null(const std::optional<slow_tool>& tool) {
    return tool ? json::value(json::string(tool->name)) : json::value();
}

}  // namespace

std::string verdict(const checked_server& what) {
    const auto number = [&](result r) { return std::to_string(what.count(r)); };
    const std::string counts = number(result::pass) + " pass, " + number(result::fail) + " fail, " +
                               number(result::differs) + " differ, " + number(result::not_observable) +
                               " not observable";
    return std::string(in_words(what.verdict())) + " (" + counts + ")";
}

std::string_view in_words(check_verdict what) noexcept {
    switch (what) {
        case check_verdict::pass: return "PASS: no rule of the specification that can be seen is broken";
        case check_verdict::fail: return "FAIL: a rule of the specification is broken";
        case check_verdict::nothing_seen: break;
    }
    return "NOTHING SEEN: no rule could be observed";
}

colour colour_of(check_verdict what) noexcept {
    if (what == check_verdict::nothing_seen) return colour::yellow;
    return what == check_verdict::fail ? colour::red : colour::green;
}

std::string as_text(const checked_server& what, const target& server, const report_options& how) {
    const palette paint(how.colours);
    std::string out = paint(colour::bold, visible_text(server.in_words(), 300)) + '\n';
    constexpr std::size_t id = 8;
    constexpr std::size_t level = 12;
    constexpr std::size_t shown = 16;
    for (const known_server& known : what.known) {
        const era which = era_of(known.speaks);
        out += '\n' + paint(colour::bold, server_line(known)) + '\n' + paint(colour::dim, tools_line(known)) + "\n\n";
        for (const checked_rule& rule : what.rules) {
            if (rule.which != which) continue;
            const std::size_t left = how.columns > id + level + shown + 20 ? how.columns - id - level - shown : 0;
            const std::string& evidence = rule.found.evidence;
            out += fit(rule.id, id) + fit(rule.level, level) +
                   paint(colour_of(rule.found.what), fit(to_string(rule.found.what), shown)) +
                   (left == 0 ? evidence : fit(evidence, left)) + '\n';
        }
    }
    for (const auto& [which, why] : what.not_spoken) {
        out += '\n' + std::string(to_string(which)) + " era: not spoken (" + why + ")\n";
    }
    return out + '\n' + paint(colour_of(what.verdict()), verdict(what)) + '\n';
}

std::string as_json(const checked_server& what, const target& server) {
    json::array servers;
    for (const known_server& known : what.known) {
        servers.push_back(json::object{{"era", to_string(era_of(known.speaks))},
                                       {"revision", to_string(known.speaks)},
                                       {"name", known.name},
                                       {"version", known.version},
                                       {"tools",
                                        {{"ends", tool_or_null(known.timed)},
                                         {"lasts", tool_or_null(known.lasting)},
                                         {"asks", tool_or_null(known.asking)},
                                         {"task", tool_or_null(known.task)}}}});
    }
    json::array rules;
    for (const checked_rule& rule : what.rules) {
        rules.push_back(json::object{{"id", rule.id},
                                     {"era", to_string(rule.which)},
                                     {"level", rule.level},
                                     {"rule", rule.rule},
                                     {"result", to_string(rule.found.what)},
                                     {"evidence", rule.found.evidence},
                                     {"ms", rule.took.count()}});
    }
    json::array unspoken;
    for (const auto& [which, why] : what.not_spoken) {
        unspoken.push_back(json::object{{"era", to_string(which)}, {"why", why}});
    }
    const json::object all{{"schema", 1},
                           {"server", server.in_words()},
                           {"transport", server.over_http() ? "http" : "stdio"},
                           {"eras", std::move(servers)},
                           {"notSpoken", std::move(unspoken)},
                           {"rules", std::move(rules)},
                           {"counts",
                            {{"pass", what.count(result::pass)},
                             {"fail", what.count(result::fail)},
                             {"differs", what.count(result::differs)},
                             {"notObservable", what.count(result::not_observable)}}},
                           {"verdict", to_string(what.verdict())}};
    return json::serialize(all) + '\n';
}

std::string as_junit(const checked_server& what, const target& server) {
    std::string cases;
    int skipped = 0;
    milliseconds total{};
    const auto seconds = [](milliseconds time) { return std::to_string(static_cast<double>(time.count()) / 1000); };
    for (const checked_rule& rule : what.rules) {
        total += rule.took;
        cases += R"(  <testcase classname="andon.check.)" + std::string(to_string(rule.which)) + R"(" name=")" +
                 rule.id + ' ' + escaped(rule.rule) + R"(" time=")" + seconds(rule.took) + "\">";
        const std::string words = escaped(rule.found.evidence);
        if (rule.found.what == result::fail) {
            cases += R"(<failure type=")" + rule.level + R"(" message=")" + words + "\"/>";
        } else if (rule.found.what == result::pass) {
            cases += "<system-out>" + words + "</system-out>";
        } else {
            ++skipped;
            cases += R"(<skipped message=")" + std::string(to_string(rule.found.what)) + ": " + words + "\"/>";
        }
        cases += "</testcase>\n";
    }
    return R"(<?xml version="1.0" encoding="UTF-8"?>)"
           "\n<testsuite name=\"andon check " +
           escaped(server.in_words()) + R"(" tests=")" + std::to_string(what.rules.size()) + R"(" failures=")" +
           std::to_string(what.broken()) + R"(" errors="0" skipped=")" + std::to_string(skipped) + R"(" time=")" +
           seconds(total) + "\">\n" + cases + "</testsuite>\n";
}

std::string as_markdown(const checked_server& what, const target& server) {
    const auto cell = [](std::string_view text) {
        std::string out;
        for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
        return out;
    };
    std::string out;
    for (const known_server& known : what.known) {
        out += "**" + server_line(known) + ", " + (server.over_http() ? "Streamable HTTP" : "stdio") + "**\n\n" +
               "| rule | level | result | evidence |\n|---|---|---|---|\n";
        for (const checked_rule& rule : what.rules) {
            if (rule.which != era_of(known.speaks)) continue;
            out += "| " + rule.id + " | " + rule.level + " | " + std::string(to_string(rule.found.what)) + " | " +
                   cell(rule.found.evidence) + " |\n";
        }
        out += '\n';
    }
    for (const auto& [which, why] : what.not_spoken) {
        out += "The " + std::string(to_string(which)) + " era is not spoken: " + cell(why) + ".\n\n";
    }
    return out + "**" + verdict(what) + "**\n";
}

std::string list_of_probes(const report_options& how) {
    const palette paint(how.colours);
    std::string out = paint(colour::bold, fit("rule", 8) + fit("legacy", 12) + fit("modern", 10) + fit("over", 12) +
                                              "what it is, and what the probe does") +
                      '\n';
    for (const probe& each : all_probes()) {
        const std::string_view where = each.transports == over::both   ? "stdio, http"
                                       : each.transports == over::http ? "http"
                                                                       : "stdio";
        out += fit(each.id, 8) + fit(each.legacy.empty() ? "-" : each.legacy, 12) +
               fit(each.modern.empty() ? "-" : each.modern, 10) + fit(where, 12) + std::string(each.rule) + '\n' +
               std::string(42, ' ') + paint(colour::dim, each.does) + '\n';
    }
    return out;
}

}  // namespace andon::check
