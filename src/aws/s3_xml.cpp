#include "s3_xml.hpp"

#include <algorithm>
#include <charconv>
#include <pugixml.hpp>

#include "encoding.hpp"
#include "http_time.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::aws {
namespace {

/// The document and its root, if the root has that name.
struct Document {
    pugi::xml_document xml;
    pugi::xml_node root;
    Document(std::string_view text, const char* name) {
        // Whitespace may be part of a key. Entities of a DTD are not expanded by pugixml.
        constexpr unsigned kOptions = pugi::parse_default | pugi::parse_ws_pcdata_single;
        if (xml.load_buffer(text.data(), text.size(), kOptions, pugi::encoding_utf8)) {
            root = xml.child(name);
        }
    }
    explicit operator bool() const { return !root.empty(); }
};

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// A key in an answer with encoding-type=url: as in a form, "+" is a space.
std::optional<std::string> key_of(std::string_view text, bool is_encoded) {
    if (!is_encoded) return std::string(text);
    std::string spaced(text);
    std::replace(spaced.begin(), spaced.end(), '+', ' ');
    return uri_decode(spaced);
}

bool is_url_encoded(const Document& d) {
    return std::string_view(d.root.child_value("EncodingType")) == "url";
}

bool is_truncated(const Document& d) {
    return std::string_view(d.root.child_value("IsTruncated")) == "true";
}

std::string unquoted(std::string_view etag) {
    if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
        etag = etag.substr(1, etag.size() - 2);
    }
    return std::string(etag);
}

std::optional<Checksum> checksum_in(const pugi::xml_node& node) {
    if (const pugi::xml_node c = node.child("ChecksumCRC32C")) {
        return parse_checksum(ChecksumAlgorithm::crc32c, c.child_value());
    }
    return parse_checksum(ChecksumAlgorithm::crc64nvme, node.child_value("ChecksumCRC64NVME"));
}

}  // namespace

std::optional<ErrorDocument> parse_error(std::string_view xml) {
    const Document d(xml, "Error");
    if (!d) return std::nullopt;
    return ErrorDocument{d.root.child_value("Code"), d.root.child_value("Message"),
                         d.root.child_value("Region"), d.root.child_value("Endpoint"),
                         d.root.child_value("RequestId")};
}

std::optional<std::string> parse_upload_id(std::string_view xml) {
    const Document d(xml, "InitiateMultipartUploadResult");
    std::string id = d ? d.root.child_value("UploadId") : "";
    return id.empty() ? std::nullopt : std::optional(std::move(id));
}

std::optional<std::string> parse_completed(std::string_view xml) {
    const Document d(xml, "CompleteMultipartUploadResult");
    if (!d) return std::nullopt;
    return unquoted(d.root.child_value("ETag"));
}

std::optional<Listing> parse_listing(std::string_view xml) {
    const Document d(xml, "ListBucketResult");
    if (!d) return std::nullopt;
    const bool is_encoded = is_url_encoded(d);
    Listing listing;
    for (const pugi::xml_node& c : d.root.children("Contents")) {
        const auto key = key_of(c.child_value("Key"), is_encoded);
        const auto size = number(c.child_value("Size"));
        const auto modified = parse_iso_time(c.child_value("LastModified"));
        if (!key || !size || !modified) return std::nullopt;
        listing.objects.push_back({*key, *size, *modified, unquoted(c.child_value("ETag")), {}});
    }
    for (const pugi::xml_node& c : d.root.children("CommonPrefixes")) {
        const auto prefix = key_of(c.child_value("Prefix"), is_encoded);
        if (!prefix) return std::nullopt;
        listing.prefixes.push_back(*prefix);
    }
    if (is_truncated(d)) {
        listing.next = d.root.child_value("NextContinuationToken");
        if (listing.next.empty()) return std::nullopt;  // a page must not silently be the last
    }
    return listing;
}

std::optional<UploadListing> parse_uploads(std::string_view xml) {
    const Document d(xml, "ListMultipartUploadsResult");
    if (!d) return std::nullopt;
    const bool is_encoded = is_url_encoded(d);
    UploadListing listing;
    for (const pugi::xml_node& u : d.root.children("Upload")) {
        const auto key = key_of(u.child_value("Key"), is_encoded);
        const auto started = parse_iso_time(u.child_value("Initiated"));
        const std::string id = u.child_value("UploadId");
        if (!key || !started || id.empty()) return std::nullopt;
        listing.uploads.push_back({{*key, id}, *started});
    }
    if (is_truncated(d)) {
        const auto key = key_of(d.root.child_value("NextKeyMarker"), is_encoded);
        if (!key || key->empty()) return std::nullopt;
        listing.next = *key + "\n" + d.root.child_value("NextUploadIdMarker");
    }
    return listing;
}

std::optional<PartListing> parse_parts(std::string_view xml) {
    const Document d(xml, "ListPartsResult");
    if (!d) return std::nullopt;
    PartListing listing;
    for (const pugi::xml_node& p : d.root.children("Part")) {
        const auto at = number(p.child_value("PartNumber"));
        const auto size = number(p.child_value("Size"));
        if (!at || *at == 0 || *at > 100'000 || !size) return std::nullopt;
        listing.parts.push_back(
            {static_cast<int>(*at), *size, unquoted(p.child_value("ETag")), checksum_in(p)});
    }
    if (is_truncated(d)) {
        listing.next = d.root.child_value("NextPartNumberMarker");
        if (listing.next.empty()) return std::nullopt;
    }
    return listing;
}

std::optional<std::vector<DeleteError>> parse_deleted(std::string_view xml) {
    const Document d(xml, "DeleteResult");
    if (!d) return std::nullopt;
    std::vector<DeleteError> errors;
    for (const pugi::xml_node& e : d.root.children("Error")) {
        errors.push_back({e.child_value("Key"), e.child_value("Code"), e.child_value("Message")});
    }
    return errors;
}

std::string complete_document(const std::vector<Part>& parts) {
    std::string out = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    for (const Part& part : parts) {
        out += "<Part><PartNumber>" + std::to_string(part.number) + "</PartNumber><ETag>&quot;";
        out += escape_xml(part.etag);
        out += "&quot;</ETag>";
        if (part.checksum) {
            const std::string tag = part.checksum->algorithm == ChecksumAlgorithm::crc32c
                                        ? "ChecksumCRC32C"
                                        : "ChecksumCRC64NVME";
            out.append("<").append(tag).append(">").append(to_base64(*part.checksum));
            out.append("</").append(tag).append(">");
        }
        out += "</Part>";
    }
    return out + "</CompleteMultipartUpload>";
}

std::string delete_document(const std::vector<std::string>& keys) {
    std::string out =
        "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        "<Quiet>true</Quiet>";
    for (const std::string& key : keys) {
        out += "<Object><Key>";
        out += escape_xml(key);
        out += "</Key></Object>";
    }
    return out + "</Delete>";
}

bool is_xml_text(std::string_view text) {
    const bool has_control = std::any_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n';
    });
    // U+FFFE and U+FFFF are no XML characters.
    return !has_control && is_valid_utf8(text) && text.find("\xEF\xBF\xBE") == text.npos &&
           text.find("\xEF\xBF\xBF") == text.npos;
}

}  // namespace trainyard::aws
