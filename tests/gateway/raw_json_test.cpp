#include "gateway/translation/raw_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/named_case.hpp"

namespace andon::gateway {
namespace {

std::string split(std::string_view raw) try {
    std::string text;
    for (const raw_member& member : raw_object(raw, "it").members()) {
        text += std::string(member.raw_name) + "=" + std::string(member.raw_value) + ";";
    }
    return text;
} catch (const translation_fault& fault) {
    return fault.what();
}

struct split_case {
    const char* name;
    std::string raw;
    std::string expected;
};
class raw_object_splits : public testing::TestWithParam<split_case> {};

TEST_P(raw_object_splits, it) { EXPECT_EQ(split(GetParam().raw), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    each, raw_object_splits,
    testing::Values(split_case{"nothing", "", ""}, split_case{"empty", " { } ", ""},
                    split_case{"scalars", R"({"a":1e400,"b":-0.0 , "c" : null,"d":"x"})",
                               R"("a"=1e400;"b"=-0.0;"c"=null;"d"="x";)"},
                    split_case{"nested", R"({"a":{"b":[{"c":"}]"}]},"d":[[],{}]})",
                               R"("a"={"b":[{"c":"}]"}]};"d"=[[],{}];)"},
                    split_case{"escapes", R"({"\"":"\\","b\\":"\"}"})", R"("\""="\\";"b\\"="\"}";)"},
                    split_case{"backslashes", R"({"a":"\\\\","b":"\\\"","c":["\"\\",{"\\\\\"":1}]})",
                               R"("a"="\\\\";"b"="\\\"";"c"=["\"\\",{"\\\\\"":1}];)"},
                    split_case{"lines", "{\n\t\"a\"\r:\n1\n}\n", R"("a"=1;)"},
                    split_case{"deep", R"({"a":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}",
                               R"("a"=)" + std::string(100'000, '[') + std::string(100'000, ']') + ";"},
                    split_case{"array", "[]", "it must be an object"},
                    split_case{"number", "7", "it must be an object"},
                    split_case{"cut", R"({"a":{"b")", "it could not be read"},
                    split_case{"cut_in_an_escape", R"({"a":"\)", "it could not be read"},
                    split_case{"cut_after_the_name", R"({"a")", "it could not be read"},
                    split_case{"without_a_value", R"({"a":})", "it could not be read"},
                    split_case{"with_a_comma_too_many", R"({"a":1,})", "it could not be read"},
                    split_case{"followed_by_more", R"({"a":1}{)", "it could not be read"}),
    by_name());

TEST(raw_object, finds_a_member_by_its_name_whatever_its_escapes) {
    const raw_object object(R"({"\u0061":1,"b":2})", "it");
    EXPECT_EQ(object.at("a"), "1");
    EXPECT_EQ(object.at("b"), "2");
    EXPECT_EQ(object.at("c"), "");
    EXPECT_EQ(object.at(R"(\u0061)"), "");
}

TEST(raw_object, does_not_choose_between_two) {
    const raw_object object(R"({"a":1,"\u0061":2})", "it");
    EXPECT_THROW(static_cast<void>(object.at("a")), translation_fault);
}

TEST(raw_elements, are_those_of_the_array) {
    EXPECT_THAT(raw_elements(R"([ 1 ,"a,]",{"b":[2]},[]])", "it"),
                testing::ElementsAre("1", R"("a,]")", R"({"b":[2]})", "[]"));
    EXPECT_TRUE(raw_elements(" [ ] ", "it").empty());
    EXPECT_THROW(static_cast<void>(raw_elements("{}", "it")), translation_fault);
    EXPECT_THROW(static_cast<void>(raw_elements("[1", "it")), translation_fault);
    EXPECT_THROW(static_cast<void>(raw_elements("[1,]", "it")), translation_fault);
}

TEST(raw_writer, puts_together_what_was_split) {
    raw_writer to;
    EXPECT_TRUE(to.empty());
    for (const raw_member& member : raw_object(R"({"\u0061": 1e400 })", "it").members()) to.add(member);
    to.add("b", "[]").add_members(R"("c":1,"d":2)");
    EXPECT_EQ(std::move(to).done(), R"({"\u0061":1e400,"b":[],"c":1,"d":2})");
    EXPECT_EQ(raw_writer().done(), "{}");
}

}  // namespace
}  // namespace andon::gateway
