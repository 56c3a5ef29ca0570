#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <memory>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdexcept>

#include "andon/server/authorization.hpp"
#include "andon/wire/error.hpp"
#include "wire/base64.hpp"

namespace andon {
namespace {

constexpr int least_rsa_bits = 2'048;
constexpr std::size_t coordinate_size = 32;  // of a P-256 signature, which is two of them

using key_pointer = std::shared_ptr<EVP_PKEY>;

const unsigned char* bytes_of(std::string_view text) noexcept {
    return reinterpret_cast<const unsigned char*>(text.data());
}

/// Instead of asking for one on the terminal.
int no_passphrase(char* /*into*/, int /*size*/, int /*writing*/, void* /*given*/) { return -1; }

key_pointer read_key(const std::string& file) {
    const std::unique_ptr<BIO, int (*)(BIO*)> bio(BIO_new_file(file.c_str(), "r"), BIO_free);
    ERR_clear_error();
    if (!bio) throw std::runtime_error("cannot read the key of the tokens in '" + file + "'");
    key_pointer key(PEM_read_bio_PUBKEY(bio.get(), nullptr, no_passphrase, nullptr), EVP_PKEY_free);
    ERR_clear_error();
    if (!key) throw std::runtime_error("'" + file + "' holds no public key in PEM (-----BEGIN PUBLIC KEY-----)");
    return key;
}

/// The algorithm that fits the key, as tokens call it.
std::string_view algorithm_of(EVP_PKEY* key, const std::string& file) {
    if (EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA) {
        if (EVP_PKEY_get_bits(key) >= least_rsa_bits) return "RS256";
        throw std::runtime_error("the RSA key in '" + file + "' has less than 2048 bits");
    }
    std::array<char, 64> curve{};
    if (EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
        EVP_PKEY_get_group_name(key, curve.data(), curve.size(), nullptr) == 1 &&
        std::string_view(curve.data()) == "prime256v1") {
        return "ES256";
    }
    throw std::runtime_error("the key in '" + file + "' is neither RSA (for RS256) nor of the curve P-256 (for ES256)");
}

/// From the two numbers of a token to what OpenSSL takes.
std::optional<std::string> as_der(std::string_view signature) {
    if (signature.size() != 2 * coordinate_size) return std::nullopt;
    const std::unique_ptr<ECDSA_SIG, void (*)(ECDSA_SIG*)> both(ECDSA_SIG_new(), ECDSA_SIG_free);
    BIGNUM* const r = BN_bin2bn(bytes_of(signature), coordinate_size, nullptr);
    BIGNUM* const s = BN_bin2bn(bytes_of(signature.substr(coordinate_size)), coordinate_size, nullptr);
    if (!both || r == nullptr || s == nullptr || ECDSA_SIG_set0(both.get(), r, s) != 1) throw std::bad_alloc();
    unsigned char* made = nullptr;
    const int size = i2d_ECDSA_SIG(both.get(), &made);
    if (size <= 0) return std::nullopt;
    const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owner(made,
                                                                         [](unsigned char* p) { OPENSSL_free(p); });
    return std::string(made, made + size);
}

std::optional<json::object> decoded_object(std::string_view part) {
    const auto text = detail::base64_decoded(part, detail::base64_form::url);
    if (!text) return std::nullopt;
    boost::system::error_code failed;
    json::value parsed = json::parse(*text, failed);
    if (failed || !parsed.is_object()) return std::nullopt;
    return std::move(parsed.as_object());
}

const json::string* text_in(const json::object& claims, std::string_view name) noexcept {
    const json::value* const found = claims.if_contains(name);
    return found == nullptr ? nullptr : found->if_string();
}

/// Seconds since 1970. Nothing where it is no number.
std::optional<double> time_in(const json::value& value) noexcept {
    if (!value.is_number()) return std::nullopt;
    return value.to_number<double>();
}

bool is_text_for_an_id(std::string_view text) noexcept {
    return !text.empty() && std::none_of(text.begin(), text.end(),
                                         [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; });
}

bool is_access_token(std::string_view type) noexcept {
    std::string lower(type);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return lower == "jwt" || lower == "at+jwt" || lower == "application/at+jwt";
}

verification refused(std::string_view why) { return {.error = std::string(why)}; }

class jwt_check {
public:
    explicit jwt_check(const jwt_options& options)
        : options_(options), key_(read_key(options.key_file)), algorithm_(algorithm_of(key_.get(), options.key_file)) {}

    [[nodiscard]] verification operator()(std::string_view token) const {
        if (token.size() > longest_token) return refused("the token is too long");
        const std::size_t first = token.find('.');
        const std::size_t last = token.rfind('.');
        if (first == last || token.find('.', first + 1) != last) return refused("the token is no JSON Web Token");
        const auto head = decoded_object(token.substr(0, first));
        const auto signature = detail::base64_decoded(token.substr(last + 1), detail::base64_form::url);
        if (!head || !signature) return refused("the token is no JSON Web Token");
        if (!fits(*head)) return refused("the token is signed by another algorithm, or of another type");
        if (!is_signature(*signature, token.substr(0, last))) return refused("the signature is wrong");
        const auto claims = decoded_object(token.substr(first + 1, last - first - 1));
        if (!claims) return refused("the token has no claims");
        return checked(*claims);
    }

private:
    /// Before anything is computed: a token that could choose the algorithm could choose none, or make a secret out of
    /// the public key.
    [[nodiscard]] bool fits(const json::object& head) const {
        const json::string* const algorithm = text_in(head, "alg");
        if (algorithm == nullptr || *algorithm != algorithm_ || head.contains("crit")) return false;
        const json::string* const type = text_in(head, "typ");
        return type == nullptr ? !head.contains("typ") : is_access_token(*type);
    }

    [[nodiscard]] bool is_signature(const std::string& signature, std::string_view text) const {
        const auto form = algorithm_ == "ES256" ? as_der(signature) : signature;
        const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
        if (!context) throw std::bad_alloc();
        const bool right =
            form && EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
            EVP_DigestVerify(context.get(), bytes_of(*form), form->size(), bytes_of(text), text.size()) == 1;
        ERR_clear_error();
        return right;
    }

    [[nodiscard]] verification checked(const json::object& claims) const {
        const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
        const auto leeway = static_cast<double>(options_.leeway.count());
        const json::value* const expires = claims.if_contains("exp");
        const auto until = expires == nullptr ? std::nullopt : time_in(*expires);
        if (!until) return refused("the token does not say when it expires");
        if (!(now < *until + leeway)) return refused("the token has expired");
        if (const json::value* const not_before = claims.if_contains("nbf")) {
            const auto from = time_in(*not_before);
            if (!from || !(now >= *from - leeway)) return refused("the token is not valid yet");
        }
        const json::string* const issuer = text_in(claims, "iss");
        if (!options_.issuer.empty() && (issuer == nullptr || *issuer != options_.issuer)) {
            return refused("the token is of another issuer");
        }
        if (!options_.audience.empty() && !is_meant_for_us(claims)) return refused("the token is for another audience");
        return identified(claims, issuer == nullptr ? std::string_view() : std::string_view(*issuer));
    }

    [[nodiscard]] bool is_meant_for_us(const json::object& claims) const {
        const json::value* const audience = claims.if_contains("aud");
        if (audience == nullptr) return false;
        const auto is_us = [&](const json::value& each) {
            return each.is_string() && each.get_string() == options_.audience;
        };
        if (const json::array* const several = audience->if_array()) {
            return std::any_of(several->begin(), several->end(), is_us);
        }
        return is_us(*audience);
    }

    [[nodiscard]] verification identified(const json::object& claims, std::string_view issuer) const {
        const json::string* const subject = text_in(claims, "sub");
        if (subject == nullptr || !is_text_for_an_id(*subject)) return refused("the token names no subject");
        // An issuer has no space, and so the first space ends it: no two of them make one id.
        const bool issuer_is_clear = issuer.empty() ? subject->find(' ') == json::string::npos
                                                    : is_text_for_an_id(issuer) && issuer.find(' ') == issuer.npos;
        if (!issuer_is_clear) return refused("the token does not say clearly whose subject it is about");
        principal who{issuer.empty() ? std::string(*subject) : std::string(issuer) + ' ' + std::string(*subject)};
        if (const json::string* const scopes = text_in(claims, "scope")) who.scopes = split(*scopes);
        for (const std::string& each : options_.required_scopes) {
            if (std::find(who.scopes.begin(), who.scopes.end(), each) == who.scopes.end()) {
                return {.error = "the token has too few scopes",
                        .status = 403,
                        .required_scopes = options_.required_scopes};
            }
        }
        return {.who = std::move(who)};
    }

    [[nodiscard]] static std::vector<std::string> split(std::string_view scopes) {
        std::vector<std::string> all;
        while (!scopes.empty()) {
            const std::size_t end = std::min(scopes.find(' '), scopes.size());
            if (end > 0) all.emplace_back(scopes.substr(0, end));
            scopes.remove_prefix(std::min(end + 1, scopes.size()));
        }
        return all;
    }

    jwt_options options_;
    key_pointer key_;
    std::string_view algorithm_;
};

}  // namespace

token_verifier jwt_verifier(const jwt_options& options) {
    return [check = std::make_shared<const jwt_check>(options)](std::string_view token) { return (*check)(token); };
}

}  // namespace andon
