// Manifests in: no input may crash or hang; what is accepted stays below its directory and below
// data/, and reads back the same when it is written again.

#include <string>

#include "fuzz_text.hpp"
#include "trainyard/store/manifest.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trainyard;
    std::string text(fuzz::as_text(data, size));
    // A fuzzer never finds a checksum: the end line is made here, so that the rest is reached.
    const std::size_t last = text.rfind("\n{\"files\"");
    if (last != std::string::npos) {
        text.resize(last + 1);
        std::size_t files = 0;
        for (std::size_t at = text.find('\n'); at != std::string::npos;
             at = text.find('\n', at + 1)) {
            ++files;
        }
        const auto sum = aws::checksum_of(store::kContentChecksum, text);
        text += "{\"files\":" + std::to_string(files - 1) + ",\"bytes\":0,\"crc64nvme\":\"" +
                aws::to_base64(sum) + "\"}\n";
    }
    const auto manifest = store::read_manifest(text, "fuzz.jsonl");
    if (!manifest) {
        fuzz::expect_explained(manifest.error());
        return 0;
    }
    for (const store::StoredFile& file : manifest->files) {
        TRAINYARD_ASSERT(file.object.starts_with("data/"), "objects are ours");
        TRAINYARD_ASSERT(file.path.front() != '/' && file.path.find("../") != 0,
                         "paths stay inside");
    }
    const auto again = store::read_manifest(store::write_manifest(*manifest), "again.jsonl");
    TRAINYARD_ASSERT(again && again->files == manifest->files, "what is written reads back");
    return 0;
}
