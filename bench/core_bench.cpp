// The figures of the core. What is on the clock in each is said in bench/RESULTS.md.
#include <array>
#include <atomic>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <exception>
#include <malloc.h>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "andon/core/cancel_callback.hpp"
#include "andon/core/cancel_source.hpp"
#include "andon/core/in_flight.hpp"
#include "figures.hpp"
#include "mutex_and_map.hpp"

namespace andon::bench {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::int64_t few = 1'000;
constexpr std::int64_t many = 1'000'000;

// Two sessions with `others` requests in flight in them together, numbered downwards from -1. What is measured is in
// the same sessions, numbered upwards.
class busy_table {
public:
    explicit busy_table(std::int64_t others) : table({.max_per_session = 1U << 21U}) {
        for (int i = 0; i < 2; ++i) mine.push_back(table.open_session());
        crowd_.reserve(static_cast<std::size_t>(others));
        for (std::int64_t i = 0; i < others; ++i) {
            auto& in = mine[static_cast<std::size_t>(i % 2)];
            crowd_.push_back(table.begin(in, direction::incoming, -1 - i / 2, clock::now()).request);
        }
    }

    in_flight table;
    std::vector<session> mine;

private:
    std::vector<active_request> crowd_;
};

class busy_map {
public:
    explicit busy_map(std::int64_t others) {
        for (std::int64_t i = 0; i < others; ++i) map.begin(static_cast<std::uint64_t>(i % 2), -1 - i / 2);
    }
    mutex_and_map map;
};

// Made when first needed, kept for the run: filling a million is slow, and must not be on a clock.
template <class T>
T& with_others(std::int64_t others) {
    if (others == few) {
        static T with_few(few);
        return with_few;
    }
    static T with_many(many);
    return with_many;
}

void count(benchmark::State& state, std::int64_t per_iteration = 1) {
    state.SetItemsProcessed(state.iterations() * per_iteration);
}

// Each polls in the way of a handler's loop: the result is used, and nothing forces other memory to be read again.
template <class Poll>
void poll(benchmark::State& state, const Poll& asked_to_stop) {
    std::uint64_t hits = 0;
    for (auto _ : state) hits += asked_to_stop() ? 1U : 0U;
    benchmark::DoNotOptimize(hits);
    count(state);
}

void poll_plain_load(benchmark::State& state) {
    const auto flag = std::make_unique<std::atomic<std::uint32_t>>(0);
    poll(state, [&flag = *flag] { return (flag.load(std::memory_order_acquire) & 4U) != 0; });
}

void poll_token(benchmark::State& state) {
    const cancel_source source;
    poll(state, [token = source.token()] { return token.cancelled(); });
}

void poll_stop_token(benchmark::State& state) {
    const std::stop_source source;
    poll(state, [token = source.get_token()] { return token.stop_requested(); });
}

void begin_finish(benchmark::State& state, std::int64_t others, bool one_session) {
    auto& busy = with_others<busy_table>(others);
    const auto thread = static_cast<std::size_t>(state.thread_index());
    auto& in = busy.mine[one_session ? 0 : thread];
    const auto now = clock::now();
    std::int64_t id = static_cast<std::int64_t>(thread) << 32U;
    for (auto _ : state) {
        auto begun = busy.table.begin(in, direction::incoming, ++id, now);
        benchmark::DoNotOptimize(begun.request.begin_response());
        begun.request.finish(now);
    }
    count(state);
}

void begin_finish_map(benchmark::State& state, std::int64_t others) {
    auto& busy = with_others<busy_map>(others);
    const auto session = static_cast<std::uint64_t>(state.thread_index());
    std::int64_t id = 0;
    for (auto _ : state) {
        ++id;
        benchmark::DoNotOptimize(busy.map.begin(session, id));
        busy.map.finish(session, id);
    }
    count(state);
}

struct bump {
    std::uint64_t* total;
    void operator()() const noexcept { ++*total; }
};

constexpr std::size_t batch = 512;

// On the clock: the cancels of one batch. Off it: beginning them, registering the callbacks, finishing.
void cancel_by_key(benchmark::State& state, std::int64_t others) {
    auto& busy = with_others<busy_table>(others);
    auto& in = busy.mine[0];
    const auto now = clock::now();
    std::uint64_t called = 0;
    std::int64_t id = 0;
    for (auto _ : state) {
        std::vector<active_request> requests;
        std::array<std::optional<cancel_callback<bump>>, batch> callbacks;
        requests.reserve(batch);
        for (std::size_t i = 0; i < batch; ++i) {
            requests.push_back(busy.table.begin(in, direction::incoming, ++id, now).request);
            callbacks[i].emplace(requests.back().token(), bump{&called});
        }
        const auto first = id - static_cast<std::int64_t>(batch) + 1;
        const auto start = clock::now();
        for (std::int64_t i = first; i <= id; ++i) {
            busy.table.cancel({in.id(), direction::incoming, i}, cancel_cause::peer, {}, now);
        }
        state.SetIterationTime(std::chrono::duration<double>(clock::now() - start).count());
    }
    if (called != static_cast<std::uint64_t>(id)) state.SkipWithError("a callback was not called exactly once");
    count(state, batch);
}

void cancel_by_key_map(benchmark::State& state, std::int64_t others) {
    auto& busy = with_others<busy_map>(others);
    std::uint64_t called = 0;
    std::int64_t id = 0;
    for (auto _ : state) {
        const auto first = id + 1;
        for (std::size_t i = 0; i < batch; ++i) busy.map.begin(0, ++id)->on_cancel = bump{&called};
        const auto start = clock::now();
        for (std::int64_t i = first; i <= id; ++i) busy.map.cancel(0, i, {});
        state.SetIterationTime(std::chrono::duration<double>(clock::now() - start).count());
        for (std::int64_t i = first; i <= id; ++i) busy.map.finish(0, i);
    }
    count(state, batch);
}

void cancel_stop_source(benchmark::State& state) {
    std::uint64_t called = 0;
    for (auto _ : state) {
        std::vector<std::stop_source> sources(batch);
        std::array<std::optional<std::stop_callback<bump>>, batch> callbacks;
        for (std::size_t i = 0; i < batch; ++i) callbacks[i].emplace(sources[i].get_token(), bump{&called});
        const auto start = clock::now();
        for (auto& source : sources) source.request_stop();
        state.SetIterationTime(std::chrono::duration<double>(clock::now() - start).count());
    }
    count(state, batch);
}

void cancel_unknown(benchmark::State& state, std::int64_t others) {
    auto& busy = with_others<busy_table>(others);
    const auto now = clock::now();
    std::int64_t id = 0;
    for (auto _ : state) {
        const request_key key{busy.mine[0].id(), direction::incoming, ++id};
        benchmark::DoNotOptimize(busy.table.cancel(key, cancel_cause::peer, "Stop", now));
    }
    count(state);
}

// Sixty-four requests asked for in turn, by each thread its own or by both the same: one alone could happen to lie well
// or badly in the table.
constexpr std::int64_t asked_for = 64;

std::int64_t first_id(const benchmark::State& state, bool same) {
    return same ? 0 : asked_for * (1 + state.thread_index());
}

void is_cancelled(benchmark::State& state, bool same) {
    auto& busy = with_others<busy_table>(few);
    const auto first = first_id(state, same);
    auto& in = busy.mine[0];
    std::vector<active_request> mine;
    for (std::int64_t i = 0; i < asked_for && (!same || state.thread_index() == 0); ++i) {
        mine.push_back(busy.table.begin(in, direction::incoming, first + i, clock::now()).request);
    }
    std::int64_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(busy.table.is_cancelled(in.id(), first + i++ % asked_for));
    count(state);
}

void is_cancelled_map(benchmark::State& state, bool same) {
    auto& busy = with_others<busy_map>(few);
    const auto first = first_id(state, same);
    for (std::int64_t i = 0; i < asked_for; ++i) busy.map.begin(0, first + i);
    std::int64_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(busy.map.is_cancelled(0, first + i++ % asked_for));
    count(state);
}

double bytes_in_use() {
    const auto info = mallinfo2();
    return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

// The allocator's own account, its overhead included, with a session's worth of everything.
double bytes_per_request() {
    in_flight table({.max_per_session = 1U << 21U});
    auto in = table.open_session();
    std::vector<active_request> requests;
    requests.reserve(many);
    const auto now = clock::now();
    const auto before = bytes_in_use();
    for (std::int64_t id = 0; id < many; ++id) {
        requests.push_back(
            table.begin(in, direction::incoming, id, now, {.limits = {.idle = std::chrono::hours(1)}}).request);
    }
    return (bytes_in_use() - before + static_cast<double>(many * sizeof(active_request))) / many;
}

void register_all() {
    using benchmark::RegisterBenchmark;
    RegisterBenchmark("poll/plain_load", poll_plain_load);
    RegisterBenchmark("poll/token", poll_token);
    RegisterBenchmark("poll/stop_token", poll_stop_token);
    for (const auto others : {few, many}) {
        const auto at = std::to_string(others);
        RegisterBenchmark(("begin_finish/" + at).c_str(), begin_finish, others, false)->Threads(2)->UseRealTime();
        RegisterBenchmark(("begin_finish/one_session/" + at).c_str(), begin_finish, others, true)
            ->Threads(2)
            ->UseRealTime();
        RegisterBenchmark(("begin_finish/map/" + at).c_str(), begin_finish_map, others)->Threads(2)->UseRealTime();
        RegisterBenchmark(("begin_finish/alone/" + at).c_str(), begin_finish, others, false)->UseRealTime();
        RegisterBenchmark(("cancel/" + at).c_str(), cancel_by_key, others)->UseManualTime();
        RegisterBenchmark(("cancel/map/" + at).c_str(), cancel_by_key_map, others)->UseManualTime();
        RegisterBenchmark(("cancel/unknown/" + at).c_str(), cancel_unknown, others);
    }
    RegisterBenchmark("cancel/stop_source", cancel_stop_source)->UseManualTime();
    for (const bool one : {false, true}) {
        const std::string which = one ? "same_requests" : "own_requests";
        RegisterBenchmark(("is_cancelled/" + which).c_str(), is_cancelled, one)->Threads(2)->UseRealTime();
        RegisterBenchmark(("is_cancelled/map/" + which).c_str(), is_cancelled_map, one)->Threads(2)->UseRealTime();
    }
}

int run() {
    const double memory = bytes_per_request();
    std::fprintf(stderr, "measuring the core, about a minute: ");
    register_all();
    measurements m;
    benchmark::RunSpecifiedBenchmarks(&m);
    std::fprintf(stderr, "\n");

    figures f;
    f.at_most("poll, in plain acquire loads", m.ratio("poll/token", "poll/plain_load"), 1.2);
    f.at_least("begin + finish, 2 threads, times as fast as a mutex and a map",
               m.ratio("begin_finish/map/1000", "begin_finish/1000"), 3);
    f.at_most("begin + finish, 1,000,000 in flight over 1,000", m.ratio("begin_finish/1000000", "begin_finish/1000"),
              2);
    f.at_most("cancel by key with a callback, 1,000,000 in flight over 1,000", m.ratio("cancel/1000000", "cancel/1000"),
              2);
    f.at_least("is_cancelled, 2 threads on their own requests, times as fast as a mutex and a map",
               m.ratio("is_cancelled/map/own_requests", "is_cancelled/own_requests"), 5);
    f.at_least("is_cancelled, 2 threads on the same requests, times as fast as a mutex and a map",
               m.ratio("is_cancelled/map/same_requests", "is_cancelled/same_requests"), 5);
    f.at_most("memory per request in flight, with a deadline", memory, 256, " bytes");

    std::printf("for context, nanoseconds an operation:\n");
    for (const auto& [name, time] : m.nanoseconds()) figures::note(name, time, " ns");
    return f.finish("core");
}

}  // namespace
}  // namespace andon::bench

int main(int argc, char** argv) {
    std::vector<char*> arguments(argv, argv + argc);
    std::array<std::string, 3> defaults{"--benchmark_repetitions=5", "--benchmark_enable_random_interleaving=true",
                                        "--benchmark_min_time=0.15"};
    for (std::size_t i = 0; i < defaults.size(); ++i) {
        arguments.insert(arguments.begin() + 1 + static_cast<std::ptrdiff_t>(i), defaults[i].data());
    }
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
    try {
        return andon::bench::run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "\ncore_bench: %s\n", error.what());
        return 2;
    }
}
