// What the command line asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "andon/core/time.hpp"

namespace demo {

enum class display { live, plain, json };

struct options {
    std::size_t requests = 400;
    andon::duration length = std::chrono::seconds(5);
    std::uint64_t seed = 1;
    display show = display::live;
    bool help = false;
};

/// What is wrong with the command line, and what to write instead.
struct bad_usage {
    std::string message;
};

[[nodiscard]] std::variant<options, bad_usage> parse_options(std::span<char* const> arguments);

[[nodiscard]] std::string usage();

}  // namespace demo
