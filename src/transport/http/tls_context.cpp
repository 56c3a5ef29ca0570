#include "transport/http/tls_context.hpp"

#include <cstring>
#include <filesystem>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdexcept>

namespace andon::detail {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + openssl_error()); }

/// Instead of asking for one on the terminal.
int no_passphrase(char* /*into*/, int /*size*/, int /*writing*/, void* /*given*/) { return -1; }

/// OpenSSL would wait for whoever writes to a pipe, if ever anybody does, and does not know a folder for one. Empty: it
/// may be what it should be.
std::string why_no_file(const std::string& file) {
    std::error_code error;
    return std::filesystem::is_fifo(file, error)        ? ": it is a pipe"
           : std::filesystem::is_directory(file, error) ? ": it is a folder"
                                                        : "";
}

/// `loaded`: whether OpenSSL took it.
template <class Fault, class Load>
void expect(const std::string& what, const std::string& file, Load loaded) {
    if (const std::string why = why_no_file(file); !why.empty()) throw Fault(what + why);
    if (!loaded()) throw Fault(what + ": " + openssl_error());
}

}  // namespace

std::string openssl_error() {
    const unsigned long code = ERR_peek_error();  // what went wrong first; the others follow from it
    ERR_clear_error();
    if (code == 0) return "unknown error";
    const char* const reason =
        ERR_SYSTEM_ERROR(code) ? ::strerrordesc_np(ERR_GET_REASON(code)) : ERR_reason_error_string(code);
    return reason != nullptr ? reason : "error " + std::to_string(code);
}

tls_context::tls_context(bool server) : context_(SSL_CTX_new(server ? TLS_server_method() : TLS_client_method())) {
    if (context_ == nullptr) fail("TLS cannot be used");
    SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
    SSL_CTX_set_options(context_, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    // What waits costs no buffers: most connections wait, most of the time.
    SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS);
    // Who comes back shows a ticket: nothing is kept here for whoever does not.
    SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_default_passwd_cb(context_, no_passphrase);
}

tls_context::~tls_context() { SSL_CTX_free(context_); }

std::shared_ptr<tls_context> tls_context::server(const std::string& certificate_file, const std::string& key_file) {
    ERR_clear_error();
    std::shared_ptr<tls_context> made(new tls_context(true));
    expect<std::runtime_error>("cannot use the certificate in '" + certificate_file + "'", certificate_file, [&] {
        return SSL_CTX_use_certificate_chain_file(made->get(), certificate_file.c_str()) == 1;
    });
    expect<std::runtime_error>("cannot use the key in '" + key_file + "'", key_file, [&] {
        return SSL_CTX_use_PrivateKey_file(made->get(), key_file.c_str(), SSL_FILETYPE_PEM) == 1;
    });
    if (SSL_CTX_check_private_key(made->get()) != 1) {
        fail("the key in '" + key_file + "' does not belong to the certificate in '" + certificate_file + "'");
    }
    return made;
}

std::shared_ptr<tls_context> tls_context::client(const std::string& ca_file) {
    ERR_clear_error();
    std::shared_ptr<tls_context> made(new tls_context(false));
    SSL_CTX_set_verify(made->get(), SSL_VERIFY_PEER, nullptr);
    if (ca_file.empty()) {
        if (SSL_CTX_set_default_verify_paths(made->get()) != 1) fail("cannot use the system's certificates");
        return made;
    }
    expect<std::invalid_argument>("cannot use the certificates in '" + ca_file + "'", ca_file,
                                  [&] { return SSL_CTX_load_verify_file(made->get(), ca_file.c_str()) == 1; });
    return made;
}

}  // namespace andon::detail
