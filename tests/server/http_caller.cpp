#include "server/http_caller.hpp"

#include <boost/json/parse.hpp>

#include "andon/wire/error.hpp"

namespace andon {
namespace {

std::vector<std::string> with_http(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--http", "0"});
    return arguments;
}

}  // namespace

http_outcome outcome_of(http_client& connection) { return outcome_of(connection, connection.head()); }

http_outcome outcome_of(http_client& connection, http_answer head) {
    http_outcome all{.head = std::move(head), .events = {}};
    if (all.head.in_events()) {
        while (auto event = connection.event()) all.events.push_back(std::move(*event));
        if (!all.events.empty() && !all.events.back().data.empty()) {
            json::object last = all.events.back().message();
            if (last.contains("result") || last.contains("error")) all.message = std::move(last);
        }
    } else if (const std::string body = connection.body(); all.head.type() == "application/json") {
        all.message = json::parse(body).as_object();
    }
    return all;
}

http_headers http_caller::headers() const {
    http_headers all{{"Content-Type", "application/json"}, {"Accept", how_.accept}};
    if (!how_.token.empty()) all.emplace_back("Authorization", "Bearer " + how_.token);
    if (modern()) {
        all.emplace_back("MCP-Protocol-Version", to_string(speaks_));
    } else if (!session_.empty() || opened_) {
        if (!session_.empty()) all.emplace_back("Mcp-Session-Id", session_);
        if (speaks_ >= revision::v2025_06_18) all.emplace_back("MCP-Protocol-Version", to_string(speaks_));
    }
    return all;
}

std::string http_caller::post(std::string_view body, std::string_view method, std::string_view name) const {
    http_headers all = headers();
    if (modern() && !method.empty()) all.emplace_back("Mcp-Method", method);
    if (modern() && !name.empty()) all.emplace_back("Mcp-Name", name);
    return http_message("POST", all, body);
}

std::string http_caller::call_bytes(std::string_view raw_id, std::string_view tool, std::string_view raw_arguments,
                                    std::string_view raw_meta) const {
    return post(call_line(speaks_, raw_id, tool, raw_arguments, raw_meta), "tools/call", tool);
}

std::string http_caller::get_bytes(std::string_view last_event_id) const {
    http_headers all = headers();
    if (!last_event_id.empty()) all.emplace_back("Last-Event-ID", last_event_id);
    return http_message("GET", all);
}

std::string http_caller::delete_bytes() const { return http_message("DELETE", headers()); }

http_client http_caller::send(std::string_view bytes) const {
    http_client fresh = connection();
    fresh.write(bytes);
    return fresh;
}

int http_caller::tell(std::string_view body) const {
    http_client fresh = send(post(body));
    const http_answer answer = fresh.head();
    static_cast<void>(fresh.body());
    return answer.status;
}

void http_caller::open() {
    if (modern()) return;
    http_client fresh =
        send(post(request_line(speaks_, "\"hello\"", "initialize",
                               R"("protocolVersion":")" + std::string(to_string(speaks_)) +
                                   R"(","capabilities":{"sampling":{}},"clientInfo":{"name":"test","version":"1"})")));
    const http_outcome hello = outcome_of(fresh);
    ASSERT_EQ(hello.head.status, 200);
    ASSERT_TRUE(hello.message);
    EXPECT_EQ(hello.message->at("result").at("protocolVersion").as_string(), to_string(speaks_));
    session_ = hello.head.header("mcp-session-id").value_or("");
    opened_ = true;
    EXPECT_EQ(tell(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"), 202);
}

http_outcome http_caller::answered(std::string_view raw_id, std::string_view tool, std::string_view raw_arguments,
                                   std::string_view raw_meta) const {
    http_client fresh = call(raw_id, tool, raw_arguments, raw_meta);
    return outcome_of(fresh);
}

void http_caller::fence() const {
    const http_outcome answer = answered("\"fence\"", "echo", R"({"text":"fence"})");
    ASSERT_TRUE(answer.message);
    EXPECT_EQ(text_of(*answer.message), "fence");
}

void http_caller::until_free(std::string_view raw_id) const {
    for (;;) {
        const http_outcome next = answered(raw_id, "echo", R"({"text":"free"})");
        ASSERT_TRUE(next.message);
        if (code_of(*next.message) == error_code::invalid_request) continue;
        EXPECT_EQ(text_of(*next.message), "free");
        return;
    }
}

http_process::http_process(revision speaks, std::vector<std::string> arguments,
                           const std::vector<std::string>& environment)
    : server_process(speaks, environment, with_http(std::move(arguments))) {
    const std::string line = logged("listening on http");
    port_ = static_cast<std::uint16_t>(std::stoul(line.substr(line.rfind(':') + 1)));
}

}  // namespace andon
