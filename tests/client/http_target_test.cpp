// Where a server is: found out once, and again without anybody who waits for it.
#include "transport/http/http_target.hpp"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include "client/opened_transport.hpp"
#include "client/raw_http_server.hpp"
#include "transport/http/certificate.hpp"
#include "transport/http/http_client_transport.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;
using detail::http_target;

/// What the test says that the resolver says of `server.andon.test`, which no resolver knows.
struct resolver {
    std::mutex mutex;
    std::condition_variable changed;
    std::string address;  // empty: there is none
    bool answers = true;
    int asked = 0;  // for any name

    void set(std::string to, bool at_once = true) {
        const std::lock_guard lock(mutex);
        address = std::move(to);
        answers = at_once;
        changed.notify_all();
    }
    [[nodiscard]] int times_asked() {
        const std::lock_guard lock(mutex);
        return asked;
    }
    std::optional<std::string> ask(std::string_view name) {
        std::unique_lock lock(mutex);
        ++asked;
        if (name != "server.andon.test") return std::nullopt;
        changed.wait(lock, [&] { return answers; });
        return address;
    }
};

resolver& the_resolver() {
    static resolver one;
    return one;
}

}  // namespace
}  // namespace andon

/// In place of the system's.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* wanted, addrinfo** found) {
    static const auto system = reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    const bool asks = name != nullptr && (wanted == nullptr || (wanted->ai_flags & AI_NUMERICHOST) == 0);
    const auto told = asks ? andon::the_resolver().ask(name) : std::nullopt;
    if (told && told->empty()) return EAI_NONAME;
    return system(told ? told->c_str() : name, service, wanted, found);
}

namespace andon {
namespace {

class http_target_test : public testing::Test {
protected:
    ~http_target_test() override { the_resolver().set("127.0.0.1"); }

    static std::string first_of(const http_target& target) {
        const auto addresses = target.addresses();
        const auto& first = reinterpret_cast<const sockaddr_in&>(addresses->at(0).bytes);
        std::array<char, INET_ADDRSTRLEN> text{};
        return ::inet_ntop(AF_INET, &first.sin_addr, text.data(), text.size());
    }

    const std::string url = "http://server.andon.test:9/mcp";
    int before = the_resolver().times_asked();
};

TEST_F(http_target_test, an_address_and_localhost_need_no_resolver) {
    for (const char* each : {"http://127.0.0.1/", "http://[::1]:9/", "http://localhost:9/"}) {
        const http_target target(each, {}, 0s);
        EXPECT_FALSE(target.addresses()->empty());
        target.unreachable();
        EXPECT_EQ(target.addresses(), target.addresses()) << "it was looked up again";
    }
    EXPECT_EQ(the_resolver().times_asked(), before);
}

TEST_F(http_target_test, is_looked_up_and_its_certificates_are_read_once_for_all) {
    the_resolver().set("127.0.0.1");
    auto trusted = std::make_unique<certificate>();
    const auto target = std::make_shared<http_target>("https://server.andon.test:9/mcp", trusted->file(), 1min);
    trusted.reset();
    the_resolver().set("127.0.0.1", false);
    for (int i = 0; i < 3; ++i) {
        const detail::http_client_transport made(target, {.ca_file = "/nowhere"}, {});
    }
    EXPECT_EQ(the_resolver().times_asked(), before + 1);
}

TEST_F(http_target_test, is_looked_up_again_when_it_is_too_old_and_nobody_waits_for_that) {
    the_resolver().set("127.0.0.1");
    const http_target target(url, {}, 0s);
    the_resolver().set("127.0.0.2", false);
    EXPECT_EQ(first_of(target), "127.0.0.1");
    EXPECT_TRUE(eventually([&] { return the_resolver().times_asked() == before + 2; }));
    EXPECT_EQ(first_of(target), "127.0.0.1");
    EXPECT_EQ(the_resolver().times_asked(), before + 2) << "somebody is on the way already";
    the_resolver().set("127.0.0.2");
    EXPECT_TRUE(eventually([&] { return first_of(target) == "127.0.0.2"; }));
}

TEST_F(http_target_test, is_still_where_it_was_when_it_is_not_found_any_more) {
    the_resolver().set("127.0.0.1");
    const http_target target(url, {}, 0s);
    the_resolver().set("");
    // Whoever asks while a look-up is on the way begins none.
    EXPECT_TRUE(eventually([&] {
        EXPECT_EQ(first_of(target), "127.0.0.1");
        return the_resolver().times_asked() >= before + 4;
    }));
}

TEST_F(http_target_test, that_was_not_found_is_looked_up_until_it_is) {
    the_resolver().set("");
    const http_target target(url, {}, 1min);
    EXPECT_THROW(static_cast<void>(target.addresses()), std::runtime_error);
    the_resolver().set("127.0.0.1");
    EXPECT_TRUE(eventually([&] {
        try {
            return first_of(target) == "127.0.0.1";
        } catch (const std::runtime_error& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr("cannot find server.andon.test"));
            return false;
        }
    }));
}

TEST_F(http_target_test, that_moved_is_found_by_a_session_that_is_open) {
    raw_http_server server;
    the_resolver().set("127.0.0.2");  // where nobody listens
    const auto target = std::make_shared<http_target>(
        "http://server.andon.test:" + std::to_string(server.port()) + "/mcp", std::string(), 1h);
    opened_transport client(
        std::make_unique<detail::http_client_transport>(target, http_client_options(), transport_limits()));
    the_resolver().set("127.0.0.1");
    int asked = 0;
    EXPECT_TRUE(eventually([&] {
        const std::string id = std::to_string(++asked);
        client.over().send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/list"})", nullptr);
        return eventually([&] { return !server.nothing_came() || client.times_heard("(lost)") == asked; }) &&
               !server.nothing_came();
    }));
}

}  // namespace
}  // namespace andon
