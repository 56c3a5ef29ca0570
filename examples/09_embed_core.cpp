// andon::core alone, inside an MCP stack of your own: register each request, hand its token to the work, and let the
// state decide between the answer and the cancel. No I/O, no clock and no JSON come with it.
#include <andon/core/cancel_callback.hpp>
#include <andon/core/in_flight.hpp>
#include <chrono>
#include <iostream>
#include <latch>
#include <thread>

using clock_type = std::chrono::steady_clock;

int main() {
    andon::in_flight table;
    const auto session = table.open_session();

    // Your reader got {"id":7,"method":"tools/call",...}: register it before anything else sees it.
    auto begun = table.begin(session, andon::direction::incoming, 7, clock_type::now(), {.label = "count"});
    if (!begun) {
        std::cerr << to_string(begun.refusal) << '\n';
        return 1;
    }

    std::latch working(1);
    std::thread handler([&, request = std::move(begun.request)]() mutable {
        const auto token = request.token();
        const andon::cancel_callback at_once(token, [] { std::cout << "told at once\n"; });
        working.count_down();
        long counted = 0;
        while (!token.cancelled()) ++counted;  // one load a round
        request.notice(clock_type::now());
        if (request.begin_response()) std::cout << "never printed: a cancelled request is not answered\n";
        request.finish(clock_type::now());
    });
    working.wait();

    // Your reader got {"method":"notifications/cancelled","params":{"requestId":7,"reason":"..."}}.
    const auto result = table.cancel({session.id(), andon::direction::incoming, 7}, andon::cancel_cause::peer,
                                     "the user pressed Stop", clock_type::now());
    handler.join();

    std::cout << "cancel: " << to_string(result.what) << '\n';
    for (const auto& outcome : table.recent_outcomes()) {
        std::cout << "request " << outcome.id << " stopped by " << to_string(outcome.cause) << ", \""
                  << outcome.why.text() << "\", noticed: " << (outcome.noticed ? "yes" : "no") << '\n';
    }
}
