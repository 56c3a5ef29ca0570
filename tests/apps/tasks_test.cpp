// `andon call` of a server at a URL, with `--task` and `--detach`, and `andon tasks`, in both dialects.
#include <boost/json/parse.hpp>
#include <csignal>
#include <gmock/gmock.h>

#include "apps/andon_process.hpp"
#include "server/server_process.hpp"

namespace andon {
namespace {

using testing::HasSubstr;

class andon_tasks : public testing::TestWithParam<revision> {
protected:
    void SetUp() override {
        const std::string line = server_.logged("listening on ");
        url_ = line.substr(line.find("http"));
    }

    [[nodiscard]] std::vector<std::string> words(std::vector<std::string> before,
                                                 std::vector<std::string> after = {}) const {
        before.push_back(url_);
        before.insert(before.end(), after.begin(), after.end());
        before.insert(before.end(),
                      {"--bearer-env", "ANDON_TEST_TOKEN", "--revision", std::string(to_string(GetParam()))});
        return before;
    }
    [[nodiscard]] andon_run andon(std::vector<std::string> before, std::vector<std::string> after = {}) const {
        return run_andon(words(std::move(before), std::move(after)), {}, token_);
    }
    /// Of a task that works until it is stopped.
    [[nodiscard]] std::string detached(const std::string& key) {
        const andon_run ran = andon({"call"}, {"task_park", "key=" + key, "--detach"});
        EXPECT_EQ(ran.status, 0) << ran.err;
        static_cast<void>(server_.mark("start", key));
        return ran.out.substr(0, ran.out.find('\n'));
    }

    const std::vector<std::pair<std::string, std::string>> token_{{"ANDON_TEST_TOKEN", "secret"}};
    server_process server_{GetParam(), {}, {"--http", "0", "--token", "secret=me", "--task-poll-ms", "20"}};
    std::string url_;
};

TEST_P(andon_tasks, none_to_list_is_said) {
    if (GetParam() != revision::v2025_11_25) GTEST_SKIP() << "only that revision lists them";
    const andon_run none = andon({"tasks", "list"});
    EXPECT_EQ(none.status, 0) << none.err;
    EXPECT_EQ(none.out, "");
    EXPECT_EQ(none.err, "andon: the server has no tasks of yours\n");
    EXPECT_EQ(andon({"tasks", "list"}, {"--json"}).out, "[]\n");
}

INSTANTIATE_TEST_SUITE_P(both, andon_tasks, testing::Values(revision::v2025_11_25, revision::v2026_07_28),
                         revision_name());

class andon_call_http : public andon_tasks {};
INSTANTIATE_TEST_SUITE_P(both, andon_call_http, testing::Values(revision::v2025_11_25, revision::v2026_07_28),
                         revision_name());

TEST_P(andon_call_http, SND_4_SND_5_SND_7_is_cancelled_by_the_first_signal) {
    andon_process process(words({"call"}, {"wait", "ms=60000", "tick_ms=5", "key=h"}), {}, token_);
    process.until_error("wait: 0%");
    process.signal(SIGINT);
    EXPECT_EQ(process.end(), 130);
    EXPECT_THAT(process.err(), HasSubstr("the server was told, and answers other requests"));
    static_cast<void>(server_.mark("cancel", "h"));
}

TEST_P(andon_call_http, says_what_is_missing_where_a_token_is_wanted) {
    const andon_run ran = run_andon({"call", url_, "echo", "text=x"});
    EXPECT_EQ(ran.status, 3);
    EXPECT_THAT(ran.err, HasSubstr("--bearer-env"));
    const andon_run unset = run_andon({"call", url_, "echo", "text=x", "--bearer-env", "ANDON_TEST_NO_SUCH_VARIABLE"});
    EXPECT_EQ(unset.status, 2);
    EXPECT_THAT(unset.err, HasSubstr("is not set"));
}

TEST_P(andon_tasks, are_followed_to_their_result) {
    const andon_run ran = andon({"call"}, {"task_wait", "ms=50", "tick_ms=10", "--task"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.out, "waited 50 ms\n");
    EXPECT_THAT(ran.err, HasSubstr("task "));
}

TEST_P(andon_tasks, SND_6_TASK_6_are_cancelled_by_the_first_signal) {
    andon_process process(words({"call"}, {"task_park", "key=p", "--task"}), {}, token_);
    process.until_error("task ");
    static_cast<void>(server_.mark("start", "p"));
    process.signal(SIGINT);
    EXPECT_EQ(process.end(), 130);
    EXPECT_THAT(process.err(), HasSubstr("the server was told, and the task is cancelled"));
    static_cast<void>(server_.mark("cancel", "p"));
}

TEST_P(andon_tasks, are_left_to_themselves_listed_followed_and_cancelled) {
    const std::string id = detached("a");
    const andon_run list = run_andon({"tasks", "list", url_, "--bearer-env", "ANDON_TEST_TOKEN"}, {}, token_);
    EXPECT_EQ(list.status, 0) << list.err;
    EXPECT_THAT(list.out, testing::ContainsRegex(id + " +working"));

    andon_process follower(words({"tasks", "follow"}, {id}), {}, token_);
    follower.until_error("following task " + id);
    const andon_run stop = andon({"tasks", "cancel"}, {id});
    EXPECT_EQ(stop.status, 0) << stop.err;
    EXPECT_EQ(stop.out, "the task is cancelled\n");
    static_cast<void>(server_.mark("cancel", "a"));
    EXPECT_EQ(follower.end(), 1);
    EXPECT_THAT(follower.err(), HasSubstr("it was cancelled by somebody else"));
}

TEST_P(andon_tasks, TASK_7_are_not_stopped_by_a_follower_that_leaves) {
    const std::string id = detached("b");
    andon_process follower(words({"tasks", "follow"}, {id}), {}, token_);
    follower.until_error("following task " + id);
    follower.signal(SIGINT);
    EXPECT_EQ(follower.end(), 130);
    EXPECT_THAT(follower.err(), HasSubstr("the task goes on"));
    EXPECT_FALSE(server_.marked("cancel", "b"));
    const json::value stop = json::parse(andon({"tasks", "cancel"}, {id, "--json"}).out);
    EXPECT_EQ(stop.at("status").as_string(), "cancelled");
}

TEST_P(andon_tasks, TASK_7_are_not_stopped_by_the_end_of_a_followers_time) {
    const std::string id = detached("c");
    const andon_run follower = andon({"tasks", "follow"}, {id, "--max-timeout", "100ms"});
    EXPECT_EQ(follower.status, 4);
    EXPECT_THAT(follower.err, HasSubstr("the time is over; the task goes on"));
    const json::value stop = json::parse(andon({"tasks", "cancel"}, {id, "--json"}).out);
    EXPECT_EQ(stop.at("status").as_string(), "cancelled") << "it was in progress until then";
    EXPECT_EQ(andon({"tasks", "follow"}, {id, "--timeout", "1s"}).status, 2) << "there is no such option";
}

TEST_P(andon_tasks, a_call_that_is_made_no_task_is_not_taken_for_one) {
    const andon_run detach = andon({"call"}, {"echo", "text=hello", "--detach"});
    EXPECT_EQ(detach.status, 1);
    EXPECT_EQ(detach.out, "") << "no id";
    EXPECT_THAT(detach.err, HasSubstr("the server did not make it a task"));
    const andon_run task = andon({"call"}, {"echo", "text=hello", "--task"});
    EXPECT_EQ(task.status, 0);
    EXPECT_EQ(task.out, "hello\n");
    EXPECT_THAT(task.err, HasSubstr("the server did not make it a task"));
}

TEST_P(andon_tasks, that_are_not_there_are_an_error) {
    EXPECT_EQ(andon({"tasks", "cancel"}, {"nothing"}).status, 1);
    EXPECT_EQ(andon({"tasks", "follow"}, {"nothing"}).status, 1);
}

}  // namespace
}  // namespace andon
