#include "control/stop_command.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <pwd.h>
#include <set>
#include <unistd.h>

#include "andon/core/visible_text.hpp"
#include "control/call_rows.hpp"
#include "exit_status.hpp"
#include "gateway/control/control_protocol.hpp"
#include "gateway/plain_json.hpp"

namespace andon::app {
namespace {

using gateway::found_call;
using gateway::stop_evidence;
using gateway::stop_order;
using gateway::stop_summary;
using gateway::stopped_call;
using gateway::survey;

struct wrong_id : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void write_error(const std::string& what) { std::fprintf(stderr, "andon: %s\n", what.c_str()); }

/// Nothing: no andon has such a call.
std::optional<stop_order> order_of(const std::string& text, const survey& found) {
    constexpr std::size_t longest_shown = 100;
    const std::string shown = visible_text(text, longest_shown);
    const auto id = gateway::call_id_of(text);
    if (!id) throw wrong_id("\"" + shown + "\" is no ID; `andon ps` shows them, as 4711.3");
    std::vector<const found_call*> meant;
    for (const found_call& each : found.calls) {
        if (each.call.number == id->number && (!id->andon || *id->andon == each.andon)) meant.push_back(&each);
    }
    if (meant.size() > 1) {
        std::string all;
        for (const found_call* each : meant) all += (all.empty() ? "" : ", ") + each->id();
        throw wrong_id(shown + " is in flight more than once: " + all);
    }
    if (meant.empty()) {
        // Of one that does not answer nothing is known, and that was said.
        const bool known = found.problems.empty() || std::ranges::any_of(found.andons, [&](const auto& each) {
                               return each.pid == id->andon.value_or(0);
                           });
        write_error(shown + (known ? " is not in flight" : " is not known to be in flight"));
        return std::nullopt;
    }
    return stop_order{meant[0]->andon, {.number = id->number}};
}

std::vector<stop_order> orders_of(const stop_options& options, const survey& found) {
    if (options.tool) return {{.which = {.tool = visible_text(*options.tool, gateway::longest_tool_name)}}};
    if (options.session) return {{.which = {.session = options.session}}};
    if (options.all) return {{.which = {.all = true}}};
    std::vector<stop_order> orders;
    std::set<std::string> seen;
    std::set<std::pair<pid_t, std::uint64_t>> meant;
    for (const std::string& each : options.ids) {
        if (!seen.insert(each).second) continue;
        auto order = order_of(each, found);
        if (order && meant.emplace(order->andon, order->which.number.value_or(0)).second) {
            orders.push_back(std::move(*order));
        }
    }
    return orders;
}

std::string_view in_words(stop_evidence evidence) {
    switch (evidence) {
        case stop_evidence::none: return "it ended by itself";
        case stop_evidence::quiet: return "it went quiet";
        case stop_evidence::answered_late: return "it answered late, which was its end";
        case stop_evidence::killed: return "it ignored the cancel and was killed";
        case stop_evidence::exited: return "its process ended";
        case stop_evidence::unseen: break;
    }
    return "nothing was heard of it again";
}

/// What is printed as it happens.
class account {
public:
    account(const stop_options& options, const survey& found) : options_(&options), found_(&found) {}

    void asked(pid_t andon, std::uint64_t number) const {
        const auto known = std::find_if(found_->calls.begin(), found_->calls.end(), [&](const found_call& each) {
            return each.andon == andon && each.call.number == number;
        });
        const std::string id = found_call{andon, {.number = number}}.id();
        if (options_->json) {
            json::object line{{"event", "asked"}, {"id", id}, {"andon", andon}, {"number", number}};
            if (known != found_->calls.end()) line["call"] = gateway::to_json(known->call);
            return print(gateway::plain_json(line) + '\n');
        }
        std::string line = "asked to stop  " + id;
        if (known != found_->calls.end()) {
            const auto age = std::chrono::system_clock::now() - known->call.started;
            line += "  " + describe(known->call) + ", in flight for " + show_age(age);
        }
        print(line + '\n');
    }
    void stopped(pid_t andon, const stopped_call& call) const {
        const std::string id = found_call{andon, {.number = call.number}}.id();
        if (options_->json) {
            json::object line{{"event", "stopped"}, {"id", id}, {"andon", andon}};
            for (const auto& [key, value] : gateway::to_json(call)) line[key] = value;
            return print(gateway::plain_json(line) + '\n');
        }
        print("stopped        " + id + "  after " + show(call.took) + ": " + std::string(in_words(call.evidence)) +
              '\n');
    }

private:
    const stop_options* options_;
    const survey* found_;
};

bool confirmed(std::size_t calls) {
    std::fprintf(stderr, "Stop %zu %s in flight? [y/N] ", calls, calls == 1 ? "call" : "calls");
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

int status_of(const stop_summary& end, const stop_options& options, bool unreachable) {
    if (end.asked == 0) {
        if (!options.ids.empty()) return unreachable ? exit_status::unreachable : exit_status::failed;
        write_error(unreachable ? "nothing was asked to stop" : "nothing in flight matches; `andon ps` shows what is");
        return unreachable ? exit_status::unreachable : exit_status::failed;
    }
    if (end.timed_out) {
        write_error(std::to_string(end.asked - end.stopped) + " of " + std::to_string(end.asked) +
                    " did not stop within " + show(*options.timeout) + "; `andon ps` shows their state");
        return exit_status::timed_out;
    }
    return end.unreachable ? exit_status::unreachable : exit_status::ok;
}

}  // namespace

std::string user_name() {
    const passwd* const known = ::getpwuid(::getuid());
    if (known == nullptr || known->pw_name == nullptr) return "uid " + std::to_string(::getuid());
    return visible_text(known->pw_name, gateway::longest_control_name);
}

int run_stop(const stop_options& options) try {
    const survey found = gateway::survey_andons();
    for (const std::string& each : found.problems) write_error(each);
    const std::size_t in_flight = found.calls.size() + found.more;
    if (options.all && !options.yes && isatty(STDIN_FILENO) != 0 && in_flight != 0 && !confirmed(in_flight)) {
        write_error("nothing was asked to stop");
        return exit_status::cancelled;
    }
    const account told(options, found);
    const stop_summary end = gateway::stop_calls(
        {.orders = orders_of(options, found),
         .reason = visible_text(options.reason, gateway::longest_control_reason),
         .asked_by = user_name(),
         .wait = options.wait,
         .timeout = options.timeout},
        {.asked =
             [&](pid_t andon, const std::vector<std::uint64_t>& numbers) {
                 for (const std::uint64_t each : numbers) told.asked(andon, each);
             },
         .stopped = [&](pid_t andon, const stopped_call& call) { told.stopped(andon, call); },
         .problem =
             [&](const std::string& what) {
                 if (std::find(found.problems.begin(), found.problems.end(), what) == found.problems.end()) {
                     write_error(what);
                 }
             }});
    return status_of(end, options, end.unreachable || !found.problems.empty());
} catch (const wrong_id& wrong) {
    write_error(wrong.what());
    return exit_status::usage;
}

}  // namespace andon::app
