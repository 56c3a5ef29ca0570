// A tool that asks the client's model. If the call is cancelled while the model thinks, the question is cancelled too.
// The same code serves every revision: up to 2025-11-25 the question is a request of ours, since 2026-07-28 it goes out
// as our answer, and the handler runs again when the client calls with what the model said.
#include <andon/server/server.hpp>
#include <boost/describe/class.hpp>

struct summarize_arguments {
    std::string text;
};
BOOST_DESCRIBE_STRUCT(summarize_arguments, (), (text))

andon::json::object question(const std::string& text) {
    const andon::json::object content{{"type", "text"}, {"text", "Summarize in one sentence: " + text}};
    return {{"messages", {{{"role", "user"}, {"content", content}}}}, {"maxTokens", 200}};
}

std::string summarize(const summarize_arguments& given, andon::call& call) {
    const andon::json::object answer = call.sample(question(given.text));
    return "In short: " + std::string(answer.at("content").at("text").as_string());
}

int main() {
    andon::server server({.name = "summaries"});
    server.tool("summarize", "Summarizes a text", summarize);
    server.serve_stdio();
}
