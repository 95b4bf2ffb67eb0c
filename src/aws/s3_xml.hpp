#pragma once
// The XML of S3's answers and requests. A parser returns nullopt if the text is not the document
// that the operation answers with: an error inside a 200, an HTML page of a proxy, half a document.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/aws/object_store.hpp"

namespace trainyard::aws {

struct ErrorDocument {
    std::string code;
    std::string message;
    std::string region;    ///< where the bucket is, if it says so
    std::string endpoint;  ///< of a redirect, if it says so
    std::string request_id;
};
std::optional<ErrorDocument> parse_error(std::string_view xml);

std::optional<std::string> parse_upload_id(std::string_view xml);
/// The completed object's ETag, without quotes; "" if the answer has none.
std::optional<std::string> parse_completed(std::string_view xml);
std::optional<Listing> parse_listing(std::string_view xml);
/// `next` is "key-marker\nupload-id-marker", both as the answer gave them.
std::optional<UploadListing> parse_uploads(std::string_view xml);
std::optional<PartListing> parse_parts(std::string_view xml);

struct DeleteError {
    std::string key;
    std::string code;
    std::string message;
};
std::optional<std::vector<DeleteError>> parse_deleted(std::string_view xml);

std::string complete_document(const std::vector<Part>& parts);
/// Keys must be XML characters: is_xml_text().
std::string delete_document(const std::vector<std::string>& keys);
/// Whether XML 1.0 can carry the text (valid UTF-8, no control characters but tab and newline).
bool is_xml_text(std::string_view text);

}  // namespace trainyard::aws
