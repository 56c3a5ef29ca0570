// Tables of cases in which each case has a name.
#pragma once

#include <gtest/gtest.h>
#include <string>

namespace andon {

/// For INSTANTIATE_TEST_SUITE_P: the test is called what its case is called.
struct by_name {
    template <class Case>
    std::string operator()(const testing::TestParamInfo<Case>& each) const {
        return each.param.name;
    }
};

}  // namespace andon
