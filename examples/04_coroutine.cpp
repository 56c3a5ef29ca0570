// A tool that mostly waits: as a coroutine it costs no thread while it does. Ten thousand of them are no trouble.
#include <andon/server/server.hpp>
#include <boost/describe/class.hpp>

struct remind_arguments {
    std::chrono::milliseconds in{1'000};
    std::string text = "time is up";
};
BOOST_DESCRIBE_STRUCT(remind_arguments, (), (in, text))

// Arguments by value: they have to outlive the waiting.
andon::async<std::string> remind(remind_arguments given, andon::call& call) {
    co_await call.async_sleep_for(given.in);  // ends early, by an exception, when the call is cancelled
    co_return given.text;
}

int main() {
    andon::server server({.name = "reminders"});
    server.tool("remind", "Answers after a while", remind);
    server.serve_stdio();
}
