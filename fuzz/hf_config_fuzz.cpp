// A config.json in: no input may crash, hang or overflow; what is accepted must be countable.

#include "fuzz_text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/workload/model.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trainyard;
    const Result<doc::Node> root = doc::parse_any(fuzz::as_text(data, size), "config.json");
    if (!root) {
        fuzz::expect_explained(root.error());
        return 0;
    }
    const Result<workload::Model> model = workload::import_hf_config(*root);
    if (!model) {
        fuzz::expect_explained(model.error());
        return 0;
    }
    const workload::ParameterCount p = workload::count_parameters(*model);
    TRAINYARD_ASSERT(p.total > 0 && p.active > 0 && p.active <= p.total, "counts are positive");
    TRAINYARD_ASSERT(static_cast<double>(p.total) <= 1e15, "sizes are bounded");
    TRAINYARD_ASSERT(model->layers > 0 && model->heads > 0 && model->head_dim > 0,
                     "an accepted shape has layers and heads");
    TRAINYARD_ASSERT(model->moe_layers() >= 0 && model->dense_mlp_layers() >= 0,
                     "layers divide into dense and sparse");
    return 0;
}
