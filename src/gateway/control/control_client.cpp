#include "gateway/control/control_client.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

#include "gateway/control/control_conversation.hpp"
#include "gateway/control/control_protocol.hpp"

namespace andon::gateway {
namespace {

constexpr std::chrono::seconds answer_limit{2};

template <class Number>
bool read_number(std::string_view text, Number& into) {
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), into);
    return failed == std::errc() && end == text.data() + text.size() && !text.empty() && text[0] != '-';
}

/// Everything about one andon, or what was wrong.
struct heard {
    running_andon andon{};
    std::vector<found_call> calls{};
    std::vector<found_call> stopped{};
    std::size_t more = 0;
    std::string problem{};
};

void ask_for_everything(const andon_address& with, time_point until, heard& into) try {
    auto talk = control_conversation::begin(with, until);
    if (!talk) return;
    talk->ask({.op = control_operation::hello}, until);
    const json::object hello = talk->next_promptly(until);
    into.andon = {.pid = with.pid,
                  .kind = text_in(hello, "kind"),
                  .name = text_in(hello, "name"),
                  .version = text_in(hello, "version")};
    talk->ask({.op = control_operation::list}, until);
    for (;;) {
        const json::object said = talk->next_promptly(until);
        if (const json::value* const call = said.if_contains("call"); call != nullptr && call->is_object()) {
            found_call found{with.pid, call_of(call->get_object())};
            const call_stage stage = found.call.stage;
            const bool over = stage == call_stage::stopped || stage == call_stage::over;
            (over ? into.stopped : into.calls).push_back(std::move(found));
        } else if (const json::value* const server = said.if_contains("server");
                   server != nullptr && server->is_object()) {
            into.andon.servers.push_back(server_of(server->get_object()));
        } else if (said.contains("done")) {
            into.more = count_in(said, "more").value_or(0);
            return;
        }
    }
} catch (const std::exception& wrong) {
    into.problem = wrong.what();
}

/// One andon, asked to stop something; and waited for.
class stopping {
public:
    stopping(const stop_wish& wish, const stop_events& told, std::optional<time_point> until)
        : wish_(&wish), told_(&told), until_(until) {}

    void run(const andon_address& with, const call_selection& which) {
        try {
            ask(with, which);
        } catch (const std::exception& wrong) {
            const std::lock_guard lock(mutex_);
            summary_.unreachable = true;
            told_->problem(wrong.what());
        }
    }
    [[nodiscard]] const stop_summary& summary() const noexcept { return summary_; }
    void problem(const std::string& what) {
        const std::lock_guard lock(mutex_);
        told_->problem(what);
    }

private:
    void ask(const andon_address& with, const call_selection& which) {
        const time_point soon = std::chrono::steady_clock::now() + answer_limit;
        auto talk = control_conversation::begin(with, soon);
        if (!talk) return;
        talk->ask({control_operation::stop, which, wish_->reason, wish_->asked_by, wish_->wait}, soon);
        json::object said = talk->next_promptly(soon);
        if (announce(with.pid, said) == 0) return;
        while (wish_->wait) {
            auto more = talk->next(until_);
            const std::lock_guard lock(mutex_);
            if (!more) {
                summary_.timed_out = true;
                return;
            }
            if (more->contains("done")) return;
            const json::value* const stopped = more->if_contains("stopped");
            if (stopped == nullptr || !stopped->is_object()) continue;
            ++summary_.stopped;
            told_->stopped(with.pid, stopped_call_of(stopped->get_object()));
        }
    }

    std::size_t announce(pid_t andon, const json::object& said) {
        std::vector<std::uint64_t> numbers;
        if (const json::value* const asked = said.if_contains("asked"); asked != nullptr && asked->is_array()) {
            for (const json::value& each : asked->get_array()) {
                if (each.is_int64() || each.is_uint64()) numbers.push_back(each.to_number<std::uint64_t>());
            }
        }
        const std::lock_guard lock(mutex_);
        summary_.asked += numbers.size();
        if (!numbers.empty()) told_->asked(andon, numbers);
        return numbers.size();
    }

    const stop_wish* wish_;
    const stop_events* told_;
    std::optional<time_point> until_;
    std::mutex mutex_;
    stop_summary summary_;
};

}  // namespace

std::optional<call_id> call_id_of(std::string_view text) {
    call_id id;
    if (const std::size_t dot = text.find('.'); dot != std::string_view::npos) {
        if (!read_number(text.substr(0, dot), id.andon.emplace()) || *id.andon <= 0) return std::nullopt;
        text.remove_prefix(dot + 1);
    }
    if (!read_number(text, id.number)) return std::nullopt;
    return id;
}

survey survey_andons(duration limit) {
    survey all;
    const auto until = std::chrono::steady_clock::now() + limit;
    const auto andons = find_andons(all.problems);
    std::vector<heard> answers(andons.size());
    {
        std::vector<std::jthread> asking;
        for (std::size_t i = 0; i < andons.size(); ++i) {
            asking.emplace_back([&, i] { ask_for_everything(andons[i], until, answers[i]); });
        }
    }
    for (heard& each : answers) {
        if (!each.problem.empty()) all.problems.push_back(std::move(each.problem));
        if (each.andon.pid == 0) continue;
        all.andons.push_back(std::move(each.andon));
        all.more += each.more;
        std::move(each.calls.begin(), each.calls.end(), std::back_inserter(all.calls));
        std::move(each.stopped.begin(), each.stopped.end(), std::back_inserter(all.stopped));
    }
    for (auto* const some : {&all.calls, &all.stopped}) {
        std::stable_sort(some->begin(), some->end(),
                         [](const found_call& a, const found_call& b) { return a.call.started < b.call.started; });
    }
    return all;
}

stop_summary stop_calls(const stop_wish& wish, const stop_events& told) {
    std::optional<time_point> until;
    if (wish.timeout) until = std::chrono::steady_clock::now() + *wish.timeout;
    stopping work(wish, told, until);
    std::vector<std::string> problems;
    const auto andons = find_andons(problems);
    for (const std::string& each : problems) work.problem(each);
    {
        std::vector<std::jthread> asking;
        for (const stop_order& order : wish.orders) {
            for (const andon_address& each : andons) {
                if (order.andon != 0 && order.andon != each.pid) continue;
                asking.emplace_back([&] { work.run(each, order.which); });
            }
        }
    }
    return work.summary();
}

}  // namespace andon::gateway
