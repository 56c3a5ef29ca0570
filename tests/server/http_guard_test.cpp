#include "server/http_guard.hpp"

#include <gtest/gtest.h>

namespace andon::detail {
namespace {

http_request with(std::string name, std::string value) {
    http_request request;
    request.headers.emplace_back(std::move(name), std::move(value));
    return request;
}

TEST(http_guard, DIR_6_hosts_under_which_we_are_known) {
    http_options options;
    EXPECT_FALSE(host_allowed(http_request(), options)) << "there must be one";
    for (const char* good : {"localhost", "LocalHost:80", "127.0.0.1", "127.0.0.1:", "[::1]", "[::1]:8080"}) {
        EXPECT_TRUE(host_allowed(with("host", good), options)) << good;
    }
    for (const char* bad : {"", ":", ":80", "evil.example", "localhost.", "localhost.evil.example", "127.0.0.1.nip.io",
                            "localhost:80@evil.example", "localhost:80:90", "[::1", "[::1]80", "[]", "[", "127.1",
                            "2130706433", "0x7f.1", "localhost evil", "evil#localhost"}) {
        EXPECT_FALSE(host_allowed(with("host", bad), options)) << bad;
    }
    options.hosts = {"Mcp.Example"};
    EXPECT_TRUE(host_allowed(with("host", "mcp.example:443"), options));
    EXPECT_TRUE(host_allowed(with("host", "localhost"), options)) << "always";
    EXPECT_FALSE(host_allowed(with("host", "x.mcp.example"), options));
    options.hosts = {"*"};
    EXPECT_TRUE(host_allowed(with("host", "anything.example"), options));
    EXPECT_FALSE(host_allowed(with("host", ""), options));
}

TEST(http_guard, DIR_6_pages_that_may_call) {
    http_options options;
    EXPECT_TRUE(origin_allowed(http_request(), options)) << "no page at all";
    for (const char* good : {"http://localhost", "https://LOCALHOST:3000", "http://127.0.0.1:1", "http://[::1]:5173"}) {
        EXPECT_TRUE(origin_allowed(with("origin", good), options)) << good;
    }
    for (const char* bad : {"", "null", "http://", "https://", "localhost", "http:/localhost", "ws://localhost",
                            "http://evil.example", "http://localhost.evil.example", "http://localhost@evil.example",
                            "http://localhost:80@evil.example", "http://localhost/", "http://localhost evil.example",
                            "file://localhost", "chrome-extension://abc", "http://[::1]evil"}) {
        EXPECT_FALSE(origin_allowed(with("origin", bad), options)) << bad;
    }
    options.origins = {"https://App.Example"};
    EXPECT_TRUE(origin_allowed(with("origin", "https://app.example"), options));
    EXPECT_FALSE(origin_allowed(with("origin", "http://app.example"), options)) << "another scheme is another origin";
    EXPECT_FALSE(origin_allowed(with("origin", "https://app.example:8443"), options));
    EXPECT_FALSE(origin_allowed(with("origin", "https://x.app.example"), options));
    EXPECT_FALSE(origin_allowed(with("origin", "https://app.example.evil"), options));
    options.origins = {"*"};
    EXPECT_TRUE(origin_allowed(with("origin", "null"), options));
}

TEST(http_guard, what_is_accepted) {
    const auto is = [](const char* accept, bool json, bool events) {
        const accepted_types types = accepted_by(with("accept", accept));
        EXPECT_EQ(types.json, json) << accept;
        EXPECT_EQ(types.events, events) << accept;
    };
    EXPECT_TRUE(accepted_by(http_request()).json && accepted_by(http_request()).events) << "no header takes anything";
    is("application/json, text/event-stream", true, true);
    is("text/event-stream,application/json", true, true);
    is("  Application/JSON ;q=0.9\t,\tTEXT/event-stream;charset=utf-8", true, true);
    is("application/json", true, false);
    is("text/event-stream", false, true);
    is("*/*", true, true);
    is("application/*", true, false);
    is("text/*", false, true);
    is("text/html", false, false);
    is("", false, false);
    is(",,,", false, false);
    is("application/jsonx, xtext/event-stream", false, false);
    // What has no weight is refused in so many words (RFC 9110).
    is("application/json;q=0, text/event-stream", false, true);
    is("application/json, text/event-stream; q=0.000", true, false);
    is("application/json;q=0.001", true, false);
}

TEST(http_guard, what_is_JSON_and_what_is_the_path) {
    EXPECT_FALSE(is_json(http_request()));
    for (const char* good : {"application/json", "Application/Json ; charset=utf-8", "application/json;x"}) {
        EXPECT_TRUE(is_json(with("content-type", good))) << good;
    }
    for (const char* bad : {"", "text/plain", "application/json-patch+json", "application/json, text/plain"}) {
        EXPECT_FALSE(is_json(with("content-type", bad))) << bad;
    }
    http_request request;
    request.target = "/mcp?x=/y?z";
    EXPECT_EQ(path_of(request), "/mcp");
    request.target = "?";
    EXPECT_EQ(path_of(request), "");
    request.target = "http://localhost:80/mcp?x";
    EXPECT_EQ(path_of(request), "/mcp");
    request.target = "https://localhost";
    EXPECT_EQ(path_of(request), "/");
}

}  // namespace
}  // namespace andon::detail
