#include "null_peer.hpp"

#include <cstdlib>
#include <string>
#include <unistd.h>

#include "line_reader.hpp"
#include "messages.hpp"
#include "server_process.hpp"

namespace andon::bench {
namespace {

/// The number behind `name`, for a mark on stderr with the time at which the line was there.
void mark_number(std::string_view line, std::string_view name, const char* event, std::int64_t at) {
    const auto begin = line.find(name) + name.size();
    const auto number = line.substr(begin, line.find_first_not_of("0123456789", begin) - begin);
    write_all(STDERR_FILENO, std::string(event).append(number).append(" ").append(std::to_string(at)).append("\n"));
}

}  // namespace

void write_all(int fd, std::string_view rest) {
    while (!rest.empty()) {
        const auto wrote = ::write(fd, rest.data(), rest.size());
        if (wrote <= 0) std::_Exit(1);
        rest.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

void append_null_answer(std::string_view request, std::string& to) {
    constexpr std::string_view id_name = "\"id\":";
    const auto at = request.find(id_name);
    if (at == std::string_view::npos) return;
    const auto begin = at + id_name.size();
    const auto id = request.substr(begin, request.find(',', begin) - begin);
    to.append(R"({"jsonrpc":"2.0","id":)").append(id).append(R"(,"result":{)");
    if (request.find("\"initialize\"") != std::string_view::npos) {
        to.append(R"("protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"null","version":"1"})");
    } else {
        to.append(R"("content":[{"type":"text","text":")").append(echo_text).append("\"}]");
    }
    to.append("}}");
}

int run_null_peer() {
    line_reader input(STDIN_FILENO);
    std::string answers;
    const auto answer = [&](std::string_view line) {
        const auto at = now_ns();
        if (line.find("\"park\"") != std::string_view::npos) return mark_number(line, "\"id\":", "@start ", at);
        constexpr std::string_view cancelled = "\"requestId\":";
        if (line.find(cancelled) != std::string_view::npos) return mark_number(line, cancelled, "@cancel ", at);
        const auto before = answers.size();
        append_null_answer(line, answers);
        if (answers.size() != before) answers += '\n';
    };
    while (input.read(answer) != line_reader::result::end) {
        write_all(STDOUT_FILENO, answers);
        answers.clear();
    }
    return 0;
}

}  // namespace andon::bench
