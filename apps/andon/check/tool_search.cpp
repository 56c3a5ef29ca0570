#include "check/tool_search.hpp"

#include <algorithm>
#include <atomic>
#include <boost/json/serialize.hpp>
#include <thread>

#include "andon/core/visible_text.hpp"
#include "gateway/config/nearest_word.hpp"

namespace andon::check {
namespace {

constexpr std::size_t most_candidates = 10;
constexpr milliseconds first_look{300};
constexpr milliseconds second_look{400};
constexpr int most_pages = 50;

std::vector<json::object> all_tools(session& with) {
    std::vector<json::object> tools;
    std::string cursor;
    for (int page = 0; page < most_pages; ++page) {
        json::object params;
        if (!cursor.empty()) params["cursor"] = cursor;
        const json::object said = with.ask("tools/list", std::move(params));
        const json::value* const listed = find(said, {"result", "tools"});
        if (listed == nullptr || !listed->is_array()) break;
        for (const json::value& each : listed->get_array()) {
            if (each.is_object()) tools.push_back(each.get_object());
        }
        cursor = text_at(said, {"result", "nextCursor"});
        if (cursor.empty()) break;
    }
    return tools;
}

const slow_tool* first(const std::vector<slow_tool>& all, bool slow_tool::*what) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const slow_tool& t) { return t.*what; });
    return found == all.end() ? nullptr : &*found;
}

class search {
public:
    search(const target& server, era which, const search_options& how)
        : server_(server),
          how_(how),
          session_{.speaks = which == era::modern ? newest_modern : newest_legacy,
                   .patience = how.patience,
                   .handshake = how.handshake} {}

    known_server run() {
        {
            const auto first = server_.open(session_);
            known_.speaks = first->speaks();
            known_.capabilities = first->capabilities();
            const bool modern = first->modern();
            const json::value* const info = modern
                                                ? find(first->hello(), {"_meta", "io.modelcontextprotocol/serverInfo"})
                                                : first->hello().if_contains("serverInfo");
            if (info != nullptr && info->is_object()) {
                known_.name = text_at(info->get_object(), {"name"});
                known_.version = text_at(info->get_object(), {"version"});
            }
            tools_ = all_tools(*first);
        }
        std::vector<slow_tool> tried = candidates();
        if (tried.empty()) return std::move(known_);
        try_all(tried);
        choose(tried);
        find_task();
        return std::move(known_);
    }

private:
    std::vector<slow_tool> candidates() {
        std::vector<slow_tool> chosen;
        if (!how_.tool.empty()) {
            const auto found = std::find_if(tools_.begin(), tools_.end(),
                                            [&](const json::object& t) { return text_at(t, {"name"}) == how_.tool; });
            if (found == tools_.end()) {
                std::vector<std::string> names;
                std::string all;
                for (const json::object& each : tools_) {
                    names.emplace_back(text_at(each, {"name"}));
                    (all += all.empty() ? "" : ", ") += names.back();
                }
                throw wrong_question("the server has no tool '" + visible_text(how_.tool, 80) + "'; it has " +
                                     (all.empty() ? "none" : visible_text(all, 400)) +
                                     gateway::did_you_mean(how_.tool, names));
            }
            chosen.push_back(slow_tool_from(*found));
            if (how_.arguments) {
                chosen.back() = slow_tool{.name = how_.tool, .fixed = *how_.arguments};
            }
            return chosen;
        }
        const auto best = [&](int (*score)(const json::object&), std::size_t most) {
            std::vector<json::object> ranked = tools_;
            std::erase_if(ranked, [&](const json::object& t) { return score(t) == 0; });
            std::stable_sort(ranked.begin(), ranked.end(),
                             [&](const json::object& a, const json::object& b) { return score(a) > score(b); });
            if (ranked.size() > most) ranked.resize(most);
            return ranked;
        };
        for (const json::object& each : best(slowness, most_candidates)) chosen.push_back(slow_tool_from(each));
        for (const json::object& each : best(curiosity, 3)) {
            const std::string name = text_at(each, {"name"});
            if (std::none_of(chosen.begin(), chosen.end(), [&](const slow_tool& t) { return t.name == name; })) {
                chosen.push_back(slow_tool_from(each));
            }
        }
        if (chosen.empty()) {
            known_.why_not = "none of its " + std::to_string(tools_.size()) +
                             " tools looks slow: name one with --tool, and arguments that make it so with --args";
        }
        return chosen;
    }

    void try_all(std::vector<slow_tool>& tried) {
        std::atomic<std::size_t> next{0};
        const auto work = [&] {
            for (std::size_t i = next++; i < tried.size(); i = next++) {
                try {
                    look_at(tried[i]);
                } catch (const std::exception&) {
                    tried[i].name.clear();  // a server that dies of a call is no good to look at its cancel
                }
            }
        };
        std::vector<std::jthread> threads;
        for (int i = 1; i < (server_.starts() ? how_.jobs : 1); ++i) threads.emplace_back(work);
        work();
    }

    /// Leaves the name empty where it does not take its time.
    void look_at(slow_tool& tool) const {
        const auto with = server_.open(session_);
        const auto idle = with->processes();
        with->call("1", tool.name, tool.arguments(how_.lasting));
        with->wait([&] { return !with->answers("1").empty(); }, first_look);
        if (!with->answers("1").empty() && tool.adjustable() && tool.per_millisecond < 1 &&
            tool.per_millisecond > 1e-4) {
            tool.per_millisecond = 1;  // it may have meant milliseconds
            return look_at(tool);
        }
        tool.asks = !with->questions().empty();
        if (!with->answers("1").empty()) {
            if (!tool.asks) tool.name.clear();
            return;
        }
        const auto before = with->processes();
        with->listen(second_look);
        const auto after = with->processes();
        tool.progress = !with->progress("1").empty();
        if (idle && before && after) {
            tool.children = after->processes() > idle->processes();
            tool.used = after->used_since(*before);
            tool.processor = tool.used > second_look / 20;  // on a busy machine it does not get more
        }
        with->cancel("1");
        if (!with->answers("1").empty()) tool.name.clear();
        if (tool.asks || tool.name.empty()) return;
        if (tool.adjustable() || how_.arguments) find_end(tool);
    }

    /// Whether it ends by itself, and when.
    void find_end(slow_tool& tool) const {
        const auto with = server_.open(session_);
        const auto began = std::chrono::steady_clock::now();
        with->call("1", tool.name, tool.arguments(how_.timed));
        const milliseconds limit = how_.arguments ? std::chrono::seconds(15) : how_.timed + how_.patience;
        const json::object* const said = with->answer("1", limit);
        const auto took = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - began);
        if (said != nullptr && result_of(*said) != nullptr && took > first_look) {
            tool.takes = how_.arguments ? took : std::max(took, how_.timed);
        }
        with->cancel("1");
    }

    void choose(std::vector<slow_tool>& tried) {
        std::erase_if(tried, [](const slow_tool& t) { return t.name.empty(); });
        std::vector<slow_tool> lasting;
        for (const slow_tool& each : tried) {
            if (each.asks) {
                if (!known_.asking) known_.asking = each;
                continue;
            }
            const bool lasts = each.adjustable() || each.takes.count() == 0 || each.takes > std::chrono::seconds(8);
            // One that sends progress shows more of itself.
            const bool better = !known_.timed || (each.progress && !known_.timed->progress);
            if (better && each.takes.count() > 0) known_.timed = each;
            if (lasts && !known_.lasting) known_.lasting = each;
            if (lasts) lasting.push_back(each);
        }
        const auto show = [&](const slow_tool& tool) {
            const bool there = std::any_of(known_.showing.begin(), known_.showing.end(),
                                           [&](const slow_tool& t) { return t.name == tool.name; });
            if (!there) known_.showing.push_back(tool);
        };
        for (const auto what : {&slow_tool::progress, &slow_tool::children}) {
            if (const slow_tool* const found = first(lasting, what)) show(*found);
        }
        // Of those that use a processor the one that uses it most: a server that has just begun does so by itself.
        const auto busiest = std::max_element(lasting.begin(), lasting.end(),
                                              [](const slow_tool& a, const slow_tool& b) { return a.used < b.used; });
        for (slow_tool& each : known_.showing) each.processor = each.processor && each.name == busiest->name;
        if (busiest != lasting.end() && busiest->processor) show(*busiest);
        if (!known_.timed && !known_.lasting && known_.why_not.empty()) {
            known_.why_not = "no tool that was tried is still running after " + std::to_string(first_look.count()) +
                             " ms: name one with --tool, and arguments that make it slow with --args";
        }
    }

    void find_task() {
        const bool modern = era_of(known_.speaks) == era::modern;
        const bool offered = modern
                                 ? find(known_.capabilities, {"extensions", "io.modelcontextprotocol/tasks"}) != nullptr
                                 : find(known_.capabilities, {"tasks", "requests", "tools", "call"}) != nullptr;
        if (!offered) return;
        std::vector<json::object> ranked;
        for (const json::object& each : tools_) {
            const std::string name = text_at(each, {"name"});
            if (!how_.tool.empty() && name != how_.tool) continue;
            const std::string support = text_at(each, {"execution", "taskSupport"});
            if (!modern && support != "optional" && support != "required") continue;
            if (slowness(each) > 0) ranked.push_back(each);
        }
        // Under 2026-07-28 only the call tells which tool makes tasks; the name may give a hint.
        const auto likely = [](const json::object& t) {
            return (text_at(t, {"name"}).find("task") != std::string::npos ? 2 : 0) +
                   (slow_tool_from(t).adjustable() ? 1 : 0);
        };
        std::stable_sort(ranked.begin(), ranked.end(),
                         [&](const json::object& a, const json::object& b) { return likely(a) > likely(b); });
        if (ranked.size() > 5) ranked.resize(5);
        for (const json::object& each : ranked) {
            slow_tool tool = slow_tool_from(each);
            if (how_.arguments) tool = slow_tool{.name = tool.name, .fixed = *how_.arguments};
            session_options how = session_;
            how.tasks_extension = true;
            const auto with = server_.open(how);
            with->call("1", tool.name, tool.arguments(how_.lasting), {.progress = false, .task = !modern});
            const json::object* const said = with->answer("1", how_.patience);
            if (said == nullptr) continue;
            const std::string status =
                modern ? text_at(*said, {"result", "status"}) : text_at(*said, {"result", "task", "status"});
            if (status != "working" && status != "input_required") continue;
            const std::string id =
                modern ? text_at(*said, {"result", "taskId"}) : text_at(*said, {"result", "task", "taskId"});
            (void)with->ask("tasks/cancel", {{"taskId", id}});
            known_.task = tool;
            return;
        }
    }

    const target& server_;
    const search_options& how_;
    session_options session_;
    std::vector<json::object> tools_;
    known_server known_;
};

}  // namespace

const slow_tool* known_server::showing_progress() const { return first(showing, &slow_tool::progress); }
const slow_tool* known_server::showing_processor() const { return first(showing, &slow_tool::processor); }
const slow_tool* known_server::showing_children() const { return first(showing, &slow_tool::children); }

known_server get_to_know(const target& server, era which, const search_options& how) {
    return search(server, which, how).run();
}

}  // namespace andon::check
