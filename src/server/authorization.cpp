#include "andon/server/authorization.hpp"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <memory>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdexcept>

#include "andon/wire/message.hpp"

namespace andon {
namespace {

using digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

digest digest_of(std::string_view text) {
    digest made{};
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), made.data());
    return made;
}

struct known_token {
    digest hash;
    principal who;
};

bool is_letter_or_digit(char c) noexcept {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// As RFC 6750 has it: `1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="`.
bool is_token(std::string_view text) noexcept {
    while (text.ends_with('=')) text.remove_suffix(1);
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return is_letter_or_digit(c) || std::string_view("-._~+/").find(c) != std::string_view::npos;
    });
}

/// What RFC 6750 allows between the quotes: visible ASCII, and neither a quote nor a backslash.
bool is_quotable(char c) noexcept { return c > ' ' && c <= '~' && c != '"' && c != '\\'; }

std::string quotable_words(std::string_view text) {
    std::string words(text);
    for (char& c : words) {
        if (c != ' ' && !is_quotable(c)) c = '\'';
    }
    return words;
}

std::string quotable_url(std::string_view url) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string safe;
    for (const char c : url) {
        const auto byte = static_cast<unsigned char>(c);
        if (is_quotable(c)) {
            safe += c;
        } else {
            ((safe += '%') += digits[byte >> 4U]) += digits[byte & 0xFU];
        }
    }
    return safe;
}

/// Separated by spaces; what is no scope is left out.
std::string quotable_scopes(const std::vector<std::string>& scopes) {
    std::string all;
    for (const std::string& scope : scopes) {
        if (scope.empty() || !std::all_of(scope.begin(), scope.end(), is_quotable)) continue;
        (all += all.empty() ? "" : " ") += scope;
    }
    return all;
}

json::array json_list(const std::vector<std::string>& texts) { return json::array(texts.begin(), texts.end()); }

}  // namespace

token_verifier static_tokens(const std::map<std::string, std::string>& principals_by_token) {
    const auto known = std::make_shared<std::vector<known_token>>();
    for (const auto& [token, id] : principals_by_token) {
        if (!is_token(token) || token.size() > longest_token) {
            throw std::invalid_argument(
                "the token of '" + id +
                "' cannot be sent: it may have letters, digits and -._~+/ only, and = at its end");
        }
        if (id.empty()) throw std::invalid_argument("a token needs the id of its principal");
        known->push_back({digest_of(token), {id}});
    }
    return [known](std::string_view token) -> verification {
        if (token.size() > longest_token) return {.error = "the token is too long"};
        const digest given = digest_of(token);
        const principal* who = nullptr;
        for (const known_token& each : *known) {
            if (CRYPTO_memcmp(each.hash.data(), given.data(), given.size()) == 0) who = &each.who;
        }
        if (who == nullptr) return {.error = "the token is not known"};
        return {.who = *who};
    };
}

std::optional<std::string_view> bearer_token(std::string_view authorization) noexcept {
    constexpr std::string_view scheme = "bearer";
    if (authorization.size() <= scheme.size() || authorization[scheme.size()] != ' ') return std::nullopt;
    for (std::size_t i = 0; i < scheme.size(); ++i) {
        if ((static_cast<unsigned char>(authorization[i]) | 0x20U) != static_cast<unsigned char>(scheme[i])) {
            return std::nullopt;
        }
    }
    std::string_view token = authorization.substr(scheme.size());
    token.remove_prefix(std::min(token.find_first_not_of(' '), token.size()));
    while (token.ends_with(' ') || token.ends_with('\t')) token.remove_suffix(1);
    if (!is_token(token)) return std::nullopt;
    return token;
}

std::string www_authenticate(std::string_view resource_metadata_url, const verification* refused,
                             const std::vector<std::string>& scopes) {
    std::string value = "Bearer";
    const auto add = [&](std::string_view name, const std::string& text) {
        if (text.empty()) return;
        value += value.ends_with('"') ? ", " : " ";
        (((value += name) += "=\"") += text) += '"';
    };
    if (refused != nullptr) add("error", refused->status == 403 ? "insufficient_scope" : "invalid_token");
    const bool names_scopes = refused != nullptr && !refused->required_scopes.empty();
    add("scope", quotable_scopes(names_scopes ? refused->required_scopes : scopes));
    add("resource_metadata", quotable_url(resource_metadata_url));
    if (refused != nullptr) add("error_description", quotable_words(refused->error));
    return value;
}

std::string protected_resource_metadata(std::string_view resource,
                                        const std::vector<std::string>& authorization_servers,
                                        const std::vector<std::string>& scopes) {
    json::object document{{"resource", resource},
                          {"authorization_servers", json_list(authorization_servers)},
                          {"bearer_methods_supported", json::array{"header"}}};
    if (!scopes.empty()) document["scopes_supported"] = json_list(scopes);
    return json_text(document);
}

}  // namespace andon
