// What andon does while nobody wants anything.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

#include "built_programs.hpp"
#include "gateway/in_front.hpp"
#include "server/served.hpp"

namespace andon {
namespace {

using namespace std::chrono_literals;

/// How often its threads were put on a processor.
std::int64_t switches_of(pid_t process) {
    std::int64_t all = 0;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
        std::ifstream status(thread.path() / "status");
        for (std::string line; std::getline(status, line);) {
            const std::size_t at = line.find("voluntary_ctxt_switches:");
            if (at != std::string::npos) all += std::stoll(line.substr(line.find(':') + 1));
        }
    }
    return all;
}

class idle : public testing::TestWithParam<hosted> {};

TEST_P(idle, is_never_woken) {
    if (sanitized) GTEST_SKIP() << "sanitizers have threads of their own";
    in_front front(GetParam(), {});
    front.open();
    EXPECT_EQ(front.asked("echo"), "done");
    std::int64_t before = -1;
    int same = 0;
    EXPECT_TRUE(eventually([&] {  // what the call left to do is done
        const std::int64_t now = switches_of(front.andon().pid());
        same = std::exchange(before, now) == now ? same + 1 : 0;
        return same == 100;
    }));
    std::this_thread::sleep_for(1'500ms);  // the time in which it would be
    EXPECT_EQ(switches_of(front.andon().pid()), before);
}

INSTANTIATE_TEST_SUITE_P(gateway, idle, testing::ValuesIn(all_hosts), hosted_name());

}  // namespace
}  // namespace andon
