#include "andon/server/authorization.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>

#include "andon/wire/error.hpp"

namespace andon {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(static_tokens, know_whose_they_are) {
    const token_verifier verify = static_tokens({{"abc", "alice"}, {"abd", "bob"}, {"A-._~+/9==", "carol"}});
    EXPECT_EQ(verify("abc").who.value().id, "alice");
    EXPECT_EQ(verify("abd").who.value().id, "bob");
    EXPECT_EQ(verify("A-._~+/9==").who.value().id, "carol");
    EXPECT_THAT(verify("abc").who.value().scopes, IsEmpty());
}

TEST(static_tokens, refuse_all_others) {
    const token_verifier verify = static_tokens({{"abc", "alice"}});
    for (const std::string& token :
         {""s, "a"s, "ab"s, "abcd"s, "ABC"s, "abc "s, "abc\0"s, "alice"s, std::string(20'000, 'a')}) {
        const verification answer = verify(token);
        EXPECT_FALSE(answer.who) << token;
        EXPECT_EQ(answer.status, 401);
        EXPECT_NE(answer.error, "");
    }
    EXPECT_FALSE(static_tokens({})("").who);
}

TEST(static_tokens, that_nobody_could_send_are_not_taken) {
    for (const std::string& token :
         {""s, "a b"s, "a\nb"s, "="s, "a=b"s, "\xC3\xA4"s, "a\0b"s, std::string(20'000, 'a')}) {
        EXPECT_THROW((void)static_tokens({{token, "alice"}}), std::invalid_argument) << token;
    }
    EXPECT_THROW((void)static_tokens({{"abc", ""}}), std::invalid_argument);
}

TEST(bearer_token, is_the_one_in_the_header) {
    EXPECT_EQ(bearer_token("Bearer abc"), "abc");
    EXPECT_EQ(bearer_token("bearer   abc"), "abc");
    EXPECT_EQ(bearer_token("BEARER a.b-c_d~e+f/g=="), "a.b-c_d~e+f/g==");
    EXPECT_EQ(bearer_token("Bearer abc \t"), "abc");
    for (const std::string& header : {""s, "Bearer"s, "Bearer "s, "Bearer  "s, "Bearerabc"s, "Basic abc"s,
                                      "Bearer a b"s, "Bearer a,b"s, "Bearer \"a\""s, "Bearer =a"s, "Bearer =="s,
                                      "Bearer a\0"s, "Bearer\tabc"s, "Bearer \xC3\xA4"s, " Bearer abc"s, "Bea2er abc"s,
                                      "\x02"
                                      "earer abc"s}) {
        EXPECT_EQ(bearer_token(header), std::nullopt) << header;
    }
}

constexpr const char* metadata = "https://mcp.example.com/.well-known/oauth-protected-resource";

TEST(www_authenticate, tells_where_to_get_a_token) {
    EXPECT_EQ(www_authenticate(metadata), "Bearer resource_metadata=\""s + metadata + '"');
    EXPECT_EQ(www_authenticate(metadata, nullptr, {"files:read", "files:write"}),
              "Bearer scope=\"files:read files:write\", resource_metadata=\""s + metadata + '"');
    EXPECT_EQ(www_authenticate(""), "Bearer");
}

TEST(www_authenticate, tells_what_was_wrong_with_the_token) {
    const verification expired{.error = "the token has expired"};
    EXPECT_EQ(www_authenticate(metadata, &expired), "Bearer error=\"invalid_token\", resource_metadata=\""s + metadata +
                                                        "\", error_description=\"the token has expired\"");
    const verification weak{.error = "too few", .status = 403, .required_scopes = {"files:write"}};
    EXPECT_EQ(www_authenticate(metadata, &weak, {"files:read"}),
              "Bearer error=\"insufficient_scope\", scope=\"files:write\", resource_metadata=\""s + metadata +
                  "\", error_description=\"too few\"");
}

TEST(www_authenticate, is_one_safe_header_whatever_is_in_it) {
    const verification hostile{.error = "a\"b\\c\r\nSet-Cookie: x\0\x7F\xC3\xA4"s,
                               .required_scopes = {"ok", "a b", "a\"b", "a\r\nb", "", "\xC3\xA4", "a\\"}};
    const std::string value = www_authenticate("https://x/\"\\\r\n \xC3\xA4", &hostile);
    for (const char c : value) EXPECT_TRUE(c >= ' ' && c <= '~');
    EXPECT_EQ(value,
              "Bearer error=\"invalid_token\", scope=\"ok\", resource_metadata=\"https://x/%22%5C%0D%0A%20%C3%A4\", "
              "error_description=\"a'b'c''Set-Cookie: x''''\"");
}

TEST(protected_resource_metadata, is_the_document_of_the_rfc) {
    const auto document = json::parse(protected_resource_metadata(
        "https://mcp.example.com/mcp", {"https://a.example", "https://b.example"}, {"read"}));
    EXPECT_EQ(document, json::parse(R"({"resource": "https://mcp.example.com/mcp",
        "authorization_servers": ["https://a.example", "https://b.example"],
        "bearer_methods_supported": ["header"], "scopes_supported": ["read"]})"));
    EXPECT_THAT(protected_resource_metadata("r", {"a"}), Not(HasSubstr("scopes_supported")));
    EXPECT_EQ(json::parse(protected_resource_metadata("\"\n\xFF", {"\\"})).at("authorization_servers").at(0), "\\");
}

}  // namespace
}  // namespace andon
