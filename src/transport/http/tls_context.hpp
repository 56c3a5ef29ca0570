// What all TLS connections of a server or a client share.
#pragma once

#include <memory>
#include <openssl/types.h>
#include <string>

namespace andon::detail {

/// Certificate and key, or whom to trust. TLS 1.2 and newer.
class tls_context {
public:
    /// The certificate with its chain, and its key, as PEM. Throws std::runtime_error with what is wrong with them.
    [[nodiscard]] static std::shared_ptr<tls_context> server(const std::string& certificate_file,
                                                             const std::string& key_file);
    /// Whose certificates are trusted, as PEM; empty: those that the system trusts. Throws
    /// std::invalid_argument where the file cannot be used.
    [[nodiscard]] static std::shared_ptr<tls_context> client(const std::string& ca_file = {});

    tls_context(const tls_context&) = delete;
    tls_context& operator=(const tls_context&) = delete;
    ~tls_context();

    [[nodiscard]] ssl_ctx_st* get() const noexcept { return context_; }

private:
    explicit tls_context(bool server);

    ssl_ctx_st* context_;
};

/// What OpenSSL has to say of what went wrong on this thread. Forgets it.
[[nodiscard]] std::string openssl_error();

}  // namespace andon::detail
