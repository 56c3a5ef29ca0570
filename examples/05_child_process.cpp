// A tool that runs a command. When the call is cancelled the command dies, and so does everything that it started,
// also what has moved to a session of its own.
#include <andon/server/server.hpp>
#include <boost/describe/class.hpp>

struct shell_arguments {
    std::string line;
};
BOOST_DESCRIBE_STRUCT(shell_arguments, (), (line))

andon::tool_result shell(const shell_arguments& given, andon::call& call) {
    int pieces = 0;
    std::string output;
    const auto result = call.run(andon::command::shell(given.line), [&](std::string_view piece) {
        output += piece;
        call.progress(++pieces, std::nullopt, piece);  // as it comes
    });
    if (result.status.signalled) {
        return andon::tool_result::error("killed by signal " + std::to_string(result.status.code));
    }
    if (result.status.code != 0) {
        return andon::tool_result::error(output + "exit status " + std::to_string(result.status.code));
    }
    return output;
}

int main() {
    andon::server server({.name = "shell"});
    server.tool("shell", "Runs a line of shell", shell);
    server.serve_stdio();
}
