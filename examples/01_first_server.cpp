// A server with one tool. Try it: put it into the configuration of any MCP host, or pipe a message into it.
// Pressing Stop in the host ends the counting at once, and not one more byte is sent for that call.
#include <andon/server/server.hpp>
#include <boost/describe/class.hpp>

struct count_arguments {
    int to = 10;
};
BOOST_DESCRIBE_STRUCT(count_arguments, (), (to))

int main() {
    andon::server server({.name = "counter"});

    server.tool("count", "Counts slowly", [](const count_arguments& given, andon::call& call) -> std::string {
        for (int i = 1; i <= given.to; ++i) {
            call.sleep_for(
                std::chrono::milliseconds(100));  // wakes, and leaves the handler, when the call is cancelled
            call.progress(i, given.to);
        }
        return "counted to " + std::to_string(given.to);
    });

    server.serve_stdio();
}
