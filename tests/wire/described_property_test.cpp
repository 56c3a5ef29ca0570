// There and back: what holds for any value.
#include <boost/json/serialize.hpp>
#include <cmath>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/described_types.hpp"

namespace andon {
namespace {

struct everything {
    bool flag{};
    signed char tiny{};
    unsigned short brief{};
    int whole{};
    long wide{};
    unsigned long long widest{};
    float single{};
    double number{};
    std::string text;
    std::optional<int> perhaps;
    std::vector<bool> flags;
    std::vector<std::optional<std::string>> gaps;
    std::map<std::string, std::vector<std::int64_t>> lists;
    std::chrono::microseconds delay{};
    unit in = unit::celsius;
    tree family;
    bool operator==(const everything&) const = default;
};
BOOST_DESCRIBE_STRUCT(everything, (),
                      (flag, tiny, brief, whole, wide, widest, single, number, text, perhaps, flags, gaps, lists, delay,
                       in, family))

rc::Gen<std::string> some_text() {
    return rc::gen::container<std::string>(rc::gen::oneOf(rc::gen::inRange<char>(0, 127), rc::gen::element('"', '\\')));
}

tree some_tree(int depth) {
    tree out{*some_text(), {}};
    const auto children = depth == 0 ? 0 : *rc::gen::inRange(0, 3);
    for (int i = 0; i < children; ++i) out.children.push_back(some_tree(depth - 1));
    return out;
}

RC_GTEST_PROP(described, what_was_written_is_read_as_it_was, ()) {
    everything original;
    original.flag = *rc::gen::arbitrary<bool>();
    original.tiny = *rc::gen::arbitrary<signed char>();
    original.brief = *rc::gen::arbitrary<unsigned short>();
    original.whole = *rc::gen::arbitrary<int>();
    original.wide = *rc::gen::arbitrary<long>();
    original.widest = *rc::gen::arbitrary<unsigned long long>();
    original.single = *rc::gen::arbitrary<float>();
    original.number = *rc::gen::arbitrary<double>();
    original.text = *some_text();
    original.perhaps = *rc::gen::element<std::optional<int>>(std::nullopt, 0, 5);
    original.flags = *rc::gen::arbitrary<std::vector<bool>>();
    original.gaps = *rc::gen::container<std::vector<std::optional<std::string>>>(
        rc::gen::element<std::optional<std::string>>(std::nullopt, "", "x"));
    original.lists = *rc::gen::container<std::map<std::string, std::vector<std::int64_t>>>(
        some_text(), rc::gen::arbitrary<std::vector<std::int64_t>>());
    original.delay =
        std::chrono::microseconds(*rc::gen::inRange<std::int64_t>(-4'611'686'018'000'000, 4'611'686'018'000'000));
    original.in = *rc::gen::element(unit::celsius, unit::fahrenheit);
    original.family = some_tree(3);

    const auto written = to_json(original);
    RC_ASSERT(from_json<everything>(written) == original);

    auto reparsed = from_json<everything>(boost::json::parse(boost::json::serialize(written)));
    // Boost.JSON 1.81 parses a double to within its last bits.
    RC_ASSERT(std::abs(reparsed.number - original.number) <= std::abs(original.number) * 1e-15);
    RC_ASSERT(std::abs(reparsed.single - original.single) <= std::abs(original.single) * 1e-6F);
    reparsed.number = original.number;
    reparsed.single = original.single;
    RC_ASSERT(reparsed == original);
}

RC_GTEST_PROP(described, a_double_is_an_integer_exactly_if_it_is_whole_and_in_range, ()) {
    const auto number = *rc::gen::map(rc::gen::inRange(-70'000'000, 70'000'000), [](int n) { return n / 1024.0; });
    const bool fits = number == std::trunc(number) && number >= -32768 && number <= 32767;
    try {
        const auto made = from_json<only<std::int16_t>>(boost::json::object{{"it", number}});
        RC_ASSERT(fits && made.it == number);
    } catch (const invalid_arguments&) {
        RC_ASSERT(!fits);
    }
}

RC_GTEST_PROP(described, an_integer_with_a_fraction_of_zeros_is_itself_or_refused, ()) {
    const auto number =
        *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::int64_t>()) >> *rc::gen::inRange(0, 60);
    const auto zeros = *rc::gen::inRange<std::size_t>(1, 8);
    try {
        RC_ASSERT(read<std::int64_t>(std::to_string(number) + '.' + std::string(zeros, '0')) == number);
    } catch (const invalid_arguments&) {
        RC_ASSERT(std::abs(number) > 1'000'000'000);
    }
}

boost::json::value some_json(int depth) {
    switch (*rc::gen::inRange(0, depth == 0 ? 5 : 7)) {
        case 0: return nullptr;
        case 1: return *rc::gen::arbitrary<bool>();
        case 2: return *rc::gen::arbitrary<std::int64_t>();
        case 3: return *rc::gen::arbitrary<double>();
        case 4: return boost::json::value(*rc::gen::element<std::string>("", "celsius", "\x1b\xff"));
        case 5: {
            boost::json::array out;
            for (int i = *rc::gen::inRange(0, 3); i > 0; --i) out.push_back(some_json(depth - 1));
            return out;
        }
        default: {
            boost::json::object out;
            for (const auto* name : {"name", "children", "in", "delay", "flags", "lists", "\n"}) {
                if (*rc::gen::inRange(0, 4) == 0) out[name] = some_json(depth - 1);
            }
            return out;
        }
    }
}

RC_GTEST_PROP(described, any_json_at_any_place_is_taken_or_refused_and_nothing_else, ()) {
    auto arguments = to_json(everything{});
    const auto place = *rc::gen::inRange<std::size_t>(0, arguments.size());
    (arguments.begin() + static_cast<std::ptrdiff_t>(place))->value() = some_json(3);
    try {
        const auto made = from_json<everything>(arguments);
        RC_ASSERT(from_json<everything>(to_json(made)) == made);
    } catch (const invalid_arguments& error) {
        RC_ASSERT(std::string_view(error.what()).starts_with("arguments."));
    }
}

}  // namespace
}  // namespace andon
