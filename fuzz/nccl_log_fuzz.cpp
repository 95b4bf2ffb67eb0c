// NCCL logs: any bytes, in one piece and in small ones, must give the same facts and a diagnosis.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzz_text.hpp"

#include "trainyard/nccl/diagnose.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trainyard::nccl;
    const std::string_view text = trainyard::fuzz::as_text(data, size);
    LogReader whole;
    whole.feed(text);
    const Log log = whole.finish();
    LogReader pieces;
    for (std::size_t at = 0; at < text.size(); at += 5) pieces.feed(text.substr(at, 5));
    const Log same = pieces.finish();
    if (same.lines != log.lines || same.nccl_lines != log.nccl_lines ||
        same.warnings.size() != log.warnings.size()) {
        std::abort();
    }
    static_cast<void>(diagnose(log, {}, "log"));
    return 0;
}
