// Running andons that are none, and the real command that asks them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/andon_process.hpp"
#include "gateway/runtime_folder.hpp"

namespace andon::app {

/// One that is ready to be asked.
class fake_andon : public program {
public:
    fake_andon() : program({FAKE_ANDON}) { until("ready\n"); }
    /// What it was told before is done.
    void fence() {
        const std::string text = "fence " + std::to_string(++fences_);
        say(text);
        until(text + '\n');
    }
    [[nodiscard]] std::string id(int number) const { return std::to_string(pid()) + '.' + std::to_string(number); }

private:
    int fences_ = 0;
};

}  // namespace andon::app
