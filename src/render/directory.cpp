#include "trainyard/render/directory.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "trainyard/base/contract.hpp"

namespace trainyard::render {

namespace {
bool before(const File& a, const std::string& path) { return a.path < path; }
}  // namespace

void Directory::add(File file) {
    const auto at = std::lower_bound(files_.begin(), files_.end(), file.path, before);
    TRAINYARD_ASSERT(at == files_.end() || at->path != file.path, "a target writes a file once");
    files_.insert(at, std::move(file));
}

const File* Directory::find(const std::string& path) const {
    const auto at = std::lower_bound(files_.begin(), files_.end(), path, before);
    return at != files_.end() && at->path == path ? &*at : nullptr;
}

std::string sha256(const std::string& bytes) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    const int ok =
        EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
    TRAINYARD_ASSERT(ok == 1 && size == 32, "libcrypto has SHA-256");
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    for (unsigned int i = 0; i < size; ++i) {
        hex += kDigits[digest[i] >> 4U];
        hex += kDigits[digest[i] & 15U];
    }
    return hex;
}

}  // namespace trainyard::render
