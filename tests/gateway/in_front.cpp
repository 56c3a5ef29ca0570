#include "gateway/in_front.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <sstream>

#include "apps/andon_process.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

revision spoken_by(hosted how) { return how == hosted::modern_gateway ? revision::v2026_07_28 : revision::v2025_11_25; }

std::string configuration(const in_front_settings& what) {
    std::string argv = what.command.empty() ? MISBEHAVING_SERVER : what.command;
    std::string text = "[servers.s]\npath = \"/mcp\"\ncommand = [\"" + argv + '"';
    for (const std::string& each : what.arguments) text += ", \"" + each + '"';
    return text + "]\n" + what.keys + '\n' + what.tables;
}

relayed put_in_front(hosted how, const own_folder& folder, const in_front_settings& what) {
    const words options{"--config", folder.write("andon.toml", configuration(what))};
    if (how == hosted::wrap) {
        return relayed::through(front_door::wrap, spoken_by(how), folder, {}, joined(options, {"--server", "s"}),
                                opened::later);
    }
    return relayed::through(front_door::gateway, spoken_by(how), folder, {}, options, opened::later);
}

std::string text_in(const json::object& from, std::string_view key) {
    const json::value* const found = from.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

}  // namespace

std::string name_of(hosted how) {
    switch (how) {
        case hosted::wrap: return "wrap";
        case hosted::legacy_gateway: return "legacy_gateway";
        case hosted::modern_gateway: break;
    }
    return "modern_gateway";
}

in_front::in_front(hosted how, const in_front_settings& what) : how_(how), with_(put_in_front(how, folder_, what)) {}

json::object in_front::answer(std::string_view raw_id) {
    const std::string said = with_.host->answer(raw_id);
    if (said.empty()) throw std::runtime_error("no answer to " + std::string(raw_id));
    return json::parse(said).as_object();
}

std::string in_front::asked(std::string_view tool, std::string_view raw_arguments) {
    const std::string id = "\"asked " + std::to_string(++asked_) + '"';
    call(id, tool, raw_arguments);
    const json::object said = answer(id);
    return said.contains("result") ? text_of(said) : json::serialize(said);
}

void in_front::expect_silence(std::string_view raw_id) {
    switch (how_) {
        case hosted::wrap:
            EXPECT_EQ(asked("echo", R"({"text":"alive"})"), "alive");  // whatever was to come has come before that
            EXPECT_EQ(andon().answers(raw_id), 0);
            return;
        case hosted::legacy_gateway:
            // HTTP-3: the stream ends, with that error or with nothing.
            for (const std::string& each : over_http().unheard_to_the_end(raw_id)) {
                const json::object said = json::parse(each).as_object();
                if (said.contains("id")) {
                    EXPECT_EQ(code_of(said), -32800);
                }
            }
            return;
        case hosted::modern_gateway: return;  // the host has closed it, which is the cancel
    }
}

in_front::beginning in_front::began(std::string_view key) {
    std::istringstream from(andon().mark("began", key));
    beginning found{};
    from >> found.pid >> found.id;
    return found;
}

std::vector<pid_t> in_front::started() {
    constexpr std::string_view before = "@started ";
    std::vector<pid_t> all;
    for (const std::string& line : andon().log_lines(before)) {
        all.push_back(static_cast<pid_t>(std::stol(line.substr(line.find(before) + before.size()))));
    }
    return all;
}

std::vector<process_watch> in_front::children(std::string_view key) {
    std::istringstream from(andon().mark("children", key));
    std::vector<process_watch> all;
    for (pid_t pid = 0; from >> pid;) all.emplace_back(pid);
    return all;
}

json::object in_front::event(std::string_view event, std::string_view tool) {
    const std::string name = R"("event":")" + std::string(event) + '"';
    const std::string of = R"("tool":")" + std::string(tool) + '"';
    std::string line;
    andon().wait_until([&] { return !(line = andon().log_line_with({name, of})).empty(); }, name + " of " + of);
    return json::parse(line).as_object();
}

std::string in_front::figures() const {
    http_client connection(with_.gateway->port());
    connection.write(http_message("GET", {}, {}, "/metrics"));
    EXPECT_EQ(connection.head().status, 200);
    return connection.body();
}

json::array in_front::in_flight() const {
    return json::parse(run_andon({"ps", "--json"}, {}, at_home_in(folder_)).out).as_array();
}

json::array in_front::servers() const {
    return json::parse(run_andon({"ps", "--servers", "--json"}, {}, at_home_in(folder_)).out).as_array();
}

json::object in_front::shown(std::string_view tool, std::string_view state) const {
    json::object found;
    EXPECT_TRUE(eventually([&] {
        for (const json::value& each : in_flight()) {
            if (text_in(each.as_object(), "tool") != tool || text_in(each.as_object(), "state") != state) continue;
            found = each.as_object();
            return true;
        }
        return false;
    })) << tool
        << " is not " << state << " but " << json::serialize(in_flight());
    return found;
}

std::vector<json::object> in_front::entries(std::string_view tool) const {
    std::vector<json::object> all;
    std::istringstream lines(run_andon({"log", "--json", "-n", "1000"}, {}, at_home_in(folder_)).out);
    for (std::string line; std::getline(lines, line);) {
        json::object each = json::parse(line).as_object();
        if (text_in(each, "tool") == tool) all.push_back(std::move(each));
    }
    return all;
}

json::object in_front::entry(std::string_view tool, const std::function<bool(const json::object&)>& is) const {
    std::vector<json::object> all;
    const json::object* found = nullptr;
    EXPECT_TRUE(eventually([&] {
        all = entries(tool);
        const auto first = is ? std::ranges::find_if(all, is) : all.begin();
        if (first == all.end()) return false;
        found = &*first;
        return true;
    })) << "no entry of "
        << tool << " that is as it should be among " << all.size();
    return found != nullptr ? *found : json::object();
}

}  // namespace andon
