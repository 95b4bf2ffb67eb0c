// S3's answers in: no text may crash or hang a parser, and what is accepted keeps its promises.

#include "../src/aws/s3_xml.hpp"
#include "fuzz_text.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trainyard;
    const std::string_view text = fuzz::as_text(data, size);
    (void)aws::parse_error(text);
    (void)aws::parse_completed(text);
    (void)aws::parse_listing(text);
    (void)aws::parse_deleted(text);
    if (const auto id = aws::parse_upload_id(text)) {
        TRAINYARD_ASSERT(!id->empty(), "an upload has a name");
    }
    if (const auto uploads = aws::parse_uploads(text)) {
        for (const aws::OpenUpload& u : uploads->uploads) {
            TRAINYARD_ASSERT(!u.upload.id.empty(), "an upload has a name");
        }
    }
    if (const auto parts = aws::parse_parts(text)) {
        for (const aws::Part& part : parts->parts) {
            TRAINYARD_ASSERT(part.number >= 1, "parts are counted from 1");
        }
    }
    return 0;
}
