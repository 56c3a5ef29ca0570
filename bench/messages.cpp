#include "messages.hpp"

#include <charconv>
#include <stdexcept>

namespace andon::bench {
namespace {

std::string call(std::int64_t id, std::string_view tool, std::string_view argument, std::string_view value,
                 std::string_view meta) {
    std::string message = R"({"jsonrpc":"2.0","id":)" + std::to_string(id);
    message.append(R"(,"method":"tools/call","params":{"name":")").append(tool).append(R"(","arguments":{")");
    message.append(argument).append(R"(":")").append(value).append("\"}");
    if (!meta.empty()) message.append(R"(,"_meta":)").append(meta);
    message.append("}}");
    return message;
}

}  // namespace

std::string echo_call(std::int64_t id, std::string_view meta) { return call(id, "echo", "text", echo_text, meta); }

std::string park_call(std::int64_t id, std::string_view meta) {
    return call(id, "park", "key", std::to_string(id), meta);
}

std::string cancel(std::int64_t id) {
    return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + std::to_string(id) +
           R"(,"reason":"Stop"}})";
}

bool read_number(std::string_view digits, std::int64_t& number) {
    const char* end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, number);
    return error == std::errc{} && stopped == end;
}

std::optional<found_id> find_id(std::string_view message) {
    constexpr std::string_view name = "\"id\":";
    const auto at = message.find(name);
    if (at == std::string_view::npos) return {};
    const auto begin = message.find_first_not_of(' ', at + name.size());
    const auto end = message.find_first_not_of("0123456789", begin);
    found_id found{.id = 0, .begin = begin, .end = end};
    if (end == std::string_view::npos || !read_number(message.substr(begin, end - begin), found.id)) return {};
    return found;
}

std::string revision_in(std::string_view answer) {
    const auto at = answer.find("\"protocolVersion\"");
    if (at == std::string_view::npos) return {};
    // The revisions are named by their dates.
    for (const std::string_view revision : {"2025-11-25", "2025-06-18"}) {
        if (answer.substr(at, 40).find(revision) != std::string_view::npos) return std::string(revision);
    }
    return {};
}

void expect_echo(std::string_view answer) {
    if (answer.find(echo_text) == std::string_view::npos || answer.find("\"result\":") == std::string_view::npos) {
        throw std::runtime_error("echo came back as: " + std::string(answer.substr(0, 300)));
    }
}

}  // namespace andon::bench
