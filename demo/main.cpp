// Starts a server, gives it work of every kind, presses Stop, and shows what became of each: when the caller was free,
// when the work noticed, and whether a byte came after it.
#include <andon/client/client.hpp>
#include <atomic>
#include <boost/json/serialize.hpp>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <vector>

#include "marks.hpp"
#include "terminal.hpp"

namespace {

using andon::call_status;
using demo::align;
using demo::colour;
using demo::fit;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr const char* usage = R"(usage: andon_demo [--json] [--help]

Starts everything_server, gives it work of every kind, stops it, and shows what became of it.

  --json    one JSON object a line, for scripts
  --help    this text

Exit status: 0 when everything that was stopped stopped, 1 when not, 2 for a wrong command line.
)";

constexpr auto patience = 10s;

struct piece_of_work {
    std::string tool;
    std::string what;
    andon::json::object arguments;
    bool notices = true;  // its handler can see the cancel
};

const std::vector<piece_of_work> work{
    {"park", "a coroutine that waits, without a thread", {}},
    {"wait", "a coroutine that sleeps and reports progress", {{"ms", 60'000}, {"tick_ms", 5}}},
    {"spin", "a loop that keeps a processor busy", {{"ms", 60'000}}},
    {"child", "a shell with grandchildren, one in its own session", {{"seconds", 600}}},
    {"ask", "a question to the client's model", {}},
    {"block", "a thread that blocks, and cannot be woken", {{"ms", 300}}, false},
    {"wait_ignore", "a handler that ignores Stop and goes on sending", {{"ms", 300}, {"tick_ms", 5}}, false},
};

/// What became of one.
struct story {
    const piece_of_work* of;
    bool started = false;
    call_status status = call_status::completed;
    andon::duration until_free{};
    std::optional<andon::duration> until_noticed{};
    int after_the_cancel = 0;  // messages that reached the caller
    [[nodiscard]] bool good() const {
        return started && status == call_status::cancelled && after_the_cancel == 0 &&
               (until_noticed.has_value() || !of->notices);
    }
};

story stop_one(andon::client& client, demo::marks& marks, const piece_of_work& of) {
    story told{.of = &of};
    std::atomic<bool> stopped = false;
    std::atomic<int> late = 0;
    andon::json::object arguments = of.arguments;
    arguments["key"] = of.tool;
    auto pending = client.call_tool(of.tool, arguments, {.on_progress = [&](const andon::progress_update&) {
                                        if (stopped) ++late;
                                    }});
    told.started = marks.wait_for("start", of.tool, patience).has_value();
    const auto pressed = clock_type::now();
    pending.cancel("Stop");
    stopped = true;
    told.until_free = clock_type::now() - pressed;
    told.status = pending.get().status;
    const auto noticed = marks.wait_for(of.notices ? "cancel" : "end", of.tool, patience);
    if (noticed && of.notices) told.until_noticed = *noticed - pressed;
    static_cast<void>(client.call_tool("echo", {{"text", "still there?"}}).value());  // what was late has come by now
    told.after_the_cancel = late;
    return told;
}

void show(const story& told, const demo::palette& paint) {
    const std::string noticed = told.until_noticed ? demo::show(*told.until_noticed) : "never looks";
    const std::string after =
        told.after_the_cancel == 0 ? "silence" : std::to_string(told.after_the_cancel) + " messages";
    std::cout << paint(told.good() ? colour::green : colour::red, told.good() ? " ok   " : " WRONG") << ' '
              << fit(told.of->what, 52) << fit(demo::show(told.until_free), 12, align::right)
              << fit(noticed, 15, align::right) << "   " << paint(colour::dim, after) << '\n'
              << std::flush;
}

void show_json(const story& told) {
    andon::json::object line{{"tool", told.of->tool},
                             {"ok", told.good()},
                             {"outcome", to_string(told.status)},
                             {"caller_free_ns", std::chrono::nanoseconds(told.until_free).count()},
                             {"messages_after_cancel", told.after_the_cancel}};
    if (told.until_noticed) line["noticed_ns"] = std::chrono::nanoseconds(*told.until_noticed).count();
    std::cout << andon::json::serialize(line) << '\n' << std::flush;
}

/// Answers the server's question only when it is taken back: somebody thinks about it until then.
andon::json::object think(const andon::json::object&, const andon::cancel_token& token) {
    token.wait();
    token.throw_if_cancelled();
    return {};
}

int run(bool json) {
    demo::marks marks;
    andon::client_options options;
    options.name = "andon_demo";
    options.revisions = {andon::newest_legacy};  // in which a server asks by requests of its own
    options.on_stderr = [&](std::string_view piece) { marks.add(piece); };
    options.on_sampling = think;
    options.log = {};
    const auto beside = std::filesystem::canonical("/proc/self/exe").parent_path() / "everything_server";
    auto client = andon::client::spawn({.argv = {beside.string()}, .environment = {{"ANDON_MARKS", "1"}}}, options);

    const demo::palette paint(!json && demo::on_terminal() && demo::colours_wanted());
    if (!json) {
        std::cout << "One server, speaking " << to_string(client.speaks())
                  << ". Stop is pressed while each is at work.\n\n"
                  << paint(colour::bold, "       " + fit("the work", 52) + fit("caller free", 12, align::right) +
                                             fit("work noticed", 15, align::right) + "   after that")
                  << '\n';
    }
    bool all_good = true;
    for (const piece_of_work& each : work) {
        const story told = stop_one(client, marks, each);
        all_good = all_good && told.good();
        if (json) {
            show_json(told);
        } else {
            show(told, paint);
        }
    }
    const auto leaving = clock_type::now();
    client.close();
    if (!json) {
        std::cout << "\nThe server left in " << demo::show(clock_type::now() - leaving)
                  << ", with everything that it had started.\n"
                  << (all_good ? paint(colour::green, "Everything that was stopped stopped.")
                               : paint(colour::red, "Something did not stop."))
                  << '\n';
    }
    return all_good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
    bool json = false;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--help") == 0 || std::strcmp(argv[i], "-h") == 0) {
            std::cout << usage;
            return 0;
        }
        if (std::strcmp(argv[i], "--json") != 0) {
            std::cerr << "andon_demo: no such option: " << argv[i] << "\n\n" << usage;
            return 2;
        }
        json = true;
    }
    return run(json);
} catch (const std::exception& error) {
    std::cerr << "andon_demo: " << error.what() << '\n';
    return 1;
}
