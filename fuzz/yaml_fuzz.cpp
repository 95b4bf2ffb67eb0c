// YAML in: no input may crash, hang or exhaust memory; what is accepted can be written as JSON that
// parses.

#include "fuzz_text.hpp"
#include "trainyard/doc/node.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trainyard;
    const Result<doc::Node> node = doc::parse_yaml(fuzz::as_text(data, size), "input.yaml");
    if (!node) {
        fuzz::expect_explained(node.error());
        return 0;
    }
    // Aliases may make 16 MiB of a few bytes: too slow to write and read for every input.
    const std::string written = doc::write_json(*node);
    if (written.size() > 65536) {
        return 0;
    }
    TRAINYARD_ASSERT(doc::parse_json(written, "written.json").has_value(), "written JSON parses");
    return 0;
}
