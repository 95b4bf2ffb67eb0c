// PyTorch FSDP2 and DTensor: the user's train.py, and parallel.py with the plan's mesh.
// API: https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html (PyTorch 2.6 and
// later)

#include <fmt/format.h>

#include "launch_framework.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {

namespace {

using workload::Zero;

/// Data-parallel ranks that hold one copy of the weights together, and copies.
struct Shards {
    int replicate = 1;
    int shard = 1;
};
Shards shards_of(const workload::Parallelism& p) {
    if (p.zero == Zero::none) return {p.data, 1};
    const int group = p.shard_group > 0 ? p.shard_group : p.data;
    return {p.data / group, group};
}

constexpr std::string_view kParallel = R"py(
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

MESH = {{"replicate": {0}, "shard": {1}, "context": {2}, "tensor": {3}}}
MICRO_BATCH = {4}
GRADIENT_ACCUMULATION = {5}
SEQUENCE = {6}
RECOMPUTE = {7}
# ZeRO-3 frees the weights after the forward pass and gathers them again; ZeRO-1 and 2 keep them.
RESHARD_AFTER_FORWARD = {8}
COMPUTE_TYPE = {9}


def device_mesh():
    """The plan's mesh. Ranks of one tensor group are neighbours: they share a node."""
    return init_device_mesh("cuda", tuple(MESH.values()), mesh_dim_names=tuple(MESH))


def shard(model, layers, mesh):
    """FSDP2 on each layer and the rest, after tensor parallelism (parallelize_module) if any."""
    if MESH["shard"] * MESH["context"] * MESH["replicate"] == 1:
        return model
    names = ("replicate", "shard") if MESH["replicate"] > 1 else ("shard",)
    options = {{
        "mesh": mesh[names],
        "reshard_after_forward": RESHARD_AFTER_FORWARD,
        "mp_policy": MixedPrecisionPolicy(param_dtype=COMPUTE_TYPE, reduce_dtype=torch.float32),
    }}
    for layer in layers:
        fully_shard(layer, **options)
    return fully_shard(model, **options)
)py";

std::string_view compute_type(catalog::Precision p) {
    if (p == catalog::Precision::fp16) return "torch.float16";
    const bool wide = p == catalog::Precision::fp32 || p == catalog::Precision::tf32;
    return wide ? "torch.float32" : "torch.bfloat16";
}

std::string parallel_py(const Recipe& r) {
    const workload::Training& t = r.training;
    const Shards s = shards_of(t.parallel);
    const int steps = std::max(1, t.global_batch / (t.micro_batch * t.parallel.data));
    std::string head = "\"\"\"How the plan spreads the model: import this from train.py.\n\n";
    head += "trainyard render, trainyard " + r.tool_version + ", plan sha256:" + r.plan_hash +
            "\n\"\"\"\n";
    return head + fmt::format(kParallel, s.replicate, s.shard, t.parallel.context,
                              t.parallel.tensor, t.micro_batch, steps, std::max(1, t.sequence),
                              python_string(to_string(t.recompute)),
                              t.parallel.zero == Zero::weights ? "True" : "False",
                              compute_type(t.precision));
}

}  // namespace

Result<Launch> fsdp_command(const Recipe& r, const Places& places) {
    const workload::Parallelism& p = r.training.parallel;
    if (p.pipeline > 1) {
        return cannot_express(
            r, Framework::fsdp,
            fmt::format("FSDP shards, it does not cut {} pipeline stages", p.pipeline),
            Framework::megatron);
    }
    if (p.expert > 1 || p.expert_tensor > 1) {
        return cannot_express(
            r, Framework::fsdp,
            fmt::format("experts over {} ranks need their own dispatch", p.expert),
            Framework::megatron);
    }
    Launch l;
    l.framework = Framework::fsdp;
    l.ranks_per_node = r.ranks_per_node();
    l.program = {"train.py", "--data=" + places.data, "--checkpoint-dir=" + places.checkpoint,
                 fmt::format("--steps={:.0f}", r.steps),
                 fmt::format("--save-every={}", save_every(r))};
    l.files.push_back({"parallel.py", parallel_py(r)});
    l.expects = {
        "`train.py` is yours: it takes `--data`, `--checkpoint-dir`, `--steps` and `--save-every` "
        "(steps), saves into a new subdirectory with the step in its name "
        "(`torch.distributed.checkpoint`), resumes from the newest one, and spreads the model with "
        "`parallel.py`.",
        "SIGUSR1 reaches the ranks of one node at another moment than the others: `train.py` keeps "
        "a flag, all ranks agree on it after each step (`all_reduce` with MAX), then all save and "
        "end with status 0."};
    if (r.training.parallel.tensor > 1)
        l.expects.push_back(
            "Tensor parallelism: `parallelize_module(layer, "
            "mesh[\"tensor\"], plan)` with your model's plan, before `shard`.");
    if (r.training.parallel.context > 1)
        l.expects.push_back(
            "Context parallelism: `torch.distributed.tensor.experimental."
            "context_parallel` on `mesh[\"context\"]`.");
    if (r.training.lora)
        l.expects.push_back(
            fmt::format("LoRA of rank {}: PEFT adapters before `shard`.", r.training.lora->rank));
    if (r.training.precision == catalog::Precision::fp8)
        l.expects.push_back("FP8: `torchao.float8.convert_to_float8_training` before `shard`.");
    return l;
}

}  // namespace trainyard::render
