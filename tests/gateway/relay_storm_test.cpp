// A thousand calls at once, cancelled, killed and left at any moment: each has one outcome, the journal says the same
// of it as its host saw, and nothing is left behind.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "built_programs.hpp"
#include "gateway/listening_program.hpp"
#include "gateway/relay_hosts.hpp"

namespace andon {
namespace {

using testing::Contains;
using testing::IsEmpty;

constexpr auto legacy = revision::v2025_11_25;
constexpr auto modern = revision::v2026_07_28;
const int calls_at_once = sanitized ? 160 : 1'000;
constexpr int hosts = 8;

class dice {
public:
    explicit dice(unsigned seed) : engine_(seed) {}
    /// 0 to most - 1
    int operator()(int most) { return static_cast<int>(engine_() % static_cast<unsigned>(most)); }

private:
    std::mt19937 engine_;
};

/// ANDON_SEED, or another one each time.
unsigned seed() {
    const char* const given = std::getenv("ANDON_SEED");
    const unsigned chosen =
        given != nullptr ? static_cast<unsigned>(std::stoul(given)) : static_cast<unsigned>(std::random_device()());
    testing::Test::RecordProperty("seed", std::to_string(chosen));
    std::printf("ANDON_SEED=%u\n", chosen);
    return chosen;
}

/// What a host saw of one call.
enum class seen : std::uint8_t {
    result,
    error,       ///< and it had not cancelled
    no_answer,   ///< it had cancelled, or ended its session; or the error -32800 said so
    not_looked,  ///< it was gone before
};

/// By the host's id, as it was written.
class sightings {
public:
    void saw(const std::string& id, seen what) {
        const std::lock_guard lock(mutex_);
        EXPECT_TRUE(all_.emplace(id, what).second) << id << " has two outcomes";
    }
    [[nodiscard]] const std::map<std::string, seen>& all() const noexcept { return all_; }

private:
    std::mutex mutex_;
    std::map<std::string, seen> all_;
};

std::set<std::string> ends_for(seen what) {
    switch (what) {
        case seen::result: return {"completed"};
        case seen::error: return {"crashed", "refused"};
        case seen::no_answer: return {"cancelled", "disconnected"};
        case seen::not_looked: break;
    }
    return {"completed", "cancelled", "disconnected", "crashed", "refused"};
}

void expect_journal_agrees(const own_folder& folder, const sightings& hosts_saw) {
    std::map<std::string, std::string> journal;
    std::istringstream from(journal_in(folder));
    for (std::string line; std::getline(from, line);) {
        const json::object entry = json::parse(line).as_object();
        if (entry.at("method") != "tools/call") continue;
        const std::string id(entry.at("id").as_string());
        EXPECT_TRUE(journal.emplace(id, entry.at("end").as_string()).second) << "twice: " << line;
    }
    std::map<std::string, int> ends;
    for (const auto& [id, what] : hosts_saw.all()) {
        const auto entry = journal.find(id);
        ASSERT_NE(entry, journal.end()) << id << " is not in the journal";
        EXPECT_THAT(ends_for(what), Contains(entry->second))
            << id << ", of which its host saw " << static_cast<int>(what);
        ++ends[entry->second];
    }
    EXPECT_EQ(journal.size(), hosts_saw.all().size());
    for (const auto& [end, count] : ends) std::printf("%s: %d\n", end.c_str(), count);
}

/// With what they started, in any generation.
std::vector<pid_t> processes_below(pid_t root) {
    std::multimap<pid_t, pid_t> children;
    for (const auto& each : std::filesystem::directory_iterator("/proc")) {
        const std::string name = each.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const pid_t pid = static_cast<pid_t>(std::stol(name));
        children.emplace(state_and_parent(pid).second, pid);
    }
    std::vector<pid_t> all{root};
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto [first, last] = children.equal_range(all[i]);
        for (auto each = first; each != last; ++each) all.push_back(each->second);
    }
    all.erase(all.begin());
    return all;
}

/// The servers themselves, not what stands between.
std::vector<pid_t> servers_below(pid_t root) {
    std::vector<pid_t> all = processes_below(root);
    std::erase_if(all, [](pid_t pid) {
        std::error_code gone;
        return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", gone) !=
               built_program("everything_server");
    });
    return all;
}

void kill_one(pid_t andon, dice& roll) {
    const std::vector<pid_t> all = servers_below(andon);
    if (!all.empty()) ::kill(all[static_cast<std::size_t>(roll(static_cast<int>(all.size())))], SIGKILL);
}

class relay_storm : public testing::Test {
protected:
    relay_storm() { std::filesystem::create_directories(folder / "tmp"); }

    /// Nobody reads what its servers write to standard error, or each leaves it in a file.
    [[nodiscard]] words configured(const std::string& standard_error = "/dev/null") const {
        return {"--config", folder.write("andon.toml",
                                         "[journal]\nevery_call = true\n[log]\nlevel = \"error\"\n"
                                         "[servers.storm]\npath = \"/mcp\"\nrestart_first = \"20ms\"\n"
                                         "restart_most = \"50ms\"\ngrace = \"200ms\"\n"
                                         "command = [\"/bin/sh\", \"-c\", \"ANDON_MARKS=1 exec " +
                                             built_program("everything_server") + " 2>" + standard_error + "\"]\n")};
    }
    /// The keys that the server has marked so: its calls that began, or were told of their cancel.
    [[nodiscard]] static std::set<std::string> marked(const std::string& file, const std::string& what) {
        std::set<std::string> keys;
        std::ifstream from(file);
        for (std::string line; std::getline(from, line);) {
            std::istringstream words(line);
            std::string mark;
            std::string key;
            if (words >> mark >> key && mark == '@' + what) keys.insert(key);
        }
        return keys;
    }
    static std::string work(dice& roll, bool endless, const std::string& key = "-") {
        return R"({"ms":)" + std::to_string(endless ? 60'000 : roll(300)) + R"(,"tick_ms":50,"key":")" + key + "\"}";
    }
    void expect_nothing_left(const std::vector<process_watch>& processes) const {
        for (const process_watch& each : processes) EXPECT_TRUE(each.wait_for_end()) << each.pid();
        EXPECT_TRUE(!std::filesystem::exists(folder / "run") || std::filesystem::is_empty(folder / "run"));
        EXPECT_TRUE(std::filesystem::is_empty(folder / "tmp"));
        for (const auto& each : std::filesystem::directory_iterator(folder / "state")) {
            EXPECT_EQ(each.path().filename(), "journal.db");
        }
    }
    static std::vector<process_watch> watched(const std::vector<pid_t>& pids) {
        std::vector<process_watch> all;
        for (const pid_t each : pids) all.emplace_back(each);
        return all;
    }

    own_folder folder;
    own_variable temporary{"TMPDIR", (folder / "tmp").c_str()};
    sightings saw;
};

TEST_F(relay_storm, RCV_9_RCV_2_through_wrap) {
    dice roll(seed());
    const std::string marks = folder / "marks.";
    wrapped andon(legacy, folder, joined(configured(marks + "$$"), {"--server", "storm"}));
    andon.open();
    std::set<std::string> cancelled;
    std::set<std::string> endless_ones;
    std::set<std::string> owed;  // what nobody cancels, and has an end
    std::vector<std::string> ids;
    const auto begin = [&](int count) {
        for (int i = 0; i < count; ++i) {
            ids.push_back(std::to_string(ids.size()));
            const std::string meta = roll(4) == 0 ? R"("progressToken":)" + ids.back() : "";
            const bool endless = roll(4) == 0;
            andon.call(ids.back(), "wait", work(roll, endless, ids.back()), meta);
            (endless ? endless_ones : owed).insert(ids.back());
            if (roll(3) != 0) continue;
            // Any, or one that is likely in flight.
            const int among = static_cast<int>(roll(2) == 0 ? ids.size() : std::min<std::size_t>(ids.size(), 32));
            const std::string& victim = ids[ids.size() - 1 - static_cast<std::size_t>(roll(among))];
            andon.cancel(victim);
            cancelled.insert(victim);
            owed.erase(victim);
        }
    };
    std::size_t looked_at = 0;
    const auto all_answered = [&] {
        for (; looked_at < andon.lines().size(); ++looked_at) {
            const json::object message = json::parse(andon.lines()[looked_at]).as_object();
            if (message.contains("id")) owed.erase(json::serialize(message.at("id")));
        }
        return owed.empty();
    };
    const auto let_some_end = [&] {
        const int before = andon.heard("\"result\"");
        andon.wait_until([&] { return andon.heard("\"result\"") > before + calls_at_once / 16; }, "results");
    };
    begin(calls_at_once / 2);
    let_some_end();
    kill_one(andon.pid(), roll);
    begin(calls_at_once / 4);
    const std::string last = "\"last\"";
    andon.call(last, "echo", R"({"text":"of the next process, or too early for it"})");
    static_cast<void>(andon.answer(last));
    begin(calls_at_once / 4);
    let_some_end();
    kill_one(andon.pid(), roll);
    begin(calls_at_once / 8);
    // Once more with a process that is there, and that nobody kills.
    for (int i = 0; i < 2; ++i) {
        andon.wait_until(all_answered, "the answers to all calls that nobody cancelled");
        begin(calls_at_once / 8);
    }
    // What the servers were told to stop is what the host cancelled; and of that what would not end by itself is told.
    const std::string behind = "\"behind\"";
    andon.call(behind, "echo", R"({"text":"whatever was sent before it"})");
    static_cast<void>(andon.answer(behind));
    const auto servers = servers_below(andon.pid());
    ASSERT_EQ(servers.size(), 1U);
    const std::string its_marks = marks + std::to_string(servers.front());
    // Some that have surely begun: a slow server reads most calls together with their cancels, and begins none of them.
    constexpr std::size_t surely = 11;
    const std::size_t first = ids.size();
    for (std::size_t i = 0; i < surely; ++i) {
        ids.push_back(std::to_string(ids.size()));
        andon.call(ids.back(), "wait", work(roll, true, ids.back()));
        endless_ones.insert(ids.back());
    }
    EXPECT_TRUE(eventually([&] {
        const auto started = marked(its_marks, "start");
        return std::all_of(ids.begin() + static_cast<std::ptrdiff_t>(first), ids.end(),
                           [&](const std::string& id) { return started.contains(id); });
    }));
    for (std::size_t i = first; i < ids.size(); ++i) {
        andon.cancel(ids[i]);
        cancelled.insert(ids[i]);
    }
    std::set<std::string> untold;
    EXPECT_TRUE(eventually([&] {
        untold = marked(its_marks, "start");
        const auto told = marked(its_marks, "cancel");
        std::erase_if(untold, [&](const std::string& key) {
            return !cancelled.contains(key) || !endless_ones.contains(key) || told.contains(key);
        });
        return untold.empty();
    })) << untold.size()
        << " cancels are lost, as that of " << *untold.begin();
    for (const auto& each : std::filesystem::directory_iterator(folder.path())) {
        if (!each.path().string().starts_with(marks)) continue;
        for (const std::string& key : marked(each.path(), "cancel")) EXPECT_TRUE(cancelled.contains(key)) << key;
    }
    EXPECT_GE(marked(its_marks, "cancel").size(), surely);
    const auto left = watched(processes_below(andon.pid()));
    andon.close_input();
    EXPECT_EQ(andon.exit().code, 0);
    std::map<std::string, int> answers;
    std::map<std::string, bool> failed;
    for (const std::string& line : andon.lines()) {
        const json::object message = json::parse(line).as_object();
        if (!message.contains("id") || message.at("id") == "hello") continue;
        const std::string id = json::serialize(message.at("id"));
        ++answers[id];
        failed[id] = message.contains("error");
    }
    for (const std::string& id : joined(ids, {last, behind})) {
        EXPECT_LE(answers[id], 1) << id;
        // What the host did not cancel was in flight when it went.
        saw.saw(id, answers[id] == 0 ? seen::no_answer : failed[id] ? seen::error : seen::result);
    }
    EXPECT_GT(cancelled.size(), ids.size() / 8);
    expect_nothing_left(left);
    expect_journal_agrees(folder, saw);
}

TEST_F(relay_storm, RCV_2_a_host_that_was_killed_leaves_nothing_behind_wrap) {
    dice roll(seed());
    wrapped andon(legacy, folder, joined(configured(), {"--server", "storm"}));
    andon.open();
    for (int i = 0; i < calls_at_once; ++i) {
        andon.call(std::to_string(i), "wait", work(roll, roll(4) == 0), R"("progressToken":)" + std::to_string(i));
        saw.saw(std::to_string(i), seen::not_looked);
    }
    andon.line_with("\"result\"");
    const auto left = watched(processes_below(andon.pid()));
    andon.close_output();  // both, as the kernel closes them for the dead
    andon.close_input();
    EXPECT_EQ(andon.exit().code, 0);
    expect_nothing_left(left);
    expect_journal_agrees(folder, saw);
}

/// One host of the gateway: opens its calls, stops some of them, and looks what became of each.
class storming_host {
public:
    storming_host(const gateway_in_front& gateway, int number, unsigned seed, sightings& saw)
        : number_(number),
          roll_(seed + static_cast<unsigned>(number)),
          client_(gateway.caller(number % 2 == 0 ? legacy : modern)),
          saw_(&saw) {
        client_.how().connection.from = "127.0.0." + std::to_string(number + 2);
        client_.open();
    }
    ~storming_host() {
        if (!client_.modern() && !left_) end_session();
    }
    storming_host(const storming_host&) = delete;
    storming_host& operator=(const storming_host&) = delete;

    void begin(int count) {
        for (int i = 0; i < count; ++i) {
            const std::string id = '"' + std::to_string(number_) + '-' + std::to_string(streams_.size()) + '"';
            const bool endless = roll_(4) == 0;
            const std::string arguments =
                R"({"ms":)" + std::to_string(endless ? 60'000 : roll_(300)) + R"(,"tick_ms":50})";
            streams_.push_back(
                {id, client_.call(id, "wait", arguments, roll_(2) == 0 ? R"("progressToken":1)" : ""), endless});
        }
    }
    /// A third of them, each in its own way.
    void stop_some() {
        for (auto& each : streams_) {
            if (!each.connection || roll_(3) != 0) continue;
            if (!client_.modern() && roll_(4) != 0) {
                client_.cancel(each.id);
            } else {
                drop(each);
            }
        }
    }
    /// The session ends, or every connection.
    void leave() {
        left_ = true;
        if (!client_.modern()) {
            end_session();
        } else {
            for (auto& each : streams_) drop(each);
        }
    }
    /// To the end of each, where it still has one: what would go on forever is stopped first.
    void look() {
        for (auto& each : streams_) {
            if (!each.connection) continue;
            if (client_.modern() && each.endless) {
                drop(each);
                continue;
            }
            if (!client_.modern() && !left_ && (each.endless || roll_(4) == 0)) client_.cancel(each.id);
            const http_outcome end = outcome_of(*each.connection);
            int answers = 0;
            for (const http_event& event : end.events) {
                answers += event.data.find("\"result\"") != std::string::npos ||
                           event.data.find("\"error\"") != std::string::npos;
            }
            EXPECT_LE(answers, 1);
            const int code = end.message ? code_of(*end.message) : 0;
            saw_->saw(each.id, !end.message || code == -32800 ? seen::no_answer
                               : code != 0                    ? seen::error
                                                              : seen::result);
        }
    }

private:
    struct stream {
        std::string id;
        std::optional<http_client> connection;
        bool endless;
    };

    void end_session() const { EXPECT_EQ(client_.send(client_.delete_bytes()).head().status, 204); }
    void drop(stream& which) {
        if (!which.connection) return;
        if (roll_(2) == 0) which.connection->reset();
        which.connection.reset();
        saw_->saw(which.id, seen::not_looked);
    }
    int number_;
    dice roll_;
    http_caller client_;
    sightings* saw_;
    std::vector<stream> streams_;
    bool left_ = false;
};

TEST_F(relay_storm, RCV_9_RCV_2_through_the_gateway) {
    const unsigned chosen = seed();
    dice roll(chosen);
    gateway_in_front gateway(folder, configured());
    gateway.caller(modern).fence();
    ASSERT_TRUE(eventually([&] { return journal_in(folder).find("fence") != std::string::npos; }));
    const std::size_t before = gateway.descriptors();  // with the journal's
    std::atomic<int> begun = 0;
    {
        std::vector<std::unique_ptr<storming_host>> guests;
        for (int number = 0; number < hosts; ++number) {
            guests.push_back(std::make_unique<storming_host>(gateway, number, chosen, saw));
        }
        const auto storm = [&](int number) {
            storming_host& host = *guests[static_cast<std::size_t>(number)];
            try {
                host.begin(calls_at_once / hosts / 2);
                ++begun;
                host.stop_some();
                host.begin(calls_at_once / hosts / 2);
                if (number < 2) {
                    host.leave();
                } else {
                    host.stop_some();
                }
                host.look();
            } catch (const std::exception& error) {
                ADD_FAILURE() << "host " << number << ": " << error.what();
            }
        };
        std::vector<std::jthread> all;
        for (int number = 0; number < hosts; ++number) all.emplace_back(storm, number);
        for (int kills = 0; kills < 6; ++kills) {
            EXPECT_TRUE(eventually([&] { return begun > kills; }));
            kill_one(gateway.pid(), roll);
        }
    }
    EXPECT_EQ(saw.all().size(), static_cast<std::size_t>(calls_at_once / hosts / 2 * 2 * hosts));
    // The sessions' processes go, and the one that modern hosts share stays, or another in its place.
    EXPECT_TRUE(eventually([&] { return servers_below(gateway.pid()).size() == 1; }));
    EXPECT_TRUE(eventually([&] { return gateway.descriptors() <= before; }))
        << before << " descriptors before, and then " << gateway.descriptors();
    const auto left = watched(processes_below(gateway.pid()));
    ::kill(gateway.pid(), SIGTERM);
    EXPECT_EQ(gateway.exit().code, 0);
    saw.saw("\"fence\"", seen::result);
    expect_nothing_left(left);
    expect_journal_agrees(folder, saw);
}

}  // namespace
}  // namespace andon
