// Our client against our server, over HTTP and HTTPS, in one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <latch>

#include "core/named_case.hpp"
#include "server/served.hpp"
#include "transport/http/certificate.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct pair_case {
    std::string name;
    revision speaks;
    bool tls;
    bool json_only = false;
};

class http_pair : public testing::TestWithParam<pair_case> {
protected:
    void SetUp() override {
        server_.tool("park", "", [this](const json::object&, call& call) {
            started_.add(0);
            try {
                call.sleep_for(1h);
            } catch (const cancelled_error& stopped) {
                stopped_.add(stopped.cause());
                throw;
            }
            return "no";
        });
        server_.tool("echo", "",
                     [](const json::object& args, call&) { return std::string(args.at("text").as_string()); });
        server_.tool("tick", "", [](const json::object&, call& call) {
            for (int i = 1; i <= 20; ++i) call.progress(i);
            return "done";
        });
        server_.tool("ask", "", [](const json::object&, call& call) {
            return std::string(call.sample({{"messages", json::array()}, {"maxTokens", 1}}).at("model").as_string());
        });
        http_options how{.json_only = GetParam().json_only};
        if (GetParam().tls) {
            how.certificate = certificate_.file();
            how.private_key = certificate_.key_file();
        }
        port_ = server_.listen_http(std::move(how));
    }
    [[nodiscard]] std::string url(std::string_view host = "127.0.0.1") const {
        return (GetParam().tls ? "https://" : "http://") + std::string(host) + ':' + std::to_string(port_) + "/mcp";
    }
    [[nodiscard]] client connect() {
        client_options options = quiet_client({GetParam().speaks});
        options.on_sampling = [](const json::object&, const cancel_token&) -> json::object {
            return {{"role", "assistant"}, {"model", "m"}, {"content", {{"type", "text"}, {"text", "hi"}}}};
        };
        return client::connect_http(url(), {.ca_file = GetParam().tls ? certificate_.file() : ""}, std::move(options));
    }

    certificate certificate_;
    recorded<int> started_;
    recorded<cancel_cause> stopped_;
    server server_{quiet_server()};
    std::uint16_t port_ = 0;
};

INSTANTIATE_TEST_SUITE_P(client, http_pair,
                         testing::Values(pair_case{"v2025_03_26", revision::v2025_03_26, false},
                                         pair_case{"v2025_06_18", revision::v2025_06_18, false},
                                         pair_case{"v2025_11_25", revision::v2025_11_25, false},
                                         pair_case{"v2025_11_25_json", revision::v2025_11_25, false, true},
                                         pair_case{"v2025_11_25_tls", revision::v2025_11_25, true},
                                         pair_case{"v2026_07_28", revision::v2026_07_28, false},
                                         pair_case{"v2026_07_28_json", revision::v2026_07_28, false, true},
                                         pair_case{"v2026_07_28_tls", revision::v2026_07_28, true}),
                         by_name());

TEST_P(http_pair, calls_progress_and_questions) {
    auto client = connect();
    EXPECT_EQ(client.speaks(), GetParam().speaks);
    EXPECT_EQ(text_of(client.call_tool("echo", {{"text", "Grüße"}}).get()), "Grüße");
    int seen = 0;
    EXPECT_EQ(text_of(client.call_tool("tick", {}, {.on_progress = [&](const progress_update&) { ++seen; }}).get()),
              "done");
    EXPECT_EQ(seen, GetParam().json_only ? 0 : 20);
    if (!GetParam().json_only || era_of(GetParam().speaks) == era::modern) {
        EXPECT_EQ(text_of(client.call_tool("ask").get()), "m");
    }
    const std::string large(std::size_t{3} << 20U, 'x');
    EXPECT_EQ(text_of(client.call_tool("echo", {{"text", large}}).get()), large);
}

TEST_P(http_pair, SND_2_SND_4_SND_5_TIME_2_a_stop_reaches_the_handler) {
    auto client = connect();
    auto pending = client.call_tool("park");
    ASSERT_TRUE(started_.reach(1));
    EXPECT_TRUE(pending.cancel("Stop"));
    EXPECT_TRUE(pending.done());
    ASSERT_TRUE(stopped_.reach(1));
    const auto slow = client.call_tool("park", {}, {.timeout = 100ms});
    EXPECT_EQ(slow.get().status, call_status::timed_out);
    ASSERT_TRUE(stopped_.reach(2));
    const auto cause = era_of(GetParam().speaks) == era::modern ? cancel_cause::disconnect : cancel_cause::peer;
    EXPECT_THAT(stopped_.all(), testing::ElementsAre(cause, cause));
    EXPECT_EQ(text_of(client.call_tool("echo", {{"text", "on"}}).get()), "on");
    EXPECT_TRUE(eventually([&] { return server_.requests().size() == 0 && client.requests().size() == 0; }));
}

TEST_P(http_pair, SND_4_SND_5_a_stop_in_any_moment_reaches_the_handler) {
    auto client = connect();
    // From before it is sent to long after: whatever has started is stopped, and nothing is left.
    for (int i = 0; i < 60; ++i) {
        auto pending = client.call_tool("park");
        std::this_thread::sleep_for(std::chrono::microseconds(i * i * 2));
        pending.cancel("Stop");
    }
    EXPECT_EQ(text_of(client.call_tool("echo", {{"text", "on"}}).get()), "on");
    EXPECT_TRUE(eventually([&] { return server_.requests().size() == 0; }))
        << started_.all().size() << " started, " << stopped_.all().size() << " stopped";
    EXPECT_EQ(started_.all().size(), stopped_.all().size());
}

TEST_P(http_pair, the_end_of_the_client_ends_its_calls) {
    {
        auto client = connect();
        client.call_tool("park").detach();
        ASSERT_TRUE(started_.reach(1));
    }
    EXPECT_TRUE(stopped_.reach(1));
}

TEST_P(http_pair, from_many_threads) {
    auto client = connect();
    std::vector<std::thread> threads;
    std::atomic<int> good = 0;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 40; ++i) {
                const std::string text = std::to_string(t * 1'000 + i);
                auto pending = client.call_tool(i % 4 == 3 ? "park" : "echo", {{"text", text}});
                if (i % 4 == 3) {
                    pending.cancel("Stop");
                    good += pending.get().status == call_status::cancelled ? 1 : 0;
                } else {
                    good += text_of(pending.get()) == text ? 1 : 0;
                }
            }
        });
    }
    for (auto& each : threads) each.join();
    EXPECT_EQ(good, 320);
    EXPECT_TRUE(eventually([&] { return server_.requests().size() == 0 && client.requests().size() == 0; }));
}

class http_tls : public testing::Test {
protected:
    [[nodiscard]] std::string why_not(const std::string& host, const std::string& ca_file) {
        try {
            auto client = client::connect_http("https://" + host + ':' + std::to_string(port_) + "/mcp",
                                               {.ca_file = ca_file}, quiet_client({newest_modern}));
        } catch (const std::exception& error) {
            return error.what();
        }
        return "";
    }
    certificate certificate_;
    server server_{quiet_server()};
    std::uint16_t port_ =
        server_.listen_http({.certificate = certificate_.file(), .private_key = certificate_.key_file()});
};

TEST_F(http_tls, whom_nobody_vouches_for_is_not_spoken_to) {
    EXPECT_EQ(why_not("localhost", certificate_.file()), "");
    EXPECT_EQ(why_not("127.0.0.1", certificate_.file()), "");
    EXPECT_THAT(why_not("localhost", ""), HasSubstr("certificate was refused"));
    const certificate other;
    EXPECT_THAT(why_not("localhost", other.file()), HasSubstr("certificate was refused"));
    EXPECT_THAT(why_not("localhost", "/no/such/file"), HasSubstr("/no/such/file"));
}

TEST_F(http_tls, a_certificate_for_another_host_is_refused) {
    const certificate elsewhere({.names = "DNS:elsewhere.example"});
    server other(quiet_server());
    port_ = other.listen_http({.certificate = elsewhere.file(), .private_key = elsewhere.key_file()});
    EXPECT_THAT(why_not("localhost", elsewhere.file()), HasSubstr("certificate was refused"));
}

TEST_F(http_tls, who_speaks_no_tls_is_no_server) {
    server plain(quiet_server());
    port_ = plain.listen_http({});
    EXPECT_THAT(why_not("127.0.0.1", certificate_.file()), HasSubstr("TLS"));
}

}  // namespace
}  // namespace andon
