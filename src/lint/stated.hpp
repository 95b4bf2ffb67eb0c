#pragma once
// How files say that a model is trained: degrees, batch and sharding, from Megatron-LM arguments,
// DeepSpeed and torchtitan configurations.

#include <optional>
#include <vector>

#include "launch.hpp"

namespace trainyard::lint {

struct StatedTraining {
    enum class Framework { megatron, deepspeed, torchtitan };
    Framework framework = Framework::megatron;
    const Document* document = nullptr;
    const Launch* launch = nullptr;  ///< of the same document; nullptr: none
    std::optional<Count> tensor, pipeline, context, expert;
    std::optional<Count> micro_batch, global_batch, sequence;
    std::optional<Count> zero;  ///< stage
    std::optional<Count> layers, hidden, heads, vocab;
    std::vector<Said> words;  ///< Megatron: all arguments
};

/// Megatron: scripts and pods that give a tensor or pipeline degree.
std::vector<StatedTraining> stated_trainings(const Case& c);

}  // namespace trainyard::lint
