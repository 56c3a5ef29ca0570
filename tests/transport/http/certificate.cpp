#include "transport/http/certificate.hpp"

#include <fstream>
#include <memory>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdexcept>
#include <unistd.h>

namespace andon {
namespace {

void require(bool done) {
    if (!done) throw std::runtime_error("the certificate could not be made");
}

void add_extension(X509* certificate, int kind, const std::string& value) {
    X509V3_CTX context{};
    X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
    const std::unique_ptr<X509_EXTENSION, void (*)(X509_EXTENSION*)> extension(
        X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()), X509_EXTENSION_free);
    require(extension && X509_add_ext(certificate, extension.get(), -1) == 1);
}

template <class Write>
void write_pem(const std::string& path, const Write& write) {
    const std::unique_ptr<BIO, int (*)(BIO*)> file(BIO_new_file(path.c_str(), "w"), BIO_free);
    require(file && write(file.get()) == 1);
}

}  // namespace

temporary_directory::temporary_directory() {
    std::string name = std::filesystem::temp_directory_path() / "andon_test_XXXXXX";
    require(::mkdtemp(name.data()) != nullptr);
    path_ = name;
}

temporary_directory::~temporary_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string temporary_directory::file(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name) << content;
    return path_ / name;
}

certificate::certificate(const certificate_options& options) {
    const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"),
                                                             EVP_PKEY_free);
    const std::unique_ptr<X509, void (*)(X509*)> made(X509_new(), X509_free);
    require(key && made);
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), options.begins.count());
    X509_gmtime_adj(X509_getm_notAfter(made.get()), options.ends.count());
    X509_set_pubkey(made.get(), key.get());
    X509_NAME* const name = X509_get_subject_name(made.get());
    const auto* const text = reinterpret_cast<const unsigned char*>("andon test");
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, -1, -1, 0);
    X509_set_issuer_name(made.get(), name);
    add_extension(made.get(), NID_basic_constraints, "critical,CA:TRUE");
    add_extension(made.get(), NID_subject_alt_name, options.names);
    require(X509_sign(made.get(), key.get(), EVP_sha256()) > 0);
    write_pem(file(), [&](BIO* to) { return PEM_write_bio_X509(to, made.get()); });
    write_pem(key_file(),
              [&](BIO* to) { return PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
}

}  // namespace andon
