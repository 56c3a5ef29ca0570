// A server that the gateway's modern clients share, and that no one of them can spoil for the others.
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include "andon/wire/error.hpp"
#include "gateway/in_front.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr std::string_view of_initialize =
    R"("protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"stranger","version":"1"})";

/// A request that names a revision, in its headers and in itself, that has no such requests.
json::object asked_in_an_old_revision(in_front& front, std::string_view method, const std::string& raw_members,
                                      std::string_view name = {}) {
    http_client connection = front.caller().connection();
    connection.write(
        http_message("POST",
                     {{"Content-Type", "application/json"},
                      {"Accept", std::string(takes_both)},
                      {"MCP-Protocol-Version", "2025-06-18"},
                      {"Mcp-Method", std::string(method)},
                      {"Mcp-Name", std::string(name)}},
                     request_line(revision::v2025_11_25, "1", method,
                                  raw_members + R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-06-18",)"
                                                R"("io.modelcontextprotocol/clientCapabilities":{}})")));
    return outcome_of(connection).message.value();
}

class shared_server : public testing::TestWithParam<const char*> {
protected:
    [[nodiscard]] static bool legacy() { return std::string_view(GetParam()) == "legacy"; }
    void SetUp() override {
        EXPECT_EQ(front.asked("echo"), "done");
        // What andon says for itself: one process to find out the era, and one for all clients.
        EXPECT_THAT(initializes(), SizeIs(legacy() ? 2 : 0));
    }
    [[nodiscard]] std::vector<std::string> initializes() { return front.andon().log_lines("@told initialize"); }

    in_front front{hosted::modern_gateway,
                   {.arguments = {"--era", GetParam()}, .keys = "restart_first = \"10ms\"\nstart_timeout = \"5s\""}};
};
INSTANTIATE_TEST_SUITE_P(eras, shared_server, testing::Values("legacy", "modern", "both"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(shared_server, DIR_6_no_client_shakes_hands_for_all) {
    front.call("1", "sleep", with_key("beside", R"("ms":300,"text":"untouched")"));
    const auto begun = front.began("beside");
    const std::size_t before = initializes().size();
    front.request("2", "initialize", of_initialize);
    EXPECT_EQ(code_of(front.answer("2")), error_code::method_not_found);
    EXPECT_EQ(front.asked("pid"), std::to_string(begun.pid));
    EXPECT_THAT(initializes(), SizeIs(before));
    EXPECT_EQ(text_of(front.answer("1")), "untouched");
    // Nor is a process that is started later told of it.
    front.call("3", "crash");
    EXPECT_EQ(code_of(front.answer("3")), error_code::internal_error);
    EXPECT_EQ(front.asked("echo"), "done");
    EXPECT_THAT(front.andon().log_lines("stranger"), IsEmpty());
}

TEST_P(shared_server, HTTP_5_a_request_of_an_old_revision_is_refused_and_changes_nothing) {
    const std::string first = front.asked("pid");
    const std::size_t before = initializes().size();
    for (const auto& [method, members] :
         std::vector<std::pair<std::string, std::string>>{{"initialize", std::string(of_initialize)},
                                                          {"logging/setLevel", R"("level":"emergency")"},
                                                          {"resources/subscribe", R"("uri":"stranger:1")"},
                                                          {"ping", R"("of":"stranger")"}}) {
        EXPECT_EQ(code_of(asked_in_an_old_revision(front, method, members)), error_code::unsupported_version) << method;
    }
    EXPECT_EQ(code_of(asked_in_an_old_revision(front, "tools/call", R"("name":"crash","arguments":{})", "crash")),
              error_code::unsupported_version);
    EXPECT_EQ(front.asked("pid"), first);
    EXPECT_THAT(initializes(), SizeIs(before));
    front.call("3", "crash");
    EXPECT_EQ(code_of(front.answer("3")), error_code::internal_error);
    EXPECT_EQ(front.asked("echo"), "done");
    for (const char* const what : {"stranger", "emergency"}) EXPECT_THAT(front.andon().log_lines(what), IsEmpty());
}

/// One that calls itself what a server may refuse, and declares what the others cannot do.
TEST(shared_servers, a_legacy_server_is_told_of_andon_and_not_of_the_first_client) {
    in_front front(hosted::modern_gateway, {.arguments = {"--era", "legacy"}});
    front.call("1", "echo", "{}",
               R"("io.modelcontextprotocol/clientInfo":{"name":"stranger","version":"1","title":5})");
    EXPECT_EQ(text_of(front.answer("1")), "done");
    EXPECT_EQ(front.asked("echo"), "done");
    const auto told = front.andon().log_lines("@told initialize ");
    ASSERT_THAT(told, SizeIs(2));  // of the process that is asked for its era, and of the one that serves
    for (const std::string& each : told) {
        const json::value params = json::parse(each.substr(each.find('{')));
        EXPECT_EQ(params.at("clientInfo").at("name"), "andon");
        EXPECT_EQ(params.at("capabilities"), json::object()) << "nobody could answer";
    }
    EXPECT_THAT(told.back(), Not(HasSubstr("stranger")));
}

// What era it speaks is asked by a process of its own, which may fail.

/// It exits at once until there is that file.
in_front_settings fails_until(const std::string& file, std::string keys) {
    return {.arguments = {"-c", "echo @tried >&2; test -e " + file + " || exit 4; exec " MISBEHAVING_SERVER},
            .keys = std::move(keys),
            .command = "/bin/sh"};
}

TEST(era_probe, one_that_failed_is_not_tried_again_for_each_client_within_its_pause) {
    const own_folder folder;
    in_front front(hosted::modern_gateway, fails_until(folder / "works", "restart_first = \"1m\""));
    for (int i = 0; i < 20; ++i) {
        front.call("1", "echo");
        EXPECT_THAT(message_of(front.answer("1")),
                    HasSubstr("s could not be started: the server exited with status 4"));
    }
    EXPECT_EQ(front.andon().times_logged("@tried"), 1);
}

TEST(era_probe, its_pauses_grow_and_then_it_is_tried_again) {
    const own_folder folder;
    in_front front(hosted::modern_gateway,
                   fails_until(folder / "works", "restart_first = \"50ms\"\nrestart_most = \"200ms\""));
    const auto since = std::chrono::steady_clock::now();
    const auto tried = [&](int times) {
        return eventually([&] {
            EXPECT_THAT(front.asked("echo"), HasSubstr("exited with status 4"));
            return front.andon().times_logged("@tried") == times;
        });
    };
    EXPECT_TRUE(tried(5));
    EXPECT_GE(std::chrono::steady_clock::now() - since, 50ms + 100ms + 200ms + 200ms);
    static_cast<void>(folder.write("works", ""));
    EXPECT_TRUE(eventually([&] { return front.asked("echo") == "done"; }));
}

}  // namespace
}  // namespace andon
