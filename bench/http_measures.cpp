#include "http_measures.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <sys/resource.h>

#include "http_callers.hpp"
#include "messages.hpp"

namespace andon::bench {
namespace {

void refuse_answer(http_connection& from) {
    throw std::runtime_error("park answered without a cancel: " + std::string(from.response.beginning()));
}

// Microseconds from right before one call is given up until its handler noticed, by its own word. The server has had a
// millisecond of quiet before it: Stop is pressed on a call that waits, not on one that is just being started. In that
// time we read what comes: to close with something unread would be a reset.
template <class GiveUp>
double time_to_notice(http_session& in, GiveUp&& give_up) {
    const auto id = in.next_id++;
    const auto request = in.client.park(id);
    bool started = false;
    std::int64_t noticed = 0;
    in.client.on_mark([&](const mark& said) {
        if (said.key != id) return;
        if (said.cancelled) noticed = said.at;
        started = true;
    });
    auto& on = in.client.open();
    in.client.on_response([&](http_connection& from) {
        if (&from == &on) refuse_answer(from);
    });
    in.client.send(on, request);
    in.client.wait_for("a handler to start", 10, [&] { return started; });
    const auto quiet_until = now_ns() + 1'000'000;
    in.client.wait_for("a millisecond to pass", 10, [&] { return now_ns() > quiet_until; });
    const auto begun = give_up(on, id);
    in.client.wait_for("a handler to notice that its call was given up", 10, [&] { return noticed != 0; });
    in.client.on_mark({});
    in.client.on_response({});
    in.client.close(on);
    return static_cast<double>(noticed - begun) / 1e3;
}

template <class GiveUp>
std::vector<double> times_to_notice(http_session& in, GiveUp&& give_up) {
    for (int i = 0; i < 200; ++i) time_to_notice(in, give_up);
    std::vector<double> times;
    const auto enough = now_ns() + 20'000'000'000;
    while (times.size() < 1000 && (times.size() < 100 || now_ns() < enough)) {
        times.push_back(time_to_notice(in, give_up));
    }
    return times;
}

std::vector<double> times_to_notice_a_disconnect(http_session& in) {
    return times_to_notice(in, [&](http_connection& on, std::int64_t) {
        const auto begun = now_ns();
        in.client.close(on);
        return begun;
    });
}

// The notifications go over a connection that is kept. Some SDKs answer what was cancelled: that is their affair.
std::vector<double> times_to_notice_a_posted_cancel(http_session& in) {
    auto& second = in.client.open();
    std::string request;
    auto times = times_to_notice(in, [&](http_connection&, std::int64_t id) {
        in.client.wait_for("a notification to be accepted", 10, [&] { return !second.waits_for_answer; });
        request = in.client.cancel(id);
        in.client.on_response({});
        const auto begun = now_ns();
        in.client.send(second, request);
        return begun;
    });
    in.client.close(second);
    return times;
}

std::size_t files_to_spare() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    constexpr rlim_t kept = 200;
    return static_cast<std::size_t>(limit.rlim_cur < 2 * kept ? kept : limit.rlim_cur - kept);
}

// Calls that wait, each on a connection of its own: as many as were asked for, or as the server and the system let us
// have.
class parked_calls {
public:
    parked_calls(http_session& in, std::size_t wanted) : in_(&in), first_(in.next_id) {
        wanted = std::min(wanted, files_to_spare());
        in.next_id += static_cast<std::int64_t>(wanted);
        calls_.reserve(wanted);  // what is being written stays where it is
        bool more = true;
        auto progress = now_ns();
        in.client.on_mark([&](const mark& said) {
            if (said.cancelled) throw std::runtime_error("a handler noticed a cancel that nobody sent");
            calls_.at(static_cast<std::size_t>(said.key - first_)).started = true;
            ++started_;
            progress = now_ns();
        });
        in.client.on_lost([&](http_connection&) { more = false; });
        in.client.on_response(refuse_answer);
        in.client.wait_for(std::to_string(wanted) + " handlers to start", 240, [&] {
            // A queue of connections that overflows makes the system wait for a second.
            constexpr std::size_t window = 128;
            while (more && calls_.size() < wanted && calls_.size() < started_ + window) begin_call();
            constexpr std::int64_t patience = 15'000'000'000;
            return started_ == wanted || (!more && started_ == calls_.size()) || now_ns() > progress + patience;
        });
        if (started_ == 0) in.client.fail("not one call started");
        in.client.on_mark({});
        in.client.on_lost({});
        for (auto& each : calls_) {
            if (!each.started) in.client.close(*each.on);
        }
    }

    [[nodiscard]] std::size_t count() const { return started_; }

    // Milliseconds from the first close to the last handler that noticed.
    double close_all() {
        return until_noticed([&] {
            std::size_t closed = 0;
            for (auto& each : calls_) {
                if (!each.started) continue;
                in_->client.close(*each.on);
                // A server that cannot write its marks would wait for us.
                if (++closed % 64 == 0) in_->client.step();
            }
        });
    }

    // The same for notifications, posted over 64 connections.
    double cancel_all() {
        std::vector<std::string> requests;
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            if (calls_[i].started) requests.push_back(in_->client.cancel(first_ + static_cast<std::int64_t>(i)));
        }
        std::vector<http_connection*> senders(64);
        for (auto& each : senders) each = &in_->client.open();
        std::size_t sent = 0;
        const auto send_next = [&](http_connection& on) {
            if (sent < requests.size()) in_->client.send(on, requests[sent++]);
        };
        in_->client.on_response([&](http_connection& from) {
            if (std::find(senders.begin(), senders.end(), &from) != senders.end()) send_next(from);
        });
        const auto took = until_noticed([&] {
            for (auto* each : senders) send_next(*each);
        });
        in_->client.on_response({});
        return took;
    }

private:
    struct call {
        http_connection* on = nullptr;
        std::string request;
        bool started = false;
    };

    void begin_call() {
        auto& next = calls_.emplace_back();
        next.request = in_->client.park(first_ + static_cast<std::int64_t>(calls_.size()) - 1);
        next.on = &in_->client.open();
        in_->client.send(*next.on, next.request);
    }

    template <class GiveUp>
    double until_noticed(GiveUp&& give_up) {
        std::size_t noticed = 0;
        std::int64_t last = 0;
        in_->client.on_mark([&](const mark& said) {
            if (!said.cancelled || !calls_.at(static_cast<std::size_t>(said.key - first_)).started) return;
            ++noticed;
            last = std::max(last, said.at);
        });
        const auto begun = now_ns();
        give_up();
        in_->client.wait_for(std::to_string(started_) + " handlers to notice that their calls were given up", 120,
                             [&] { return noticed == started_; });
        in_->client.on_mark({});
        return static_cast<double>(last - begun) / 1e6;
    }

    http_session* in_;
    std::int64_t first_;
    std::vector<call> calls_;
    std::size_t started_ = 0;
};

}  // namespace

readings measure_disconnect(const peer& server, const placement& cores) {
    http_session in(server, true, cores);
    const bool modern = in.client.modern();
    const auto times = modern ? times_to_notice_a_disconnect(in) : times_to_notice_a_posted_cancel(in);
    const std::string how = modern ? "disconnect/" : "disconnect/posted cancel, ";
    return {{how + "median", median(times)},
            {how + "p99", percentile(times, 0.99)},
            {how + "maximum", percentile(times, 1)},
            {how + "samples", static_cast<double>(times.size())}};
}

readings measure_calls(const peer& server, const placement& cores) {
    http_session in(server, false, cores);
    http_callers all(in);
    // A second of warming up, for the compilers at run time, that also tells how many calls are two seconds' worth.
    double rate = 0;
    for (double warm = 0; warm < 1.0;) {
        constexpr std::int64_t chunk = 1000;
        const double seconds = all.call(chunk);
        warm += seconds;
        rate = chunk / seconds;
    }
    const auto calls = std::clamp<std::int64_t>(static_cast<std::int64_t>(2 * rate), 1000, 2'000'000);
    return {{"calls/rate", static_cast<double>(calls) / all.call(calls)}};
}

readings measure_parked(const peer& server, const placement& cores) {
    http_session in(server, true, cores);
    http_callers(in).call(100);
    settle();
    const auto rest = static_cast<double>(in.process.memory());
    parked_calls parks(in, 10'000);
    settle();
    const auto memory = static_cast<double>(in.process.memory());
    readings read{{"parked/streams", static_cast<double>(parks.count())},
                  {"parked/rest", rest / mib},
                  {"parked/memory", memory / mib},
                  {"parked/each", (memory - rest) / 1024 / static_cast<double>(parks.count())}};
    if (in.client.modern()) {
        read["parked/close"] = parks.close_all();
    } else {
        read["parked/posted cancels"] = parks.cancel_all();
    }
    return read;
}

readings try_http(const peer& server, const placement& cores) {
    http_session in(server, false, cores);
    http_callers(in).call(1);
    return {};
}

}  // namespace andon::bench
