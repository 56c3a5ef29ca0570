// A desk with calls that do what a test says.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gateway/control/control_desk.hpp"

namespace andon::gateway {

/// On the loop's thread, as the real one.
class fake_desk final : public control_desk {
public:
    struct held {
        relayed_call_view view;
        time_point asked{};
        std::vector<std::function<void(const stopped_call&)>> told{};
    };
    std::map<std::uint64_t, held> all{};
    std::vector<upstream_view> servers{};
    /// Stops at once, before stop() returns.
    bool obedient = false;
    /// For each that is asked to stop.
    std::function<void(const relayed_call_view&)> when_asked = [](const relayed_call_view&) {};
    /// To look at the calls.
    duration takes{};
    mutable int looked_at = 0;

    std::uint64_t add(relayed_call_view call) {
        if (call.number == 0) call.number = all.empty() ? 1 : all.rbegin()->first + 1;
        const std::uint64_t number = call.number;
        all[number] = held{std::move(call)};
        return number;
    }

    [[nodiscard]] std::vector<relayed_call_view> calls() const override {
        ++looked_at;
        const auto until = std::chrono::steady_clock::now() + takes;
        while (std::chrono::steady_clock::now() < until) {
        }
        std::vector<relayed_call_view> views;
        for (const auto& [number, each] : all) {
            views.push_back(each.view);
            if (each.asked != time_point{}) views.back().since_asked = std::chrono::steady_clock::now() - each.asked;
        }
        std::stable_sort(views.begin(), views.end(),
                         [](const auto& a, const auto& b) { return a.started < b.started; });
        return views;
    }
    [[nodiscard]] std::vector<upstream_view> upstreams() const override { return servers; }
    [[nodiscard]] std::vector<std::uint64_t> stop(const call_selection& which, std::string_view reason,
                                                  std::string_view asked_by,
                                                  std::function<void(const stopped_call&)> stopped) override {
        std::vector<std::uint64_t> numbers;
        for (auto& [number, each] : all) {
            const bool meant = which.number    ? *which.number == number
                               : which.tool    ? *which.tool == each.view.tool
                               : which.session ? *which.session == each.view.session
                                               : which.all;
            if (!meant || each.view.stage == call_stage::stopped) continue;
            if (each.view.stage == call_stage::running) {
                each.view.stage = call_stage::asked_to_stop;
                each.view.cause = cancel_cause::operator_;
                each.view.reason = reason;
                each.view.asked_by = "operator " + std::string(asked_by);
                each.asked = std::chrono::steady_clock::now();
                when_asked(each.view);
            }
            if (stopped) each.told.push_back(stopped);
            numbers.push_back(number);
        }
        if (obedient) {
            for (const std::uint64_t number : numbers) end(number, stop_evidence::quiet);
        }
        return numbers;
    }

    /// The work of that call stops.
    void end(std::uint64_t number, stop_evidence evidence, duration took = std::chrono::milliseconds(12)) {
        held& call = all.at(number);
        call.view.stage = call_stage::stopped;
        const auto told = std::exchange(call.told, {});
        for (const auto& each : told) each({number, evidence, took});
    }
};

}  // namespace andon::gateway
