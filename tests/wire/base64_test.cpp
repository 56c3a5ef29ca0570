#include "wire/base64.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace andon::detail {
namespace {

TEST(base64, is_that_of_the_rfc) {
    const std::pair<const char*, const char*> known[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"},
                                                         {"\xFB\xFF\xFE", "+//+"},
                                                         {"Hello, 世界", "SGVsbG8sIOS4lueVjA=="}};
    for (const auto& [bytes, text] : known) {
        EXPECT_EQ(base64_encoded(bytes), text);
        EXPECT_EQ(base64_decoded(text), bytes) << text;
    }
    EXPECT_EQ(base64_encoded("\xFB\xFF\xFE\xFB", base64_form::url), "-__--w");
    EXPECT_EQ(base64_decoded("-__--w", base64_form::url), "\xFB\xFF\xFE\xFB");
}

TEST(base64, has_one_form_only) {
    for (const char* const text :
         {"Zg", "Zg=",  "Zg===", "Zg==Zg==", "Z",      "Zm8",   "Zm9v=", "Zm9v====", "Zh==", "Zm9=", "=",
          "==", "====", "Z===",  "Zm 9v",    "Zm9v\n", "Zm9v ", " Zm9v", "Zm9\xC3",  "-_--", "Zg=a"}) {
        EXPECT_EQ(base64_decoded(text), std::nullopt) << text;
    }
    EXPECT_EQ(base64_decoded(std::string_view("Zm9\0", 4)), std::nullopt);
    for (const char* const text : {"Zg==", "Zm8=", "Z", "Zh", "Zm9", "+//+", "Zm9v=", "Zm.9", "Zm9v Zm9v"}) {
        EXPECT_EQ(base64_decoded(text, base64_form::url), std::nullopt) << text;
    }
}

RC_GTEST_PROP(base64, comes_back_as_it_went, (const std::string& bytes)) {
    RC_ASSERT(base64_decoded(base64_encoded(bytes)) == bytes);
    RC_ASSERT(base64_decoded(base64_encoded(bytes, base64_form::url), base64_form::url) == bytes);
}

RC_GTEST_PROP(base64, what_is_decoded_is_encoded_to_the_same, ()) {
    const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("AQgw048/+-_=")));
    for (const auto form : {base64_form::standard, base64_form::url}) {
        const auto bytes = base64_decoded(text, form);
        if (bytes) RC_ASSERT(base64_encoded(*bytes, form) == text);
    }
}

}  // namespace
}  // namespace andon::detail
