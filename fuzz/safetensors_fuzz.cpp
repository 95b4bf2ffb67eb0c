// Files of tensors in: no input may crash, hang or read outside; a whole safetensors file has room
// for its header.

#include <cstring>

#include "fuzz_text.hpp"
#include "trainyard/store/tensor_files.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trainyard;
    const store::ReadAt read = [&](std::uint64_t offset, std::span<char> into) {
        if (offset > size || into.size() > size - offset) return false;
        if (!into.empty()) std::memcpy(into.data(), data + offset, into.size());
        return true;
    };
    const auto flaw = store::safetensors_flaw(size, read);
    TRAINYARD_ASSERT(flaw || size >= 10, "a whole file has a length and a header");
    static_cast<void>(store::torch_flaw(size, read));
    static_cast<void>(store::zip_flaw(size, read));
    const auto record = store::zip_record(size, read, "data.pkl", 1 << 20);
    TRAINYARD_ASSERT(!record || record->size() <= size, "a record is part of the file");
    return 0;
}
