#include "stdio_measures.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "messages.hpp"
#include "stdio_client.hpp"

namespace andon::bench {
namespace {

class session {
public:
    session(const peer& server, bool marks, const placement& cores)
        : process(server.command, marks, cores), client(process, how_to_wait(cores)) {
        client.initialize();
    }

    server_process process;
    stdio_client client;
    std::int64_t next_id = 1;
};

// Sixty-four in flight until all are answered, each exactly once. Returns the seconds that it took.
double echo_many(session& in, std::int64_t calls) {
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
        ++answers;
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

// The median of the microseconds for an echo, one at a time.
double echo_latency(session& in, int calls) {
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
    return median(times);
}

// Parks `count` calls and waits until every handler has started.
class parked_calls {
public:
    parked_calls(session& in, std::int64_t count) : in_(&in), first_(in.next_id), count_(count) {
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

    session* in_;
    std::int64_t first_;
    std::int64_t count_;
};

void hold_core_for(std::int64_t nanoseconds) {
    const auto until = now_ns() + nanoseconds;
    while (now_ns() < until) continue;
}

// Microseconds from right before the write of one cancel until the handler noticed, by its own word. The server has
// had a millisecond of quiet before it: Stop is pressed on a call that waits, not on one that is just being started.
double cancel_latency(session& in) {
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
    session in(server, false, cores);
    // A second of warming up, for the compilers at run time, that also tells how many calls are two seconds' worth.
    double rate = 0;
    for (double warm = 0; warm < 1.0;) {
        constexpr std::int64_t chunk = 2000;
        const double seconds = echo_many(in, chunk);
        warm += seconds;
        rate = chunk / seconds;
    }
    const auto calls = std::clamp<std::int64_t>(static_cast<std::int64_t>(2 * rate), 1000, 2'000'000);
    return {{"echo/rate", static_cast<double>(calls) / echo_many(in, calls)}};
}

readings measure_cancel(const peer& server, const placement& cores) {
    session in(server, true, cores);
    for (int i = 0; i < 200; ++i) cancel_latency(in);
    std::vector<double> times;
    const auto enough = now_ns() + 20'000'000'000;
    while (times.size() < 1000 && (times.size() < 100 || now_ns() < enough)) times.push_back(cancel_latency(in));
    return {{"cancel/median", median(times)},
            {"cancel/p99", percentile(times, 0.99)},
            {"cancel/samples", static_cast<double>(times.size())}};
}

readings measure_parks(const peer& server, const placement& cores) {
    session in(server, true, cores);
    echo_many(in, 100);
    settle();
    const auto rest = static_cast<double>(in.process.memory()) / mib;
    parked_calls parks(in, 10'000);
    settle();
    const auto memory = static_cast<double>(in.process.memory()) / mib;
    return {{"parks/rest", rest}, {"parks/memory", memory}, {"parks/cancel", parks.cancel_all()}};
}

readings measure_crowd(const peer& server, const placement& cores) {
    session in(server, true, cores);
    constexpr int calls = 5000;
    echo_latency(in, calls);
    const auto idle = echo_latency(in, calls);
    parked_calls parks(in, 100'000);
    settle();
    const auto memory = static_cast<double>(in.process.memory()) / mib;
    const auto busy = echo_latency(in, calls);
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
        session in(server, false, cores);
        echo_many(in, 1);
        times.push_back(static_cast<double>(now_ns() - begun) / 1e6);
    }
    return {{"start/first", median(times)}};
}

}  // namespace andon::bench
