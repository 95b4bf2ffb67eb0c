// TOML: any bytes give a tree or one refusal that names its place.

#include "fuzz_text.hpp"
#include "trainyard/doc/node.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto read = trainyard::doc::parse_toml(trainyard::fuzz::as_text(data, size), "x.toml");
    if (!read) trainyard::fuzz::expect_explained(read.error());
    return 0;
}
