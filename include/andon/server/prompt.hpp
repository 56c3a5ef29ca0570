// A prompt, and the arguments that it takes.
#pragma once

#include <boost/json/array.hpp>
#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include "andon/server/handler.hpp"

namespace andon {

struct prompt_argument {
    std::string name;
    std::string description{};
    bool required = false;
};

struct prompt_options {
    std::string name;
    std::string description{};
    std::string title{};
    std::vector<prompt_argument> arguments{};
};

/// Messages in order. A plain string is one message of the user's.
class prompt_result {
public:
    prompt_result() = default;
    template <class T>
    requires std::convertible_to<T, std::string_view> prompt_result(const T& words) {
        user(words);
    }  // NOLINT(google-explicit-constructor)

    prompt_result& user(std::string_view words) { return message("user", {{"type", "text"}, {"text", words}}); }
    prompt_result& assistant(std::string_view words) {
        return message("assistant", {{"type", "text"}, {"text", words}});
    }
    prompt_result& message(std::string_view role, const json::object& content) {
        messages_.emplace_back(json::object{{"role", role}, {"content", content}});
        return *this;
    }
    prompt_result& description(std::string_view words) {
        description_ = words;
        return *this;
    }
    [[nodiscard]] detail::handler_result written() const;

private:
    json::array messages_;
    std::string description_;
};

}  // namespace andon
