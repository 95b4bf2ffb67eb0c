#pragma once
// ETags as S3 makes them where no KMS key encrypts: the MD5 of a put or of a part, and of a
// multipart object the MD5 of its parts' MD5s. A way to tell bytes where a store keeps no checksum.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/aws/object_store.hpp"

namespace trainyard::aws {

/// 32 hexadecimal digits.
std::string etag_of(std::string_view bytes);
/// MD5 of the MD5s, "-" and their number. nullopt if an ETag is no MD5.
std::optional<std::string> etag_of_parts(const std::vector<Part>& parts);
/// 32 hexadecimal digits, perhaps with "-" and a number behind them.
bool is_md5_etag(std::string_view etag);

}  // namespace trainyard::aws
