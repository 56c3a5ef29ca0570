#include "options.hpp"

#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>

#include "andon/core/visible_text.hpp"

namespace demo {
namespace {

using namespace std::string_literals;

template <class Number>
std::optional<Number> parse(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

template <class Number>
std::optional<Number> parse_between(std::string_view text, Number least, Number most) {
    const auto value = parse<Number>(text);
    // Written so that a NaN is refused too.
    if (!value || !(*value >= least && *value <= most)) return std::nullopt;
    return value;
}

std::string quoted(std::string_view given) { return '\'' + andon::visible_text(given, 60) + '\''; }

bad_usage wants(std::string_view option, std::string_view what, std::string_view given) {
    return {std::string(option) + " wants " + std::string(what) + ", not " + quoted(given)};
}

std::optional<bad_usage> set_value(options& set, std::string_view option, std::string_view value) {
    if (option == "--requests") {
        const auto requests = parse_between<std::size_t>(value, 20, 100'000);
        if (!requests) return wants(option, "a whole number from 20 to 100000", value);
        set.requests = *requests;
    } else if (option == "--seconds") {
        const auto seconds = parse_between<double>(value, 1.0, 3600.0);
        if (!seconds) return wants(option, "a number from 1 to 3600", value);
        set.length = std::chrono::duration_cast<andon::duration>(std::chrono::duration<double>(*seconds));
    } else {
        const auto seed = parse<std::uint64_t>(value);
        if (!seed) return wants(option, "a whole number from 0 to 18446744073709551615", value);
        set.seed = *seed;
    }
    return std::nullopt;
}

}  // namespace

std::variant<options, bad_usage> parse_options(std::span<char* const> arguments) {
    options set;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view argument = arguments[i];
        const auto equals = argument.find('=');
        const auto option = argument.substr(0, equals);

        if (option == "--requests" || option == "--seconds" || option == "--seed") {
            std::string_view value;
            if (equals != std::string_view::npos) {
                value = argument.substr(equals + 1);
            } else if (i + 1 < arguments.size()) {
                value = arguments[++i];
            } else {
                return bad_usage{std::string(option) + " wants a number after it"};
            }
            if (auto wrong = set_value(set, option, value)) return *std::move(wrong);
        } else if (argument == "--help" || argument == "-h") {
            set.help = true;
        } else if (argument == "--json" || argument == "--plain") {
            const auto show = argument == "--json" ? display::json : display::plain;
            if (set.show != display::live && set.show != show) {
                return bad_usage{"--json and --plain exclude each other: give one of them"};
            }
            set.show = show;
        } else {
            return bad_usage{"unknown argument " + quoted(argument)};
        }
    }
    return set;
}

std::string usage() {
    return R"(usage: andon_demo [options]

Runs a few hundred requests in six sessions. Some are cancelled by the peer,
some by a deadline, some with their parent; one session is closed, one is
stopped by an operator. Shows them live, then how long they took to notice and
to stop, and checks that each was either answered or cancelled, never both.

  --requests N  how many requests, 20 to 100000 (default 400)
  --seconds S   about how long it takes, 1 to 3600 (default 5)
  --seed N      the same seed gives the same plan (default 1)
  --plain       no live table, a line of progress each second
  --json        no live table, the results as one JSON object
  --help        this text

Ctrl-C cancels what is in flight and shows what there is. NO_COLOR is respected.
Exit code: 0 all is well, 1 the check failed, 2 bad arguments, 130 interrupted.
)"s;
}

}  // namespace demo
