// A distribution of GPUs on Trainium.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::sm_trainium {

namespace {

void find(const Case& c, Found& found) {
    for (const Training& t : c.trainings) {
        const catalog::Accelerator* a = c.accelerator(t.type.text);
        if (a == nullptr || a->vendor != "AWS" || !t.image || is_open(t.image.text)) continue;
        const bool is_known = contains(t.image.text, "pytorch-training") ||
                              contains(t.image.text, "huggingface-pytorch-training") ||
                              contains(t.image.text, "cuda") || contains(t.image.text, "-gpu-");
        if (!is_known || contains(t.image.text, "neuron")) continue;
        found.at(t.image, fmt::format("a GPU image on {}", t.type.text));
    }
}

}  // namespace

Rule rule() {
    return {.id = "SM-TRAINIUM",
            .severity = Severity::error,
            .title = "A GPU image or distribution on Trainium",
            .applies = "SageMaker jobs",
            .why =
                "CUDA code does not run on Neuron devices: the job fails at start, or "
                "computes on the CPUs",
            .fix = "a Neuron image (pytorch-training-neuronx) with torch_distributed",
            .source = "SageMaker documentation, Trainium; Neuron deep learning containers",
            .find = find};
}

}  // namespace trainyard::lint::sm_trainium
