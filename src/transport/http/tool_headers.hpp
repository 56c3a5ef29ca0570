// Which parameters of a server's tools are mirrored into headers (2026-07-28).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "andon/wire/envelope.hpp"
#include "andon/wire/http_headers.hpp"

namespace andon::detail {

/// Learns from every answer to tools/list that comes by.
class tool_headers {
public:
    using warning = std::function<void(const std::string& text)>;

    /// Gives the answer without the tools that must not be offered, where there are any.
    [[nodiscard]] std::optional<std::string> learn(const envelope& answer, const warning& warn);
    /// Null: none are known.
    [[nodiscard]] const std::vector<param_header>* of(const std::string& tool) const;

private:
    static constexpr std::size_t most_tools = 10'000;  // that have any: a server whose lists have no end

    std::unordered_map<std::string, std::vector<param_header>> tools_;
};

}  // namespace andon::detail
