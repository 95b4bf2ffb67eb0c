// The laws of a mapping in words: what must hold, why, and who says so. mapping.cpp enforces them
// under the same ids.

#include "trainyard/workload/training.hpp"

namespace trainyard::workload {
namespace {

constexpr std::string_view kMegatron =
    "Megatron-LM arguments.py and parallel_state.py, https://github.com/NVIDIA/Megatron-LM";

}  // namespace

const std::vector<MappingLaw>& mapping_laws() {
    static const std::vector<MappingLaw> laws = {
        {"degrees",
         "every degree, the micro-batch, the global batch and the sequence are at least 1",
         "a degree is a number of devices; 1 means that a form of parallelism is off", kMegatron},
        {"batch", "global batch = micro-batch x DP x a whole number of accumulation steps",
         "every replica runs equally many whole micro-batches, or the ranks wait forever",
         kMegatron},
        {"tp-heads", "TP divides the heads", "each rank computes whole attention heads", kMegatron},
        {"tp-kv-heads",
         "TP divides the KV heads, or is a multiple of them where the stack copies them",
         "each rank holds whole key and value heads for its query heads",
         "https://github.com/pytorch/torchtitan/issues/4016; NeuronX Distributed kv_replicator"},
        {"tp-ffn", "TP divides the width of the dense and shared MLPs",
         "the first product is split by columns, the second by rows (arXiv 1909.08053, section 3)",
         kMegatron},
        {"sp-tp", "sequence parallelism needs TP above 1",
         "it shards over the TP group what TP leaves whole (arXiv 2205.05198, section 4.2)",
         kMegatron},
        {"sp-sequence", "with sequence parallelism TP divides each context rank's tokens",
         "all-gather and reduce-scatter need equal parts", kMegatron},
        {"pp-layers", "PP is at most the number of layers", "a stage holds at least one layer",
         kMegatron},
        {"vp-pp", "virtual stages need PP above 1", "they interleave over the ranks of a pipeline",
         kMegatron},
        {"vp-layers", "PP x VPP chunks have equally many layers, save the first and the last",
         "the interleaved schedule assumes equal chunks; the edges also hold embedding and head "
         "(arXiv 2104.04473, section 2.2)",
         kMegatron},
        {"vp-micro-batches", "interleaving needs a multiple of PP micro-batches",
         "the interleaved schedule runs them in groups of PP (arXiv 2104.04473, section 2.2)",
         kMegatron},
        {"cp-sequence", "the sequence divides into 2 x CP chunks (CP if not causal)",
         "each rank takes one chunk of the front and one of the back, so that causal work is even",
         "Megatron-LM context parallelism, https://github.com/NVIDIA/Megatron-LM"},
        {"ep-dense", "expert degrees need a model with experts", "there is nothing to spread",
         kMegatron},
        {"ep-experts", "EP divides the experts", "each rank holds equally many whole experts",
         kMegatron},
        {"ep-ranks", "EP x expert TP divides the DP x CP x TP ranks of a stage",
         "expert groups are carved out of the ranks of one stage", kMegatron},
        {"etp-ffn", "expert TP divides the width of an expert",
         "an expert's products are split like the dense MLP's", kMegatron},
        {"shard-group", "a shard group divides DP x CP, and something is sharded",
         "hybrid sharding repeats one shard layout over equal groups",
         "PyTorch FSDP HYBRID_SHARD, https://pytorch.org/docs/stable/fsdp.html"},
        {"zero-pp", "DeepSpeed's pipeline works with ZeRO 0 or 1",
         "its engine keeps gradients of all micro-batches, which ZeRO-2 and 3 would scatter",
         "DeepSpeed pipe/engine.py, https://github.com/deepspeedai/DeepSpeed"},
        {"positions", "a model with a position table cannot exceed it",
         "there is no row to look up", "the model's config.json"},
        {"lora-rank", "a LoRA rank is between 1 and the hidden size",
         "a larger one is more than the full matrix (arXiv 2106.09685, section 4.1)",
         "arXiv 2106.09685"},
        {"data-only", "a model of which only counts are known is split by data only",
         "there is no layer shape to divide", "ours"},
    };
    return laws;
}

}  // namespace trainyard::workload
