// A run.yaml in: no input may crash; what is accepted and completed obeys every mapping law.

#include "fuzz_text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/workload/job.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trainyard;
    const Result<doc::Node> root = doc::parse_yaml(fuzz::as_text(data, size), "run.yaml");
    if (!root) {
        fuzz::expect_explained(root.error());
        return 0;
    }
    const Result<workload::Run> run = workload::read_run(*root);
    if (!run) {
        fuzz::expect_explained(run.error());
        return 0;
    }
    for (const int per_node : {1, 8, 16}) {
        const Result<workload::Run> whole =
            workload::complete_run(*run, per_node, per_node == 16 ? 2 : 1);
        if (!whole) {
            fuzz::expect_explained(whole.error());
            continue;
        }
        TRAINYARD_ASSERT(workload::is_legal_mapping(whole->model, whole->training),
                         "a completed run is legal");
        TRAINYARD_ASSERT(whole->training.micro_batches() >= 1, "a step has a micro-batch");
    }
    return 0;
}
