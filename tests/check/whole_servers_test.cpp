// `andon check` of servers that have nothing wrong with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "built_programs.hpp"
#include "check/report.hpp"
#include "check/run.hpp"

namespace andon::check {
namespace {

struct whole_server {
    std::string name;
    target where;
};

class whole_servers : public testing::TestWithParam<whole_server> {};

TEST_P(whole_servers, pass_entirely) {
    run_options how;
    how.search.jobs = 6;
    const checked_server found = check_server(GetParam().where, how);
    EXPECT_EQ(found.known.size(), 2U) << "eras";
    EXPECT_EQ(found.broken(), 0);
    EXPECT_EQ(found.count(result::differs), 0);
    EXPECT_GE(found.count(result::pass), 35);
    if (testing::Test::HasFailure()) std::cerr << as_text(found, GetParam().where, {});
}

target over_http(const std::string& program) {
    return {.command = {program, "--http", "{port}"}, .url = "http://127.0.0.1:{port}/mcp"};
}

INSTANTIATE_TEST_SUITE_P(
    check, whole_servers,
    testing::Values(whole_server{"everything_on_stdio", {.command = {built_program("everything_server")}}},
                    whole_server{"everything_over_http", over_http(built_program("everything_server"))},
                    whole_server{"plain_on_stdio", {.command = {ANDON_BROKEN_SERVER}}},
                    whole_server{"plain_over_http", over_http(ANDON_BROKEN_SERVER)}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace andon::check
