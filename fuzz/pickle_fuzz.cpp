// Pickles in: no input may crash, hang or exhaust memory, and nothing of it is run. What is
// accepted can be walked; what a distributed checkpoint's metadata says stays inside its directory.

#include <string>

#include "fuzz_text.hpp"
#include "trainyard/store/pickle.hpp"
#include "trainyard/store/tensor_files.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trainyard;
    const std::string text(fuzz::as_text(data, size));
    const auto pickle = store::Pickle::parse(text, "fuzz.pkl");
    if (!pickle) {
        fuzz::expect_explained(pickle.error());
    } else {
        static_cast<void>(pickle->find(pickle->root(), "storage_data"));
        static_cast<void>(pickle->class_of(pickle->root()));
        for (const auto item : pickle->items(pickle->root())) {
            static_cast<void>(pickle->text(item));
        }
    }
    const store::DcpMetadata metadata = store::read_dcp_metadata(text, "fuzz.pkl");
    if (metadata.flaw.empty()) {
        for (const auto& [path, file] : metadata.files) {
            TRAINYARD_ASSERT(!path.empty() && path.front() != '/' && path.find("../") != 0,
                             "files stay inside the checkpoint");
            TRAINYARD_ASSERT(file.last_offset <= file.size, "an item ends after it begins");
        }
    }
    return 0;
}
