#pragma once
// S3's headers that carry what an object is.

#include <optional>
#include <string>
#include <string_view>

#include "trainyard/aws/object_store.hpp"
#include "trainyard/sys/http.hpp"

namespace trainyard::aws {

/// "x-amz-checksum-crc32c".
std::string checksum_header(ChecksumAlgorithm algorithm);
/// "CRC32C".
std::string_view checksum_word(ChecksumAlgorithm algorithm);
/// Of the whole object; nullopt if there is none or it is one of parts ("…-3").
std::optional<Checksum> checksum_in(const sys::HttpResponse& response);
/// Without the quotes.
std::string etag_in(const sys::HttpResponse& response);

}  // namespace trainyard::aws
