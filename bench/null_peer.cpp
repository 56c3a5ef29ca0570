#include "null_peer.hpp"

#include <string>
#include <unistd.h>

#include "line_reader.hpp"
#include "messages.hpp"

namespace andon::bench {

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
        const auto before = answers.size();
        append_null_answer(line, answers);
        if (answers.size() != before) answers += '\n';
    };
    while (input.read(answer) != line_reader::result::end) {
        for (std::string_view rest = answers; !rest.empty();) {
            const auto wrote = ::write(STDOUT_FILENO, rest.data(), rest.size());
            if (wrote <= 0) return 1;
            rest.remove_prefix(static_cast<std::size_t>(wrote));
        }
        answers.clear();
    }
    return 0;
}

}  // namespace andon::bench
