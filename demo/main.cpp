// andon_demo: a few hundred requests, most ways to stop them, and a check that none was both answered and cancelled.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "bell.hpp"
#include "live_table.hpp"
#include "now.hpp"
#include "options.hpp"
#include "report.hpp"
#include "signals.hpp"
#include "terminal.hpp"
#include "workload.hpp"

namespace demo {
namespace {

using namespace std::chrono_literals;

constexpr int exit_check_failed = 1;
constexpr int exit_bad_usage = 2;
constexpr int exit_interrupted = 130;

std::string progress_line(const workload& at_work, andon::duration since_start) {
    const auto& book = at_work.book();
    return "andon demo: " + show(since_start) + ", " + std::to_string(at_work.table().size()) + " in flight, " +
           std::to_string(at_work.pool().waiting()) + " of them waiting, " + std::to_string(book.ended()) + " of " +
           std::to_string(book.planned()) + " ended\n";
}

int run(const options& asked) {
    bell wake;
    signal_watch signals(wake);
    const bool terminal = on_terminal();
    const palette paint(terminal && colours_wanted());

    const auto begin = now();
    workload at_work(asked, wake);
    {
        std::optional<live_table> live;
        if (terminal && asked.show == display::live) live.emplace(paint);
        const andon::duration frame_time = live ? andon::duration(80ms) : andon::duration(1s);
        auto next_frame = live ? begin : begin + frame_time;

        while (!at_work.over()) {
            const auto signal = signals.take();
            if (signal == SIGTSTP) {
                if (live) live->clear();
                std::raise(SIGSTOP);
            } else if (signal != 0 && !at_work.interrupted()) {
                at_work.interrupt();
            }

            const auto time = now();
            at_work.table().expire(time);
            if (time >= next_frame) {
                if (live) live->draw(at_work, time - begin);
                if (!live && asked.show != display::json) print(progress_line(at_work, time - begin));
                next_frame = time + frame_time;
            }
            wake.wait_until(std::min(next_frame, at_work.table().next_wake().value_or(next_frame)));
        }
    }

    const auto result = make_report(at_work, asked, now() - begin);
    print(asked.show == display::json ? to_json(result) : to_text(result, paint));
    if (result.interrupted) return exit_interrupted;
    return result.ok() ? 0 : exit_check_failed;
}

int start(std::span<char* const> arguments) {
    const auto parsed = parse_options(arguments);
    if (const auto* wrong = std::get_if<bad_usage>(&parsed)) {
        std::fprintf(stderr, "andon_demo: %s\nTry 'andon_demo --help'.\n", wrong->message.c_str());
        return exit_bad_usage;
    }
    const auto& asked = std::get<options>(parsed);
    if (asked.help) {
        print(usage());
        return 0;
    }
    return run(asked);
}

}  // namespace
}  // namespace demo

int main(int count, char** arguments) {
    try {
        const std::span<char* const> all(arguments, static_cast<std::size_t>(count));
        return demo::start(all.subspan(all.empty() ? 0 : 1));
    } catch (const std::exception& wrong) {
        std::fprintf(stderr, "andon_demo: %s\n", wrong.what());
        return demo::exit_check_failed;
    }
}
