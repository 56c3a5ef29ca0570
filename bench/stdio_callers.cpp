#include "stdio_callers.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "messages.hpp"

namespace andon::bench {

double echo_many(stdio_session& in, std::int64_t calls, const std::function<void()>& midway) {
    constexpr std::int64_t window = 64;
    const auto first = in.next_id;
    in.next_id += calls;
    std::string lines;
    std::vector<std::size_t> ends{0};
    for (std::int64_t i = 0; i < calls; ++i) {
        lines += echo_call(first + i) + "\n";
        ends.push_back(lines.size());
    }
    std::vector<bool> answered(static_cast<std::size_t>(calls));
    std::int64_t answers = 0;
    std::int64_t sent = 0;
    in.client.on_response([&](const response& answer) {
        if (!answer.familiar) expect_echo(answer.line);
        const auto id = answer.id;
        const auto index = static_cast<std::size_t>(id - first);
        if (id < first || id >= first + sent || answered[index]) throw std::runtime_error("an id answered twice");
        answered[index] = true;
        if (++answers == calls / 2 && midway) midway();
    });
    const auto send_more = [&] {
        const auto upto = std::min(calls, answers + window);
        if (upto == sent) return;
        const auto begin = ends[static_cast<std::size_t>(sent)];
        in.client.send(std::string_view(lines).substr(begin, ends[static_cast<std::size_t>(upto)] - begin));
        sent = upto;
    };
    const auto begun = now_ns();
    in.client.wait_for(std::to_string(calls) + " echoes", 60, [&] {
        send_more();
        return answers == calls;
    });
    const auto seconds = static_cast<double>(now_ns() - begun) / 1e9;
    in.client.on_response({});
    return seconds;
}

double echo_rate(stdio_session& in) {
    double rate = 0;
    for (double warm = 0; warm < 1.0;) {
        constexpr std::int64_t chunk = 2000;
        const double seconds = echo_many(in, chunk);
        warm += seconds;
        rate = chunk / seconds;
    }
    const auto calls = std::clamp<std::int64_t>(static_cast<std::int64_t>(2 * rate), 1000, 2'000'000);
    return static_cast<double>(calls) / echo_many(in, calls);
}

std::vector<double> echo_times(stdio_session& in, int calls) {
    std::vector<double> times;
    for (int i = 0; i < calls; ++i) {
        const auto id = in.next_id++;
        const auto line = echo_call(id) + "\n";
        std::int64_t answered = 0;
        in.client.on_response([&](const response& answer) {
            if (answer.id != id) return;
            expect_echo(answer.line);
            answered = now_ns();
        });
        const auto begun = now_ns();
        in.client.send(line);
        in.client.wait_for("an echo", 10, [&] { return answered != 0; });
        in.client.on_response({});
        times.push_back(static_cast<double>(answered - begun) / 1e3);
    }
    return times;
}

}  // namespace andon::bench
