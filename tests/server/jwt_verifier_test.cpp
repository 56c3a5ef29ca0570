#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdexcept>

#include "andon/server/authorization.hpp"
#include "andon/wire/error.hpp"
#include "core/named_case.hpp"
#include "transport/http/certificate.hpp"
#include "wire/base64.hpp"

namespace andon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

std::string url(std::string_view bytes) { return detail::base64_encoded(bytes, detail::base64_form::url); }

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

/// A key of whoever issues tokens.
class signer {
public:
    explicit signer(EVP_PKEY* key) : key_(key, EVP_PKEY_free) {
        const std::unique_ptr<BIO, int (*)(BIO*)> out(BIO_new(BIO_s_mem()), BIO_free);
        EXPECT_EQ(PEM_write_bio_PUBKEY(out.get(), key), 1);
        BUF_MEM* written = nullptr;
        BIO_get_mem_ptr(out.get(), &written);
        public_pem_.assign(written->data, written->length);
        file_ = directory_.file("key.pem", public_pem_);
    }

    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] const std::string& public_pem() const { return public_pem_; }

    [[nodiscard]] std::string signature(std::string_view text) const {
        const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
        std::size_t size = 0;
        EXPECT_EQ(EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()), 1);
        EXPECT_EQ(EVP_DigestSign(context.get(), nullptr, &size, bytes_of(text), text.size()), 1);
        std::string made(size, ' ');
        EXPECT_EQ(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(made.data()), &size, bytes_of(text),
                                 text.size()),
                  1);
        made.resize(size);
        return EVP_PKEY_get_base_id(key_.get()) == EVP_PKEY_EC ? two_numbers(made) : made;
    }

    [[nodiscard]] std::string token(const std::string& head, const std::string& claims) const {
        const std::string text = url(head) + '.' + url(claims);
        return text + '.' + url(signature(text));
    }

private:
    static std::string two_numbers(const std::string& der) {
        const unsigned char* at = bytes_of(der);
        const std::unique_ptr<ECDSA_SIG, void (*)(ECDSA_SIG*)> both(
            d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())), ECDSA_SIG_free);
        std::string made(64, '\0');
        auto* const to = reinterpret_cast<unsigned char*>(made.data());
        BN_bn2binpad(ECDSA_SIG_get0_r(both.get()), to, 32);
        BN_bn2binpad(ECDSA_SIG_get0_s(both.get()), to + 32, 32);
        return made;
    }

    std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key_;
    temporary_directory directory_;
    std::string public_pem_;
    std::string file_;
};

/// Made once: RSA keys take their time.
const signer& rsa() {
    static const signer made(EVP_RSA_gen(2'048));
    return made;
}
const signer& curve() {
    static const signer made(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
    return made;
}

constexpr const char* issuer = "https://issuer.example";
constexpr const char* audience = "https://mcp.example.com/mcp";

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// Claims that are right, but for what is given; null takes one away.
std::string claims(const json::object& other = {}) {
    json::object all{
        {"iss", issuer}, {"aud", audience}, {"sub", "alice"}, {"exp", now() + 300}, {"scope", "read  write"}};
    for (const auto& each : other) {
        if (each.value().is_null()) {
            all.erase(each.key());
        } else {
            all[each.key()] = each.value();
        }
    }
    return json::serialize(all);
}

const std::string rs256 = R"({"alg":"RS256","typ":"JWT"})";
const std::string es256 = R"({"alg":"ES256","typ":"at+jwt"})";

jwt_options options(const signer& key = rsa()) {
    return {.key_file = key.file(), .issuer = issuer, .audience = audience, .required_scopes = {"read"}};
}

verification verified(const std::string& token, const jwt_options& given = options()) {
    return jwt_verifier(given)(token);
}

TEST(jwt_verifier, knows_who_calls) {
    for (const bool with_rsa : {true, false}) {
        const signer& key = with_rsa ? rsa() : curve();
        const auto answer = verified(key.token(with_rsa ? rs256 : es256, claims()), options(key));
        ASSERT_TRUE(answer.who) << answer.error;
        EXPECT_EQ(answer.who->id, "https://issuer.example alice");
        EXPECT_THAT(answer.who->scopes, ElementsAre("read", "write"));
        EXPECT_EQ(answer.error, "");
    }
}

TEST(jwt_verifier, can_be_copied_and_used_often) {
    token_verifier verify = jwt_verifier(options());
    const token_verifier copy = verify;
    verify = nullptr;
    const std::string token = rsa().token(rs256, claims());
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(copy(token).who);
}

struct claim_case {
    const char* name;
    json::object changed;
    std::string error;  ///< empty: the token is good
};

class claim : public testing::TestWithParam<claim_case> {};

TEST_P(claim, decides) {
    const auto answer = verified(rsa().token(rs256, claims(GetParam().changed)));
    EXPECT_EQ(answer.who.has_value(), GetParam().error.empty()) << answer.error;
    EXPECT_THAT(answer.error, HasSubstr(GetParam().error));
    EXPECT_EQ(answer.status, 401);
}

INSTANTIATE_TEST_SUITE_P(
    times, claim,
    testing::Values(claim_case{"no_end", {{"exp", nullptr}}, "when it expires"},
                    claim_case{"an_end_in_words", {{"exp", std::to_string(now() + 300)}}, "when it expires"},
                    claim_case{"expired", {{"exp", now() - 120}}, "expired"},
                    claim_case{"expired_within_the_leeway", {{"exp", now() - 30}}, ""},
                    claim_case{"expired_ages_ago", {{"exp", -1e300}}, "expired"},
                    claim_case{"good_for_ever", {{"exp", 1e300}}, ""},
                    claim_case{"a_fraction", {{"exp", static_cast<double>(now()) + 100.5}}, ""},
                    claim_case{"not_yet", {{"nbf", now() + 120}}, "not valid yet"},
                    claim_case{"not_yet_within_the_leeway", {{"nbf", now() + 30}}, ""},
                    claim_case{"begun", {{"nbf", now() - 1}}, ""},
                    claim_case{"a_beginning_in_words", {{"nbf", "now"}}, "not valid yet"}),
    by_name());

INSTANTIATE_TEST_SUITE_P(
    names, claim,
    testing::Values(claim_case{"no_issuer", {{"iss", nullptr}}, "issuer"},
                    claim_case{"another_issuer", {{"iss", "https://issuer.example/"}}, "issuer"},
                    claim_case{"an_issuer_in_a_list", {{"iss", json::array{issuer}}}, "issuer"},
                    claim_case{"no_audience", {{"aud", nullptr}}, "audience"},
                    claim_case{"another_audience", {{"aud", "https://mcp.example.com"}}, "audience"},
                    claim_case{"one_audience_of_several", {{"aud", json::array{"x", audience}}}, ""},
                    claim_case{"none_of_several", {{"aud", json::array{"x", 5, json::array{audience}}}}, "audience"},
                    claim_case{"no_audience_in_the_list", {{"aud", json::array{}}}, "audience"},
                    claim_case{"an_audience_of_another_kind", {{"aud", json::object{{"a", audience}}}}, "audience"},
                    claim_case{"no_subject", {{"sub", nullptr}}, "subject"},
                    claim_case{"an_empty_subject", {{"sub", ""}}, "subject"},
                    claim_case{"a_subject_of_another_kind", {{"sub", 5}}, "subject"},
                    claim_case{"a_subject_with_a_newline", {{"sub", "alice\nbob"}}, "subject"},
                    claim_case{"a_subject_with_a_space", {{"sub", "alice b"}}, ""}),
    by_name());

TEST(jwt_verifier, refuses_too_few_scopes_as_such) {
    for (const json::value& scopes : {json::value("write"), json::value(""), json::value("reading"), json::value(5),
                                      json::value(nullptr), json::value(json::array{"read"})}) {
        const auto answer = verified(rsa().token(rs256, claims({{"scope", scopes}})));
        EXPECT_FALSE(answer.who);
        EXPECT_EQ(answer.status, 403);
        EXPECT_THAT(answer.required_scopes, ElementsAre("read"));
    }
}

TEST(jwt_verifier, asks_for_no_more_than_it_was_told_to) {
    const jwt_options only_key{.key_file = rsa().file()};
    const auto answer =
        verified(rsa().token(rs256, claims({{"iss", nullptr}, {"aud", nullptr}, {"scope", nullptr}})), only_key);
    ASSERT_TRUE(answer.who) << answer.error;
    EXPECT_EQ(answer.who->id, "alice");
    EXPECT_FALSE(verified(rsa().token(rs256, claims({{"exp", nullptr}})), only_key).who);
}

TEST(jwt_verifier, never_takes_two_subjects_of_two_issuers_for_one) {
    const jwt_options only_key{.key_file = rsa().file()};
    const auto id = [&](const json::object& changed) {
        const auto answer = verified(rsa().token(rs256, claims(changed)), only_key);
        return answer.who ? answer.who->id : "(refused)";
    };
    EXPECT_EQ(id({{"iss", "https://a"}, {"sub", "b c"}}), "https://a b c");
    EXPECT_EQ(id({{"iss", "https://a b"}, {"sub", "c"}}), "(refused)");
    EXPECT_EQ(id({{"iss", nullptr}, {"sub", "https://a b c"}}), "(refused)");
    EXPECT_EQ(id({{"iss", ""}, {"sub", "https://a b c"}}), "(refused)");
    EXPECT_EQ(id({{"iss", "https://a\tb"}, {"sub", "c"}}), "(refused)");
}

class wrong_head : public testing::TestWithParam<std::string> {};

TEST_P(wrong_head, is_refused_however_well_it_is_signed) {
    EXPECT_FALSE(verified(rsa().token(GetParam(), claims())).who);
}

INSTANTIATE_TEST_SUITE_P(jwt_verifier, wrong_head,
                         testing::Values(R"({})", R"({"typ":"JWT"})", R"({"alg":"none"})", R"({"alg":"None"})",
                                         R"({"alg":"HS256"})", R"({"alg":"rs256"})", R"({"alg":"RS384"})",
                                         R"({"alg":"PS256"})", R"({"alg":"ES256"})", R"({"alg":null})",
                                         R"({"alg":["RS256"]})", R"({"alg":"RS256","crit":["exp"]})",
                                         R"({"alg":"RS256","typ":"dpop+jwt"})", R"({"alg":"RS256","typ":5})", R"([])",
                                         R"("RS256")", "x", "", R"({"alg":"RS256"} x)",
                                         R"({"alg":"RS256","alg":"none"})"));

TEST(jwt_verifier, takes_the_types_of_access_tokens) {
    for (const std::string type : {"JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt"}) {
        EXPECT_TRUE(verified(rsa().token(R"({"alg":"RS256","typ":")" + type + "\"}", claims())).who) << type;
    }
    EXPECT_TRUE(verified(rsa().token(R"({"alg":"RS256","kid":"1"})", claims())).who);
}

TEST(jwt_verifier, never_takes_the_public_key_for_a_secret) {
    const std::string text = url(R"({"alg":"HS256"})") + '.' + url(claims());
    std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
    unsigned size = 0;
    const std::string& pem = rsa().public_pem();
    HMAC(EVP_sha256(), pem.data(), static_cast<int>(pem.size()), bytes_of(text), text.size(), mac.data(), &size);
    EXPECT_FALSE(verified(text + '.' + url({reinterpret_cast<const char*>(mac.data()), size})).who);
}

TEST(jwt_verifier, refuses_what_was_not_signed_so) {
    for (const bool with_rsa : {true, false}) {
        const signer& key = with_rsa ? rsa() : curve();
        const jwt_options given = options(key);
        const std::string& head = with_rsa ? rs256 : es256;
        const std::string text = url(head) + '.' + url(claims());
        const std::string signature = key.signature(text);
        ASSERT_TRUE(verified(text + '.' + url(signature), given).who);
        const auto refuses = [&](const std::string& token) { return !verified(token, given).who.has_value(); };
        EXPECT_TRUE(refuses(text + '.'));
        EXPECT_TRUE(refuses(text));
        EXPECT_TRUE(refuses(url(head) + '.' + url(claims({{"sub", "bob"}})) + '.' + url(signature)));
        EXPECT_TRUE(refuses(text + '.' + url(signature.substr(1))));
        EXPECT_TRUE(refuses(text + '.' + url(signature + '\0')));
        EXPECT_TRUE(refuses(text + '.' + url(std::string(signature.size(), '\0'))));
        EXPECT_TRUE(refuses(text + '.' + url(std::string(signature.size(), '\xFF'))));
        EXPECT_TRUE(refuses(text + '.' + url(signature) + '='));
        EXPECT_TRUE(refuses(text + '.' + url(signature) + '\n'));
        EXPECT_TRUE(refuses(text + '.' + url(signature) + '.'));
        EXPECT_TRUE(refuses(text + '.' + url(signature) + ".x"));
        for (std::size_t i = 0; i < signature.size(); i += 7) {
            std::string changed = signature;
            changed[i] = static_cast<char>(changed[i] ^ 1);
            EXPECT_TRUE(refuses(text + '.' + url(changed))) << i;
        }
        EXPECT_TRUE(refuses((with_rsa ? curve() : rsa()).token(head, claims()))) << "another's key";
    }
    const signer other(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
    EXPECT_FALSE(verified(other.token(es256, claims()), options(curve())).who);
}

TEST(jwt_verifier, refuses_what_is_no_token) {
    const token_verifier verify = jwt_verifier(options());
    for (const std::string& token :
         {std::string(), std::string("."), std::string(".."), std::string("..."), std::string("abc"),
          std::string("a.b.c"), std::string(1'000, '.'), std::string("\0.\0.\0", 5), url("{}") + "..",
          "." + url("{}") + ".", std::string(100'000, 'a')}) {
        EXPECT_FALSE(verify(token).who) << token.substr(0, 20);
    }
    EXPECT_FALSE(verify(rsa().token(rs256, "[]")).who);
    EXPECT_FALSE(verify(rsa().token(rs256, "")).who);
    EXPECT_FALSE(verify(rsa().token(rs256, std::string(500, '[') + std::string(500, ']'))).who);
    EXPECT_THAT(verify(rsa().token(rs256, claims({{"x", std::string(longest_token, 'x')}}))).error,
                HasSubstr("too long"));
    EXPECT_TRUE(verify(rsa().token(rs256, claims({{"x", std::string(longest_token / 2, 'x')}}))).who);
}

TEST(jwt_verifier, says_what_is_wrong_with_its_key) {
    const auto complaint = [](const std::string& file) -> std::string {
        try {
            (void)jwt_verifier({.key_file = file});
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "no complaint";
    };
    const temporary_directory directory;
    EXPECT_THAT(complaint(""), HasSubstr("cannot read"));
    EXPECT_THAT(complaint(directory.path() / "missing.pem"), HasSubstr("missing.pem"));
    EXPECT_THAT(complaint(directory.path()), HasSubstr("holds no public key"));
    EXPECT_THAT(complaint(directory.file("empty.pem", "")), HasSubstr("holds no public key"));
    EXPECT_THAT(complaint(directory.file("text.pem", "-----BEGIN PUBLIC KEY-----\nx\n")),
                HasSubstr("holds no public key"));
    const certificate with_private_key;
    EXPECT_THAT(complaint(with_private_key.key_file()), HasSubstr("holds no public key"));
    EXPECT_THAT(complaint(signer(EVP_RSA_gen(1'024)).file()), HasSubstr("less than 2048 bits"));
    EXPECT_THAT(complaint(signer(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-384")).file()), HasSubstr("neither RSA"));
    EXPECT_THAT(complaint(signer(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "secp256k1")).file()),
                HasSubstr("neither RSA"));
    EXPECT_THAT(complaint(signer(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")).file()), HasSubstr("neither RSA"));
    EXPECT_EQ(complaint(curve().file()), "no complaint");
}

}  // namespace
}  // namespace andon
