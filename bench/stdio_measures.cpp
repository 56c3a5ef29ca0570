#include "stdio_measures.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "messages.hpp"
#include "stdio_callers.hpp"

namespace andon::bench {
namespace {

// Parks `count` calls and waits until every handler has started.
class parked_calls {
public:
    parked_calls(stdio_session& in, std::int64_t count) : in_(&in), first_(in.next_id), count_(count) {
        in.next_id += count;
        std::string lines;
        for (std::int64_t i = 0; i < count; ++i) lines += park_call(first_ + i) + "\n";
        std::int64_t started = 0;
        in.client.on_mark([&](const mark& said) { started += said.cancelled ? 0 : 1; });
        refuse_answers();
        in.client.send(lines);
        in.client.wait_for(std::to_string(count) + " handlers to start", 120, [&] { return started == count; });
        in.client.on_mark({});
    }

    // Milliseconds from the first write to the last handler that noticed.
    double cancel_all() {
        std::string lines;
        for (std::int64_t i = 0; i < count_; ++i) lines += cancel(first_ + i) + "\n";
        std::int64_t noticed = 0;
        std::int64_t last = 0;
        in_->client.on_mark([&](const mark& said) {
            if (!said.cancelled) return;
            ++noticed;
            last = std::max(last, said.at);
        });
        // Some SDKs answer what was cancelled. That is their affair here.
        in_->client.on_response({});
        const auto begun = now_ns();
        in_->client.send(lines);
        in_->client.wait_for(std::to_string(count_) + " handlers to notice their cancel", 120,
                             [&] { return noticed == count_; });
        in_->client.on_mark({});
        return static_cast<double>(last - begun) / 1e6;
    }

private:
    void refuse_answers() {
        in_->client.on_response([](const response& answer) {
            throw std::runtime_error("park answered without a cancel: " + std::string(answer.line.substr(0, 300)));
        });
    }

    stdio_session* in_;
    std::int64_t first_;
    std::int64_t count_;
};

void hold_core_for(std::int64_t nanoseconds) {
    const auto until = now_ns() + nanoseconds;
    while (now_ns() < until) continue;
}

// Microseconds from right before the write of one cancel until the handler noticed, by its own word. The server has
// had a millisecond of quiet before it: Stop is pressed on a call that waits, not on one that is just being started.
double cancel_latency(stdio_session& in) {
    const auto id = in.next_id++;
    const auto call = park_call(id) + "\n";
    const auto notification = cancel(id) + "\n";
    bool started = false;
    std::int64_t noticed = 0;
    in.client.on_mark([&](const mark& said) {
        if (said.key != id) return;
        if (said.cancelled) noticed = said.at;
        started = true;
    });
    in.client.send(call);
    in.client.wait_for("a handler to start", 10, [&] { return started; });
    hold_core_for(1'000'000);
    const auto begun = now_ns();
    in.client.send(notification);
    in.client.wait_for("a handler to notice its cancel", 10, [&] { return noticed != 0; });
    in.client.on_mark({});
    return static_cast<double>(noticed - begun) / 1e3;
}

}  // namespace

readings measure_echo(const peer& server, const placement& cores) {
    served_stdio_session in(server, false, cores);
    return {{"echo/rate", echo_rate(in)}};
}

readings measure_cancel(const peer& server, const placement& cores) {
    served_stdio_session in(server, true, cores);
    for (int i = 0; i < 200; ++i) cancel_latency(in);
    std::vector<double> times;
    const auto enough = now_ns() + 20'000'000'000;
    while (times.size() < 1000 && (times.size() < 100 || now_ns() < enough)) times.push_back(cancel_latency(in));
    return {{"cancel/median", median(times)},
            {"cancel/p99", percentile(times, 0.99)},
            {"cancel/samples", static_cast<double>(times.size())}};
}

readings measure_parks(const peer& server, const placement& cores) {
    served_stdio_session in(server, true, cores);
    echo_many(in, 100);
    settle();
    const auto rest = static_cast<double>(in.process.memory()) / mib;
    parked_calls parks(in, 10'000);
    settle();
    const auto memory = static_cast<double>(in.process.memory()) / mib;
    return {{"parks/rest", rest}, {"parks/memory", memory}, {"parks/cancel", parks.cancel_all()}};
}

readings measure_crowd(const peer& server, const placement& cores) {
    served_stdio_session in(server, true, cores);
    constexpr int calls = 5000;
    echo_times(in, calls);
    const auto idle = median(echo_times(in, calls));
    parked_calls parks(in, 100'000);
    settle();
    const auto memory = static_cast<double>(in.process.memory()) / mib;
    const auto busy = median(echo_times(in, calls));
    return {{"crowd/idle", idle},
            {"crowd/busy", busy},
            {"crowd/ratio", busy / idle},
            {"crowd/memory", memory},
            {"crowd/cancel", parks.cancel_all()}};
}

readings measure_start(const peer& server, const placement& cores) {
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) {
        const auto begun = now_ns();
        served_stdio_session in(server, false, cores);
        echo_many(in, 1);
        times.push_back(static_cast<double>(now_ns() - begun) / 1e6);
    }
    return {{"start/first", median(times)}};
}

}  // namespace andon::bench
