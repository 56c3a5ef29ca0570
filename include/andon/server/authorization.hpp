// Who may call a server over HTTP: tokens, what to answer without a good one, and where to get one.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace andon {

/// Who is calling, as a verifier says. Sessions and requests of one principal are out of every other's reach (DIR-6).
struct principal {
    std::string id;
    std::vector<std::string> scopes{};
};

/// What a verifier says of a token.
struct verification {
    std::optional<principal> who{};              ///< nothing: refused
    std::string error{};                         ///< why, in words for the client
    int status = 401;                            ///< of a refusal; 403: a good token, with too few scopes
    std::vector<std::string> required_scopes{};  ///< that the token should have had
};

/// Called for every request, on the thread that serves all connections: it must not wait for anything.
using token_verifier = std::function<verification(std::string_view token)>;

/// Longer tokens are refused, unread.
inline constexpr std::size_t longest_token = std::size_t{16} << 10U;

/// Tokens known beforehand, each with the id of its principal. How long a look takes tells nothing about them. Throws
/// std::invalid_argument for a token that no header could carry, and for an empty id.
[[nodiscard]] token_verifier static_tokens(const std::map<std::string, std::string>& principals_by_token);

struct jwt_options {
    std::string key_file;    ///< public key of whoever signs, as PEM: RSA (2048 bits or more) or P-256
    std::string issuer{};    ///< `iss` must be this; empty: anything
    std::string audience{};  ///< must be in `aud`; empty: anything. Set it: a server must take no one else's tokens
    std::vector<std::string> required_scopes{};
    std::chrono::seconds leeway{60};  ///< by which clocks may differ
};

/// JSON Web Tokens. The key decides on the algorithm, RS256 or ES256, and not the token. `exp` and `sub` are required,
/// `nbf` is honoured. The id of the principal is the issuer, a space and the subject: two issuers' subjects are two
/// principals. Throws std::runtime_error where the key cannot be read or is of another kind.
[[nodiscard]] token_verifier jwt_verifier(const jwt_options& options);

/// The token in an `Authorization` header. Nothing where it is of another scheme, or has characters that no token has.
[[nodiscard]] std::optional<std::string_view> bearer_token(std::string_view authorization) noexcept;

/// The value of WWW-Authenticate, with 401 or 403. `refused` is null where no token came. `scopes`: what a first token
/// should have; a refusal that names scopes goes before it. Safe as a header, whatever is in the arguments.
[[nodiscard]] std::string www_authenticate(std::string_view resource_metadata_url,
                                           const verification* refused = nullptr,
                                           const std::vector<std::string>& scopes = {});

/// The document behind that URL (RFC 9728), as JSON.
[[nodiscard]] std::string protected_resource_metadata(std::string_view resource,
                                                      const std::vector<std::string>& authorization_servers,
                                                      const std::vector<std::string>& scopes = {});

}  // namespace andon
