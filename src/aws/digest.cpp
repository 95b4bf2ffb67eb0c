#include "digest.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "trainyard/base/contract.hpp"

namespace trainyard::aws {
namespace {

using Digest = std::array<unsigned char, EVP_MAX_MD_SIZE>;

std::string text(const Digest& digest, unsigned size) {
    return {digest.begin(), digest.begin() + size};
}

std::string digest_of(const EVP_MD* kind, std::string_view data) {
    Digest digest{};
    unsigned size = 0;
    const int ok = EVP_Digest(data.data(), data.size(), digest.data(), &size, kind, nullptr);
    TRAINYARD_ASSERT(ok == 1, "libcrypto knows the digest");
    return text(digest, size);
}

/// Looked up once: a lookup by name costs more than the digest of a small text.
const EVP_MD* sha256_kind() {
    static const EVP_MD* kind = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return kind;
}

}  // namespace

std::string sha256(std::string_view data) { return digest_of(sha256_kind(), data); }

std::string md5(std::string_view data) { return digest_of(EVP_md5(), data); }

std::string hmac_sha256(std::string_view key, std::string_view data) {
    Digest digest{};
    unsigned size = 0;
    const unsigned char* ok = HMAC(
        sha256_kind(), key.data(), static_cast<int>(key.size()),
        // NOLINTNEXTLINE(*-reinterpret-cast): the C interface counts in unsigned char
        reinterpret_cast<const unsigned char*>(data.data()), data.size(), digest.data(), &size);
    TRAINYARD_ASSERT(ok != nullptr, "libcrypto has HMAC");
    return text(digest, size);
}

}  // namespace trainyard::aws
