#include "server/input_state.hpp"

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdexcept>
#include <sys/random.h>

namespace andon::detail {
namespace {

constexpr std::size_t key_size = 32;
constexpr std::size_t signature_size = 64;  // 32 bytes in hexadecimal

std::string hexadecimal(const unsigned char* bytes, std::size_t size) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < size; ++i) (text += digits[bytes[i] >> 4U]) += digits[bytes[i] & 0xFU];
    return text;
}

const unsigned char* bytes_of(std::string_view text) noexcept {
    return reinterpret_cast<const unsigned char*>(text.data());
}

std::int64_t seconds(std::chrono::system_clock::time_point when) {
    return std::chrono::duration_cast<std::chrono::seconds>(when.time_since_epoch()).count();
}

}  // namespace

input_state::input_state(std::string key) : key_(std::move(key)) {
    if (!key_.empty()) return;
    std::array<unsigned char, key_size> random{};
    // Not from OpenSSL: that would load megabytes into servers that never need a signature.
    if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
        throw std::runtime_error("no random bytes");
    }
    key_ = hexadecimal(random.data(), random.size());
}

std::string input_state::signature(std::string_view body, std::string_view request) const {
    const std::string text = std::to_string(body.size()) + ':' + std::string(body) + std::string(request);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()), bytes_of(text), text.size(), digest.data(),
             &size) == nullptr) {
        throw std::runtime_error("HMAC failed");
    }
    return hexadecimal(digest.data(), size);
}

std::string input_state::sealed(const json::object& answers, std::string_view request,
                                std::chrono::system_clock::time_point now) const {
    const std::string body = json::serialize(json::object{{"until", seconds(now + good_for)}, {"answers", answers}});
    return signature(body, request) + body;
}

std::optional<json::object> input_state::opened(std::string_view sealed, std::string_view request,
                                                std::chrono::system_clock::time_point now) const {
    if (sealed.size() < signature_size) return std::nullopt;
    const std::string_view body = sealed.substr(signature_size);
    const std::string expected = signature(body, request);
    if (CRYPTO_memcmp(expected.data(), sealed.data(), signature_size) != 0) return std::nullopt;
    boost::system::error_code failed;
    json::parse_options options;
    options.max_depth = 1'002;  // what a message may hold, and the two levels around it
    json::value parsed = json::parse(body, failed, {}, options);
    if (failed) return std::nullopt;
    json::object& state = parsed.as_object();
    if (seconds(now) > state.at("until").as_int64()) return std::nullopt;
    return std::move(state.at("answers").as_object());
}

}  // namespace andon::detail
