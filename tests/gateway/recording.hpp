// A server that writes down what it is sent, and what it has written.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "andon/wire/revision.hpp"
#include "own_folder.hpp"
#include "server/served.hpp"

namespace andon {

/// What a recording_server was sent, so far.
class recording {
public:
    struct line {
        pid_t server;
        std::string text;

        [[nodiscard]] json::object message() const { return json::parse(text).as_object(); }
    };

    explicit recording(const own_folder& folder) : file_(folder / "recorded") {}

    [[nodiscard]] std::vector<std::string> server(era speaks = era::legacy) const {
        return {"--", ANDON_RECORDING_SERVER, file_, speaks == era::modern ? "modern" : "legacy"};
    }
    [[nodiscard]] std::vector<line> lines() const {
        std::vector<line> all;
        std::ifstream from(file_);
        for (std::string text; std::getline(from, text);) {
            const std::size_t space = text.find(' ');
            if (from.eof() || space == std::string::npos) break;  // it is not whole yet
            all.push_back({static_cast<pid_t>(std::stol(text)), text.substr(space + 1)});
        }
        return all;
    }
    [[nodiscard]] std::vector<line> with(std::string_view text) const {
        auto all = lines();
        std::erase_if(all, [&](const line& each) { return each.text.find(text) == std::string::npos; });
        return all;
    }
    /// Waits for as many.
    [[nodiscard]] std::vector<line> await(std::string_view text, std::size_t count = 1) const {
        std::vector<line> found;
        EXPECT_TRUE(eventually([&] { return (found = with(text)).size() >= count; }))
            << "no " << count << " lines with " << text << "; but" << all();
        return found;
    }
    [[nodiscard]] std::string all() const {
        std::string text;
        for (const line& each : lines()) text += '\n' + std::to_string(each.server) + ' ' + each.text.substr(0, 400);
        return text;
    }

private:
    std::string file_;
};

}  // namespace andon
