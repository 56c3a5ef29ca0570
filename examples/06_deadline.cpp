// A tool with a time limit: the handler can see how much is left, and is stopped when nothing is. The client gets an
// error that says so; with a cancel of its own it would get nothing.
#include <andon/server/server.hpp>

std::string refine(andon::call& call) {
    int rounds = 0;
    // Something that gets better the longer it takes: stop while there is time to answer.
    while (*call.deadline() - std::chrono::steady_clock::now() > std::chrono::milliseconds(50)) {
        call.sleep_for(std::chrono::milliseconds(10));
        ++rounds;
    }
    return rounds > 0 ? "a good answer" : "no answer";
}

void stubborn(andon::call& call) { call.sleep_for(std::chrono::hours(1)); }

int main() {
    andon::server server({.name = "deadlines"});
    server.tool({.name = "refine", .description = "Uses its time", .limit = std::chrono::milliseconds(200)}, refine);
    server.tool({.name = "stubborn", .description = "Takes too long", .limit = std::chrono::milliseconds(200)},
                stubborn);
    server.serve_stdio();
}
