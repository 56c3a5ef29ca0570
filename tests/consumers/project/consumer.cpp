#include <andon/core/in_flight.hpp>
#include <chrono>
#include <iostream>

int main() {
    const auto now = std::chrono::steady_clock::now();
    andon::in_flight table;
    const auto session = table.open_session();
    const auto request = table.begin(session, andon::direction::incoming, 1, now).request;
    table.cancel({session.id(), andon::direction::incoming, 1}, andon::cancel_cause::peer, "Stop", now);
    const auto token = request.token();
    if (token.cancelled()) std::cout << "stopped: " << to_string(token.cause()) << ", " << token.why().text() << '\n';
}
