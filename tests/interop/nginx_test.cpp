// The server behind nginx, as Debian has it and with its defaults: a proxy passes disconnects and events on, if it is
// told what our answers tell it.
#include <arpa/inet.h>
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "andon/wire/error.hpp"
#include "server/http_caller.hpp"
#include "server/served.hpp"
#include "transport/http/certificate.hpp"

namespace andon {
namespace {

constexpr std::string_view asks_for_progress = R"("progressToken":"p")";

std::string nginx_program() {
    for (const std::string where : {"/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"}) {
        if (std::filesystem::exists(where)) return where;
    }
    return {};
}

std::uint16_t free_port() {
    const detail::descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    return ntohs(address.sin_port);
}

/// One process, with a directory of its own for whatever it writes.
class nginx {
public:
    explicit nginx(std::uint16_t upstream) {
        // Somebody else may take the port before nginx does.
        for (int tries = 0; tries < 5 && !answers_; ++tries) start(upstream);
    }
    nginx(const nginx&) = delete;
    nginx& operator=(const nginx&) = delete;
    ~nginx() { stop(); }
    [[nodiscard]] bool answers() const noexcept { return answers_; }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

private:
    void start(std::uint16_t upstream) {
        stop();
        port_ = free_port();
        std::string program = nginx_program();
        std::string prefix = directory_.path().string() + '/';
        std::string settings =
            directory_.file("nginx.conf",
                            "daemon off; master_process off; pid nginx.pid; error_log stderr error;\n"
                            "events {}\n"
                            "http {\n"
                            "  access_log off;\n"
                            "  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;\n"
                            "  uwsgi_temp_path uwsgi; scgi_temp_path scgi;\n"
                            "  server {\n"
                            "    listen 127.0.0.1:" +
                                std::to_string(port_) +
                                ";\n"
                                "    location / {\n"
                                "      proxy_pass http://127.0.0.1:" +
                                std::to_string(upstream) +
                                ";\n"
                                "      proxy_http_version 1.1;\n"
                                "      proxy_set_header Connection \"\";\n"
                                "      proxy_read_timeout 1s;\n"
                                "    }\n"
                                "  }\n"
                                "}\n");
        std::string prefix_flag = "-p";
        std::string settings_flag = "-c";
        std::array<char*, 6> arguments{program.data(),       prefix_flag.data(), prefix.data(),
                                       settings_flag.data(), settings.data(),    nullptr};
        if (::posix_spawn(&pid_, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) pid_ = -1;
        answers_ = pid_ > 0 && eventually([&] { return has_ended() || is_there(); }) && pid_ > 0;
    }

    bool has_ended() {
        if (::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
        return pid_ < 0;
    }

    [[nodiscard]] bool is_there() const {
        try {
            const http_client connection(port_);
            return true;
        } catch (const std::system_error&) {
            return false;
        }
    }

    void stop() {
        if (pid_ < 0) return;
        ::kill(pid_, SIGTERM);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

    temporary_directory directory_;
    std::uint16_t port_ = 0;
    pid_t pid_ = -1;
    bool answers_ = false;
};

class behind_nginx : public testing::Test {
protected:
    void SetUp() override {
        if (nginx_program().empty()) GTEST_SKIP() << "nginx is not installed: scripts/setup.sh does it";
    }
};

TEST_F(behind_nginx, HTTP_1_a_client_that_leaves_cancels) {
    http_process server(revision::v2026_07_28);
    const nginx proxy(server.port());
    ASSERT_TRUE(proxy.answers());
    const http_caller client(proxy.port(), revision::v2026_07_28);
    client.fence();
    http_client before_the_first_byte = client.call("1", "park", with_key("quiet"));
    server.mark("start", "quiet");
    before_the_first_byte.close();
    server.mark("cancel", "quiet");
    // That an event arrives while the call has ten minutes to go shows that nobody waits for more of them.
    http_client events = client.call("2", "wait", with_key("events", R"("ms":600000,"tick_ms":20)"), asks_for_progress);
    ASSERT_TRUE(events.head().in_events());
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(events.event());
    events.close();
    server.mark("cancel", "events");
    client.fence();
}

TEST_F(behind_nginx, HTTP_1_comments_keep_the_proxy_from_hanging_up) {
    http_process server(revision::v2026_07_28, {"--comment-ms", "200"});
    const nginx proxy(server.port());
    ASSERT_TRUE(proxy.answers());
    const http_caller client(proxy.port(), revision::v2026_07_28);
    http_client quiet = client.call("1", "wait", R"({"ms":2500,"tick_ms":2500})");
    const http_outcome answer = outcome_of(quiet);
    ASSERT_TRUE(answer.message);
    EXPECT_EQ(text_of(*answer.message), "waited 2500 ms");
    EXPECT_GE(quiet.comments(), 3);
}

TEST_F(behind_nginx, HTTP_1_a_proxy_that_hangs_up_cancels) {
    http_process server(revision::v2026_07_28, {"--comment-ms", "600000"});
    const nginx proxy(server.port());
    ASSERT_TRUE(proxy.answers());
    const http_caller client(proxy.port(), revision::v2026_07_28);
    http_client quiet = client.call("1", "park", with_key("quiet"));
    EXPECT_EQ(quiet.head().status, 504);
    server.mark("cancel", "quiet");
}

class legacy_behind_nginx : public testing::TestWithParam<revision> {
protected:
    void SetUp() override {
        if (nginx_program().empty()) GTEST_SKIP() << "nginx is not installed: scripts/setup.sh does it";
    }
};
INSTANTIATE_TEST_SUITE_P(every, legacy_behind_nginx, testing::ValuesIn(legacy_http_revisions), revision_name());

TEST_P(legacy_behind_nginx, HTTP_3_a_posted_cancel_finds_its_request_and_the_stream_ends) {
    http_process server(GetParam());
    const nginx proxy(server.port());
    ASSERT_TRUE(proxy.answers());
    http_caller client(proxy.port(), GetParam());
    client.open();
    http_client waiting =
        client.call("1", "wait", with_key("stopped", R"("ms":600000,"tick_ms":20)"), asks_for_progress);
    const http_answer head = waiting.head();
    ASSERT_TRUE(head.in_events());
    EXPECT_TRUE(waiting.event());
    client.cancel("1");
    server.mark("cancel", "stopped");
    const http_outcome ended = outcome_of(waiting, head);
    ASSERT_TRUE(ended.message);
    EXPECT_EQ(code_of(*ended.message), error_code::request_cancelled);
}

TEST_P(legacy_behind_nginx, HTTP_2_a_client_that_was_cut_off_comes_back_for_the_rest) {
    http_process server(GetParam());
    const nginx proxy(server.port());
    ASSERT_TRUE(proxy.answers());
    http_caller client(proxy.port(), GetParam());
    client.open();
    http_client cut_off = client.call("1", "wait", with_key("kept", R"("ms":1000,"tick_ms":20)"), asks_for_progress);
    ASSERT_TRUE(cut_off.head().in_events());
    std::string last_seen;
    for (int i = 0; i < 3; ++i) last_seen = cut_off.event()->id.value_or("");
    cut_off.close();
    http_client back = client.get(last_seen);
    const http_outcome rest = outcome_of(back);
    ASSERT_TRUE(rest.message);
    EXPECT_EQ(text_of(*rest.message), "waited 1000 ms");
    EXPECT_FALSE(server.marked("cancel", "kept"));
}

}  // namespace
}  // namespace andon
