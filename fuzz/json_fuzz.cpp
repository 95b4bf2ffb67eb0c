// JSON in: no input may crash, hang or exhaust memory; what is accepted must survive writing and
// reading again.

#include "fuzz_text.hpp"
#include "trainyard/doc/node.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trainyard;
    const Result<doc::Node> first = doc::parse_json(fuzz::as_text(data, size), "input.json");
    if (!first) {
        fuzz::expect_explained(first.error());
        return 0;
    }
    const std::string written = doc::write_json(*first);
    const Result<doc::Node> second = doc::parse_json(written, "written.json");
    TRAINYARD_ASSERT(second.has_value(), "written JSON parses");
    TRAINYARD_ASSERT(doc::write_json(*second) == written, "written JSON reads back the same");
    return 0;
}
