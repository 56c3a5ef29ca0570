#include "andon/core/request_id.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>
#include <set>
#include <sstream>
#include <unordered_set>

#include "core/named_case.hpp"

namespace andon {
namespace {

constexpr auto int64_max = std::numeric_limits<std::int64_t>::max();
constexpr auto int64_min = std::numeric_limits<std::int64_t>::min();

TEST(request_id, MSG_3_matches_only_with_type_and_value) {
    EXPECT_EQ(request_id(1), request_id(1));
    EXPECT_NE(request_id(1), request_id("1"));
    EXPECT_NE(request_id(9007199254740993), request_id(9007199254740994));
    EXPECT_NE(request_id(0), request_id(""));
    EXPECT_NE(request_id("a"), request_id("A"));
    EXPECT_EQ(request_id(int64_min).view().number(), int64_min);
}

TEST(request_id, MSG_3_zero_negative_and_empty_are_ids_like_any_other) {
    const std::set<request_id> ids{0, -1, "", "0", "-1", int64_max, int64_min};
    EXPECT_EQ(ids.size(), 7U);
    const std::unordered_set<request_id> hashed(ids.begin(), ids.end());
    EXPECT_EQ(hashed.size(), 7U);
    for (const auto& id : ids) EXPECT_TRUE(hashed.contains(request_id(id.view())));
}

TEST(request_id, MSG_3_a_string_with_a_nul_byte_is_kept_whole) {
    const request_id id(std::string("a\0b", 3));
    EXPECT_NE(id, request_id("a"));
    EXPECT_EQ(id.view().text().size(), 3U);
}

TEST(request_id, orders_integers_by_value_and_then_strings) {
    EXPECT_LT(request_id(-5), request_id(3));
    EXPECT_LT(request_id(int64_max), request_id(""));
    EXPECT_LT(request_id("a"), request_id("b"));
}

TEST(request_id, hash_depends_on_type_value_and_seed) {
    EXPECT_NE(request_id_view(1).hash(7), request_id_view("1").hash(7));
    EXPECT_NE(request_id_view(1).hash(7), request_id_view(1).hash(8));
    EXPECT_NE(request_id_view("x").hash(7), request_id_view("x").hash(8));
    EXPECT_EQ(request_id_view(std::string_view()).hash(7), request_id_view("").hash(7));
    EXPECT_NE(request_id_view(std::string_view("a\0", 2)).hash(7), request_id_view("a").hash(7));
    EXPECT_EQ(request_id_view("some longer text than sixteen").hash(7),
              request_id(std::string("some longer text than sixteen")).view().hash(7));
}

RC_GTEST_PROP(request_id, hash_is_of_the_value_and_not_of_the_object, (const std::string& text, std::uint64_t seed)) {
    const std::string copy(text.data(), text.size());
    RC_ASSERT(request_id_view(text).hash(seed) == request_id_view(copy).hash(seed));
}

TEST(request_id, is_shown_so_that_type_and_control_characters_can_be_seen) {
    std::ostringstream out;
    out << request_id(42) << ' ' << request_id("42") << ' ' << request_id("a\x1b[31m\n");
    EXPECT_EQ(out.str(), R"(42 "42" "a\x1b[31m\n")");
    EXPECT_LT(to_string(request_id(std::string(5'000, 'x'))).size(), 100U);
}

struct number_case {
    const char* name;
    std::string text;
    std::optional<std::int64_t> value;
};

class json_number : public testing::TestWithParam<number_case> {};

TEST_P(json_number, MSG_3_is_an_exact_integer_or_nothing) {
    EXPECT_EQ(request_id::integer_from_json(GetParam().text), GetParam().value) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    request_id, json_number,
    testing::Values(number_case{"one", "1", 1}, number_case{"zero_fraction_is_that_integer", "1.0", 1},
                    number_case{"many_zeros", "1.000000000000000000000000000000", 1},
                    number_case{"fraction_is_nothing", "1.9", {}},
                    number_case{"tiny_fraction", "1.00000000000000000000000000001", {}},
                    number_case{"exponent", "1e2", 100}, number_case{"exponent_with_fraction", "1.5e1", 15},
                    number_case{"exponent_too_small", "1.25e1", {}}, number_case{"negative_exponent", "10e-1", 1},
                    number_case{"negative_exponent_too_small", "15e-1", {}},
                    number_case{"exponent_capital_plus", "2E+3", 2000}, number_case{"negative", "-7", -7},
                    number_case{"negative_zero", "-0", 0}, number_case{"negative_zero_fraction", "-0.0e5", 0},
                    number_case{"beyond_double", "9007199254740993", 9007199254740993},
                    number_case{"beyond_double_with_fraction", "9007199254740993.0", 9007199254740993},
                    number_case{"largest", "9223372036854775807", int64_max},
                    number_case{"one_too_large", "9223372036854775808", {}},
                    number_case{"smallest", "-9223372036854775808", int64_min},
                    number_case{"one_too_small", "-9223372036854775809", {}},
                    number_case{"largest_by_exponent", "9223372036854775807000e-3", int64_max},
                    number_case{"huge_exponent", "1e999999999999999999999999", {}},
                    number_case{"huge_negative_exponent", "1e-999999999999999999999999", {}},
                    number_case{"zero_with_huge_exponent", "0e999999999999999999999999", 0},
                    number_case{"long_run_of_digits", std::string(1'000, '9'), {}},
                    number_case{"long_zeros_taken_back", "5" + std::string(1'000, '0') + "e-1000", 5},
                    number_case{"empty", "", {}}, number_case{"sign_only", "-", {}}, number_case{"plus", "+1", {}},
                    number_case{"leading_zero", "01", {}}, number_case{"no_whole_part", ".5", {}},
                    number_case{"no_fraction_digits", "1.", {}}, number_case{"no_exponent_digits", "1e", {}},
                    number_case{"trailing_space", "1 ", {}}, number_case{"hexadecimal", "0x1", {}},
                    number_case{"not_a_number", "NaN", {}}, number_case{"two_points", "1.0.0", {}}),
    by_name());

RC_GTEST_PROP(json_number, MSG_3_every_int64_comes_back_whatever_its_spelling, (std::int64_t value)) {
    const auto zeros = *rc::gen::inRange(0, 30);
    const auto plain = std::to_string(value);
    RC_ASSERT(request_id::integer_from_json(plain) == value);
    RC_ASSERT(request_id::integer_from_json(plain + "." + std::string(static_cast<std::size_t>(zeros) + 1, '0')) ==
              value);
    RC_ASSERT(request_id::integer_from_json(plain + std::string(static_cast<std::size_t>(zeros), '0') + "e-" +
                                            std::to_string(zeros)) ==
              (value == 0 && zeros > 0 ? std::nullopt : std::optional(value)));
}

}  // namespace
}  // namespace andon
