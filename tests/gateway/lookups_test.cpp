// A server behind a URL: nobody waits on the loop until its host is found.
#include <filesystem>
#include <gtest/gtest.h>

#include "client/raw_http_server.hpp"
#include "gateway/relay_hosts.hpp"

namespace andon {
namespace {

class lookups : public testing::Test {
protected:
    lookups() {
        ::setenv("LD_PRELOAD", NOTED_LOOKUPS_LIBRARY, 1);
        ::setenv("NOTED_LOOKUPS", noted_.c_str(), 1);
    }
    ~lookups() override {
        ::unsetenv("LD_PRELOAD");
        ::unsetenv("NOTED_LOOKUPS");
    }
    void SetUp() override {
        if (sanitized) GTEST_SKIP() << "a sanitizer wants to be the first to be loaded";
    }
    [[nodiscard]] std::uintmax_t count() const { return std::filesystem::file_size(noted_); }

    own_folder folder;
    std::string noted_ = folder / "noted";
    raw_http_server server;
    words behind{"--url", "http://server.andon.test:" + std::to_string(server.port()) + "/mcp"};
};

TEST_F(lookups, of_the_gateway_are_done_before_its_first_session_and_for_all_of_them) {
    gateway_in_front gateway(folder, behind);
    EXPECT_EQ(count(), 1U);
    for (int i = 0; i < 3; ++i) {
        http_caller client = gateway.caller(newest_legacy);
        std::jthread host([&] { client.open(); });
        server.shake(newest_legacy, "upstream");
        host.join();
    }
    // Nobody has asked this server for its era: the probe is a connection of its own.
    http_client asked = gateway.caller(newest_modern).call("1", "quick");
    server.shake(newest_modern);
    server.next("tools/call").answer_text("done");
    EXPECT_EQ(count(), 1U);
}

TEST_F(lookups, of_wrap_are_done_before_its_session_and_for_what_follows_it) {
    wrapped host(newest_legacy, folder, behind);
    std::jthread opens([&] { host.open(); });
    server.shake(newest_legacy, "upstream");
    opens.join();
    host.call("1", "quick");
    server.next("tools/call").reply("404 Not Found");
    server.next("initialize").answer({{"protocolVersion", "2025-06-18"}, {"capabilities", json::object()}});
    // Such a server is left, and met again from the start.
    server.shake(newest_legacy, "upstream");
    EXPECT_EQ(count(), 1U);
}

}  // namespace
}  // namespace andon
