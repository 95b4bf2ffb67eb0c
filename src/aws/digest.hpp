#pragma once
// Digests by libcrypto. Raw bytes out; hex() and base64() are in encoding.hpp.

#include <string>
#include <string_view>

namespace trainyard::aws {

std::string sha256(std::string_view data);
std::string hmac_sha256(std::string_view key, std::string_view data);
/// For Content-MD5, which some requests of S3 still require; not for safety.
std::string md5(std::string_view data);

}  // namespace trainyard::aws
