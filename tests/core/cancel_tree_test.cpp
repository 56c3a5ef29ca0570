#include <gtest/gtest.h>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "andon/core/cancel_callback.hpp"
#include "andon/core/cancel_source.hpp"
#include "core/test_time.hpp"

namespace andon {
namespace {

TEST(cancel_tree, RCV_12_the_cancel_goes_down_with_cause_parent_and_the_original_reason) {
    cancel_source session;
    cancel_source request(session.token());
    cancel_source nested(request.token());
    request.cancel(cancel_cause::peer, "the user pressed Stop", start);
    EXPECT_FALSE(session.token().cancelled());
    EXPECT_EQ(nested.token().cause(), cancel_cause::parent);
    EXPECT_EQ(nested.token().why().text(), "the user pressed Stop");
    EXPECT_EQ(nested.token().state()->asked_at(), start);
}

TEST(cancel_tree, RCV_12_reaches_every_child_and_every_grandchild) {
    cancel_source root;
    std::vector<std::unique_ptr<cancel_source>> below;
    for (int i = 0; i < 100; ++i) {
        below.push_back(std::make_unique<cancel_source>(root.token()));
        for (int k = 0; k < 3; ++k) below.push_back(std::make_unique<cancel_source>(below.back()->token()));
    }
    root.cancel(cancel_cause::shutdown, "leaving", start);
    for (const auto& node : below) EXPECT_EQ(node->token().cause(), cancel_cause::parent);
}

TEST(cancel_tree, siblings_and_parents_are_not_touched) {
    cancel_source root;
    cancel_source a(root.token());
    const cancel_source b(root.token());
    a.cancel(cancel_cause::peer, "a only", start);
    EXPECT_FALSE(b.token().cancelled());
    EXPECT_FALSE(root.token().cancelled());
}

TEST(cancel_tree, a_child_that_ends_first_leaves_cleanly) {
    cancel_source root;
    cancel_token ended;
    const cancel_source stays(root.token());
    {
        cancel_source child(root.token());
        ended = child.token();
        ASSERT_TRUE(child.begin_response());
    }
    root.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_FALSE(ended.cancelled());
    EXPECT_TRUE(stays.token().cancelled());
}

TEST(cancel_tree, a_child_that_was_cancelled_keeps_its_own_cause) {
    cancel_source root;
    cancel_source child(root.token());
    child.cancel(cancel_cause::timeout, "slow", start);
    root.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_EQ(child.token().cause(), cancel_cause::timeout);
}

TEST(cancel_tree, a_child_that_answers_is_not_cancelled_by_its_parent) {
    cancel_source root;
    cancel_source child(root.token());
    ASSERT_TRUE(child.begin_response());
    root.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_FALSE(child.token().cancelled());
}

TEST(cancel_tree, RCV_12_what_a_child_that_answers_has_started_is_cancelled_all_the_same) {
    cancel_source root;
    cancel_source child(root.token());
    const cancel_source nested(child.token());
    ASSERT_TRUE(child.begin_response());
    root.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_FALSE(child.token().cancelled());
    EXPECT_EQ(nested.token().cause(), cancel_cause::parent);
}

TEST(cancel_tree, a_source_that_is_assigned_to_ends_what_it_had) {
    cancel_source source;
    const auto old = source.token();
    source = cancel_source();
    EXPECT_EQ(old.state()->state(), request_state::done);
    EXPECT_EQ(source.state(), request_state::running);
}

TEST(cancel_tree, a_child_of_the_cancelled_is_cancelled_at_birth) {
    cancel_source root;
    root.cancel(cancel_cause::peer, "Stop", start);
    cancel_source child(root.token(), start);
    EXPECT_EQ(child.token().cause(), cancel_cause::parent);
    EXPECT_EQ(child.token().why().text(), "Stop");
    EXPECT_FALSE(child.begin_response());
}

TEST(cancel_tree, RCV_2_a_parent_that_ends_takes_what_it_started_with_it) {
    std::optional<cancel_source> root(std::in_place);
    cancel_source child(root->token());
    ASSERT_TRUE(root->begin_response());
    root.reset();
    EXPECT_EQ(child.token().cause(), cancel_cause::parent);
}

TEST(cancel_tree, RCV_2_a_child_of_the_ended_is_cancelled_at_birth) {
    cancel_source root;
    root.end(start);
    EXPECT_EQ(cancel_source(root.token(), start).token().cause(), cancel_cause::parent);
}

TEST(cancel_tree, RCV_13_a_parents_section_protects_its_children) {
    cancel_source root;
    const cancel_source before(root.token());
    std::optional<cancel_source> inside;
    {
        const uninterrupted_section section(root.token());
        root.cancel(cancel_cause::peer, "Stop", start);
        inside.emplace(root.token());
        EXPECT_FALSE(before.token().cancelled());
        EXPECT_FALSE(inside->token().cancelled());
    }
    EXPECT_TRUE(before.token().cancelled());
    EXPECT_TRUE(inside->token().cancelled());
}

TEST(cancel_tree, RCV_13_a_childs_section_delays_only_the_child) {
    cancel_source root;
    cancel_source protected_child(root.token());
    const cancel_source other(root.token());
    {
        const uninterrupted_section section(protected_child.token());
        root.cancel(cancel_cause::peer, "Stop", start);
        EXPECT_TRUE(other.token().cancelled());
        EXPECT_FALSE(protected_child.token().cancelled());
        EXPECT_FALSE(protected_child.begin_response()) << "the cancel was accepted all the same";
    }
    EXPECT_EQ(protected_child.token().cause(), cancel_cause::parent);
}

TEST(cancel_tree, cancelling_the_children_leaves_the_parent_and_later_children_alone) {
    cancel_source root;
    std::vector<std::unique_ptr<cancel_source>> children;
    for (int i = 0; i < 200; ++i) children.push_back(std::make_unique<cancel_source>(root.token()));
    int own = 0;
    const cancel_callback callback(root.token(), [&] { ++own; });
    root.token().state()->cancel_children(cancel_cause::operator_, reason("all of it"), start);
    for (const auto& child : children) EXPECT_EQ(child->token().cause(), cancel_cause::operator_);
    EXPECT_FALSE(root.token().cancelled());
    EXPECT_EQ(own, 0);
    EXPECT_FALSE(cancel_source(root.token()).token().cancelled());
}

TEST(cancel_tree, children_may_end_inside_the_callbacks_of_their_parents_cancel) {
    cancel_source root;
    std::vector<std::unique_ptr<cancel_source>> children;
    for (int i = 0; i < 10; ++i) children.push_back(std::make_unique<cancel_source>(root.token()));
    const cancel_callback drop_all(children.back()->token(), [&] {
        for (std::size_t i = 0; i + 1 < children.size(); ++i) children[i].reset();
    });
    root.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_TRUE(children.back()->token().cancelled());
}

TEST(cancel_tree, a_child_that_ends_while_its_callbacks_run_for_the_parents_cancel_does_not_wait_for_them) {
    cancel_source root;
    std::latch running(1);
    std::latch child_ended(1);
    std::optional<cancel_source> child(std::in_place, root.token());
    const auto token = child->token();
    const cancel_callback slow(token, [&] {
        running.count_down();
        child_ended.wait();
    });
    std::jthread canceller([&] { root.cancel(cancel_cause::peer, "Stop", start); });
    running.wait();
    child.reset();
    child_ended.count_down();
    canceller.join();
    EXPECT_TRUE(token.cancelled());
}

TEST(cancel_tree, in_every_race_of_birth_and_end_with_the_parents_cancel_each_child_is_told_once_or_gone) {
    for (int round = 0; round < 1'000; ++round) {
        cancel_source root;
        std::atomic<bool> go{false};
        std::jthread canceller([&] {
            while (!go) std::this_thread::yield();
            root.cancel(cancel_cause::peer, "Stop", start);
        });
        std::atomic<int> told{0};
        const cancel_source stays(root.token());
        const cancel_callback count(stays.token(), [&] { ++told; });
        go = true;
        for (int i = 0; i < 20; ++i) {
            const cancel_source passing(root.token());
            ASSERT_TRUE(!passing.token().cancelled() || passing.token().cause() == cancel_cause::parent);
        }
        canceller.join();
        ASSERT_EQ(told, 1);
        ASSERT_TRUE(cancel_source(root.token()).token().cancelled());
    }
}

TEST(cancel_tree, a_limit_on_places_counts_until_the_end) {
    cancel_source root;
    auto& parent = *root.token().state();
    using admission = cancel_state::admission;
    EXPECT_EQ(parent.take_place(2), admission::let_in);
    EXPECT_EQ(parent.take_place(2), admission::let_in);
    EXPECT_EQ(parent.take_place(2), admission::refused);
    EXPECT_EQ(parent.places_taken(), 2U);
    parent.give_place_back();
    EXPECT_EQ(parent.take_place(2), admission::let_in);
    root.cancel(cancel_cause::peer, "Stop", start);
    EXPECT_EQ(parent.take_place(9), admission::cancelled);
    parent.give_place_back();
    parent.give_place_back();
    EXPECT_EQ(parent.places_taken(), 0U);
}

}  // namespace
}  // namespace andon
