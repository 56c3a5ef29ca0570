#include "relay_measures.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <unistd.h>

#include "http_callers.hpp"
#include "messages.hpp"
#include "processes.hpp"
#include "proxy_process.hpp"
#include "side_by_side.hpp"
#include "sse_callers.hpp"
#include "stdio_callers.hpp"

namespace andon::bench {
namespace {

const words everything = {"build/bin/everything_server"};
const words typescript = {"node", "peers/typescript/v1_server.mjs"};

/// Makes so many calls, calls what it is given midway, and returns the seconds that it took.
using calling = std::function<double(std::int64_t, const std::function<void()>&)>;

struct load {
    double rate = 0;
    double memory = 0;
};

// Most of a second of warming up, for the compilers at run time, that also tells how many calls are a second and a
// half's worth. The memory is read in the middle of some more, which are not on the clock.
load under_load(const calling& call, const proxy_process& proxy) {
    double rate = 0;
    for (double warm = 0; warm < 0.8;) {
        constexpr std::int64_t chunk = 500;
        const double seconds = call(chunk, {});
        warm += seconds;
        rate = chunk / seconds;
    }
    const auto calls = std::clamp<std::int64_t>(static_cast<std::int64_t>(1.5 * rate), 500, 2'000'000);
    load seen;
    seen.rate = static_cast<double>(calls) / call(calls, {});
    call(calls / 4, [&] { seen.memory = static_cast<double>(proxy.memory()) / mib; });
    return seen;
}

std::vector<double> times_of(const calling& call) {
    for (int i = 0; i < 200; ++i) call(1, {});
    std::vector<double> times;
    const auto enough = now_ns() + 1'500'000'000;
    while (times.size() < 1000 && (times.size() < 100 || now_ns() < enough)) times.push_back(call(1, {}) * 1e6);
    return times;
}

// Of the server alone, on its pipes. Once a round: ours is the first in each.
double direct_latency(const words& server, const peer& proxy, const placement& cores) {
    static std::map<words, double> known;
    auto& latency = known[server];
    if (latency != 0 && proxy.name != ours) return latency;
    served_stdio_session in({"direct", server}, false, cores);
    for (double warm = 0; warm < 0.5;) warm += echo_many(in, 500);
    echo_times(in, 200);
    return latency = median(echo_times(in, 1000));
}

readings added(const std::string& name, const std::vector<double>& through, double direct, const load& seen) {
    return {{name + "direct", direct},
            {name + "added", median(through) - direct},
            {name + "added p99", percentile(through, 0.99) - direct},
            {name + "rate", seen.rate},
            {name + "memory", seen.memory}};
}

// How many calls it can take is a question to the proxy: it has a core to itself, and the server shares the other one
// with the driver, which sleeps when it has nothing to do. How long one call takes is asked with proxy and server on
// one core and the driver awake on the other: to wake a core that sleeps takes longer than most of what is measured.
template <class Callers, class Make>
readings measure_through(const std::string& name, double direct, const proxy_process& proxy, http_client& client,
                         const placement& cores, Make&& callers) {
    const auto place = [&](std::optional<int> core, waiting how) {
        client.wait(cores.driver ? how : waiting::asleep);
        for (const pid_t each : proxy.servers()) {
            if (core) move_to_core(each, *core);
        }
    };
    place(cores.driver, waiting::asleep);
    load seen;
    {
        Callers many = callers(64);
        seen = under_load([&](auto calls, auto& midway) { return many.call(calls, midway); }, proxy);
    }
    place(cores.server, waiting::awake);
    Callers one = callers(1);
    const auto times = times_of([&](auto calls, auto& midway) { return one.call(calls, midway); });
    return added(name, times, direct, seen);
}

readings measure_before(const std::string& name, const words& server, const peer& proxy, const placement& cores) {
    const double direct = direct_latency(server, proxy, cores);
    const auto port = free_port();
    proxy_process running(proxy.command, server, cores, port);
    http_client client(running.process(), waiting::asleep, port);
    if (proxy.name == supergateway_sse) {
        sse_session session(client);
        return measure_through<sse_callers>(name, direct, running, client, cores,
                                            [&](std::size_t count) { return sse_callers(session, count); });
    }
    client.open_session();
    std::int64_t next_id = first_http_id;
    return measure_through<http_callers>(name, direct, running, client, cores,
                                         [&](std::size_t count) { return http_callers(client, next_id, count); });
}

// A relay on pipes and the client that talks to it.
class wrapped_session {
public:
    wrapped_session(const words& andon, const words& server, const placement& cores, waiting how)
        : proxy(andon, server, cores), in(proxy.process(), how) {}

    proxy_process proxy;
    stdio_session in;
};

words wrap_command(const peer& proxy) { return {proxy.command.front(), "wrap", "--", "{server...}"}; }

readings measure_wrap_before(const std::string& name, const words& server, const peer& proxy, const placement& cores) {
    const double direct = direct_latency(server, proxy, cores);
    wrapped_session wrapped(wrap_command(proxy), server, cores, how_to_wait(cores));
    load seen;
    seen.rate = echo_rate(wrapped.in);
    echo_many(wrapped.in, 20'000, [&] { seen.memory = static_cast<double>(wrapped.proxy.memory()) / mib; });
    echo_times(wrapped.in, 200);
    return added("wrap/" + name + " ", echo_times(wrapped.in, 1000), direct, seen);
}

// The driver shares its core with the relay, so it must sleep; and it sleeps without the relay, too.
readings measure_pinned_before(const std::string& name, const words& server, const peer& proxy,
                               const placement& cores) {
    if (!cores.driver || !cores.server) throw std::runtime_error("two cores are needed");
    double alone = 0;
    {
        served_stdio_session direct({"direct", server}, false, cores, waiting::asleep);
        alone = echo_rate(direct);
    }
    words elsewhere = {"taskset", "-c", std::to_string(*cores.server)};
    elsewhere.insert(elsewhere.end(), server.begin(), server.end());
    wrapped_session wrapped(wrap_command(proxy), elsewhere, {.driver = cores.driver, .server = cores.driver},
                            waiting::asleep);
    const double through = echo_rate(wrapped.in);
    const auto reading = "pinned/" + name;
    return {{reading, 100 * (1 - through / alone)}, {reading + " alone", alone}, {reading + " wrapped", through}};
}

}  // namespace

readings measure_everything(const peer& proxy, const placement& cores) {
    return measure_before("everything/", everything, proxy, cores);
}

readings measure_typescript(const peer& proxy, const placement& cores) {
    return measure_before("typescript/", typescript, proxy, cores);
}

readings measure_wrap(const peer& proxy, const placement& cores) {
    auto read = measure_wrap_before("everything", everything, proxy, cores);
    read.merge(measure_wrap_before("typescript", typescript, proxy, cores));
    return read;
}

readings measure_pinned(const peer& proxy, const placement& cores) {
    auto read = measure_pinned_before("typescript", typescript, proxy, cores);
    read.merge(measure_pinned_before("everything", everything, proxy, cores));
    return read;
}

readings measure_idle(const peer& proxy, const placement& cores) {
    wrapped_session wrapped(wrap_command(proxy), everything, cores, waiting::asleep);
    echo_many(wrapped.in, 100);
    const auto port = free_port();
    proxy_process gateway(proxy.command, everything, cores, port);
    http_client client(gateway.process(), waiting::asleep, port);
    std::int64_t next_id = first_http_id;
    for (int i = 0; i < 16; ++i) {
        client.open_session();
        http_callers(client, next_id, 1).call(10);
    }
    const auto switches = [](const proxy_process& of) {
        std::int64_t all = 0;
        for (const pid_t each : of.own_processes()) all += context_switches(each);
        return static_cast<double>(all);
    };
    settle();
    const double before_wrap = switches(wrapped.proxy);
    const double before_gateway = switches(gateway);
    ::usleep(3'000'000);
    return {{"idle/wrap", switches(wrapped.proxy) - before_wrap}, {"idle/gateway", switches(gateway) - before_gateway}};
}

namespace {

// Sessions of a gateway, a call in flight in each.
class parked_sessions {
public:
    parked_sessions(proxy_process& gateway, std::uint16_t port, const placement& cores)
        : client(gateway.process(), how_to_wait(cores), port) {}

    void open(std::size_t count) {
        requests_.reserve(requests_.size() + count);
        for (std::size_t i = 0; i < count; ++i) {
            client.open_session();
            requests_.push_back(client.park(next_id_++));
            client.send(client.open(), requests_.back());
        }
    }

    http_client client;

private:
    std::int64_t next_id_ = first_http_id;
    std::vector<std::string> requests_;
};

double kib_each(std::int64_t before, std::int64_t after, std::size_t count) {
    return static_cast<double>(after - before) / 1024 / static_cast<double>(count);
}

// The server is one process behind a URL, which says when each of its handlers has started.
readings measure_sessions_at_a_url(const peer& proxy, const placement& cores) {
    constexpr std::size_t count = 1000;
    server_process server({everything.front(), "--http", "0"}, true, cores);
    server_errors said(server);
    std::string url;
    std::size_t started = 0;
    said.on_line([&](std::string_view line) {
        const auto at = line.find("http://");
        if (at != std::string_view::npos) url = line.substr(at);
    });
    said.on_mark([&](const mark& heard) { started += heard.cancelled ? 0 : 1; });
    for (const auto limit = now_ns() + 10'000'000'000; url.empty() && now_ns() < limit;) said.read();
    const auto port = free_port();
    proxy_process gateway({proxy.command.front(), "gateway", "--port", "{port}", "--url", url}, {}, cores, port);
    parked_sessions sessions(gateway, port, cores);
    const auto all_started = [&](std::size_t wanted) {
        sessions.client.wait_for("handlers to start", 30, [&] {
            said.read();
            return started == wanted;
        });
        settle();
    };
    sessions.open(10);  // what is there once, is
    all_started(10);
    const auto before = gateway.memory();
    sessions.open(count);
    all_started(10 + count);
    return {{"sessions/each", kib_each(before, gateway.memory(), count)}};
}

// A process for each: what the gateway itself has grown by, and its guardians, which are copies of it.
readings measure_sessions_with_processes(const peer& proxy, const placement& cores) {
    constexpr std::size_t count = 64;
    const auto port = free_port();
    proxy_process gateway(proxy.command, everything, cores, port);
    parked_sessions sessions(gateway, port, cores);
    sessions.open(4);
    settle();
    const auto before = resident(gateway.process().pid());
    sessions.open(count);
    settle();
    const auto after = resident(gateway.process().pid());
    std::int64_t guardians = 0;
    const auto own = gateway.own_processes();
    for (const pid_t each : own) {
        if (each != gateway.process().pid()) guardians += resident_alone(each);
    }
    return {{"sessions/process", kib_each(before, after, count)},
            {"sessions/guardian", kib_each(0, guardians, own.size() - 1)}};
}

}  // namespace

readings measure_sessions(const peer& proxy, const placement& cores) {
    auto read = measure_sessions_at_a_url(proxy, cores);
    read.merge(measure_sessions_with_processes(proxy, cores));
    return read;
}

readings try_proxy(const peer& proxy, const placement& cores) {
    const auto port = free_port();
    proxy_process running(proxy.command, everything, cores, port);
    http_client client(running.process(), how_to_wait(cores), port);
    if (proxy.name == supergateway_sse) {
        sse_session session(client);
        sse_callers(session, 1).call(1);
    } else {
        client.open_session();
        std::int64_t next_id = first_http_id;
        http_callers(client, next_id, 1).call(1);
    }
    return {};
}

}  // namespace andon::bench
