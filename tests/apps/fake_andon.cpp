// Looks like a running andon to `andon ps`, `stop` and `top`, and does what standard input says.
//
//   call TOOL SESSION AGE_MS STAGE [DONE TOTAL [MESSAGE]]   one more in flight
//   server NAME STATE PID RESTARTS IN_FLIGHT                one more server
//   obey                                                    what is asked to stop stops at once
//   end NUMBER EVIDENCE TOOK_MS                             the work of a call stops
//   fence NUMBER                                            answered with the same
//
// Each stop is told on standard output: "stop NUMBER BY: REASON". The end of the input is its end.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <sstream>
#include <thread>

#include "gateway/control/control_socket.hpp"
#include "gateway/fake_desk.hpp"

namespace {

using namespace andon::gateway;

void say(const std::string& line) {
    std::puts(line.c_str());
    std::fflush(stdout);
}

call_stage stage_of(const std::string& name) {
    if (name == "asked") return call_stage::asked_to_stop;
    if (name == "ignoring") return call_stage::ignoring;
    if (name == "stopped") return call_stage::stopped;
    return call_stage::running;
}

stop_evidence evidence_of(const std::string& name) {
    if (name == "killed") return stop_evidence::killed;
    if (name == "exited") return stop_evidence::exited;
    return stop_evidence::quiet;
}

void add_call(fake_desk& desk, std::istream& words) {
    relayed_call_view call;
    std::int64_t age = 0;
    std::string stage;
    words >> call.tool >> call.session >> age >> stage;
    call.server = "everything";
    call.method = "tools/call";
    call.request_id = "1";
    call.started = std::chrono::system_clock::now() - std::chrono::milliseconds(age);
    call.stage = stage_of(stage);
    if (call.stage != call_stage::running) {
        call.asked_by = "host";
        call.since_asked = std::chrono::seconds(3);
    }
    call_progress progress;
    if (double total = 0; words >> progress.done >> total) {
        if (total > 0) progress.total = total;
        std::getline(words >> std::ws, progress.message);
        call.progress = progress;
    }
    desk.add(call);
}

void add_server(fake_desk& desk, std::istream& words) {
    upstream_view server;
    words >> server.server >> server.state >> server.pid >> server.restarts >> server.in_flight;
    desk.servers.push_back(server);
}

void end_call(fake_desk& desk, std::istream& words) {
    std::uint64_t number = 0;
    std::string evidence;
    std::int64_t took = 0;
    words >> number >> evidence >> took;
    desk.end(number, evidence_of(evidence), std::chrono::milliseconds(took));
}

void obey(fake_desk& desk, const std::string& line) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "call") add_call(desk, words);
    if (what == "server") add_server(desk, words);
    if (what == "end") end_call(desk, words);
    if (what == "obey") desk.obedient = true;
    if (what == "fence") say(line);
}

}  // namespace

int main() {
    andon::detail::event_loop loop;
    fake_desk desk;
    desk.when_asked = [](const relayed_call_view& call) {
        say("stop " + std::to_string(call.number) + ' ' + call.asked_by + ": " + call.reason);
    };
    std::optional<control_socket> socket;
    socket.emplace(loop, desk, control_socket::identity{"wrap", "fake"}, andon::log_sink());
    loop.on_termination([&] { loop.stop(); });
    std::thread([&] {
        for (std::string line; std::getline(std::cin, line);) {
            loop.post([&desk, line] { obey(desk, line); });
        }
        loop.post([&loop] { loop.stop(); });
    }).detach();
    say("ready");
    loop.run();
    socket.reset();
    std::_Exit(0);  // without the thread, which may wait for input that never comes
}
