// Clients that are gone without a word, and such as do not read.
#include <chrono>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "process/descriptor.hpp"
#include "server/http_caller.hpp"

namespace andon {
namespace {

using detail::descriptor;
using ::testing::HasSubstr;

/// A network of this test's own. What it starts is in there too.
class private_network {
public:
    private_network() : before_(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
        made_ = ::unshare(CLONE_NEWNET) == 0;
        if (made_) switch_to(true);
    }
    private_network(const private_network&) = delete;
    private_network& operator=(const private_network&) = delete;
    ~private_network() {
        if (made_ && ::setns(before_.get(), CLONE_NEWNET) != 0) std::abort();
    }
    [[nodiscard]] bool made() const noexcept { return made_; }
    /// Pulls the plug: no packet arrives any more, and nobody is told.
    void unplug() { switch_to(false); }

private:
    static void switch_to(bool up) {
        const descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        ifreq request{};
        request.ifr_name[0] = 'l';
        request.ifr_name[1] = 'o';
        request.ifr_flags = static_cast<short>(up ? IFF_UP : 0);
        if (::ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0) throw std::runtime_error("the loopback stays as it is");
    }

    descriptor before_;
    bool made_ = false;
};

class http_vanished : public testing::TestWithParam<std::string_view> {};

TEST_P(http_vanished, HTTP_1_a_client_that_is_gone_without_a_word_is_found_and_its_request_cancelled) {
    private_network network;
    if (!network.made()) GTEST_SKIP() << "needs the right to make a network of its own";
    http_process server(revision::v2026_07_28, {"--comment-ms", "200", "--stalled-ms", "1000"});
    const http_caller client = server.caller({.accept = std::string(GetParam())});
    const http_client victim = client.call("71", "park", with_key("parked"));
    server.mark("start", "parked");
    client.fence();
    network.unplug();
    server.mark("cancel", "parked");
    EXPECT_THAT(server.logged("request 71 ("), HasSubstr("cancelled: disconnect"));
}

// In events the comments find it, for want of an answer to them; in JSON there is nothing to send, and the kernel asks.
INSTANTIATE_TEST_SUITE_P(http, http_vanished, testing::Values(takes_both, takes_json),
                         [](const auto& each) { return each.param == takes_json ? "json" : "events"; });

class http_does_not_read : public testing::TestWithParam<int> {};

TEST_P(http_does_not_read, HTTP_1_is_taken_for_gone_after_a_while_though_there_is_always_more_for_it) {
    http_process server(revision::v2026_07_28, {"--stalled-ms", "1000"});
    http_caller client = server.caller({.connection = {.receive_buffer = 1}});
    // The answer before fills what the kernels hold; the progress behind it waits in the server.
    http_client victim = client.connection();
    victim.write(client.call_bytes("70", "echo", R"({"text":")" + std::string(3'000'000, '.') + "\"}") +
                 client.call_bytes("71", "wait",
                                   with_key("waits", R"("ms":600000,"tick_ms":)" + std::to_string(GetParam())),
                                   R"("progressToken":1)"));
    server.mark("start", "waits");
    const auto began = std::chrono::steady_clock::now();
    server.mark("cancel", "waits");
    EXPECT_THAT(server.logged("request 71 ("), HasSubstr("cancelled: disconnect"));
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
    server.caller().fence();
}

INSTANTIATE_TEST_SUITE_P(http, http_does_not_read, testing::Values(1, 100),
                         [](const auto& each) { return "tick_of_" + std::to_string(each.param) + "_ms"; });

TEST(http_quiet, HTTP_1_a_client_that_waits_hears_of_us) {
    http_process server(revision::v2026_07_28, {"--comment-ms", "20"});
    const http_caller client = server.caller();
    http_client waiting = client.call("71", "block", with_key("blocks", R"("ms":300)"));
    const http_outcome answer = outcome_of(waiting);
    EXPECT_TRUE(answer.head.in_events()) << "there was something to say before the answer";
    EXPECT_GE(waiting.comments(), 2);
    EXPECT_EQ(answer.events.size(), 1U);
    EXPECT_EQ(text_of(*answer.message), "blocked 300 ms");
}

}  // namespace
}  // namespace andon
