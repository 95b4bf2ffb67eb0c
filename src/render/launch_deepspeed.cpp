// DeepSpeed: the user's train.py and ds_config.json.
// Keys: https://www.deepspeed.ai/docs/config-json

#include <fmt/format.h>

#include "launch_framework.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::render {

namespace {

using catalog::Precision;
using doc::Node;
using workload::Zero;

Node enabled() {
    Node n = Node::map();
    n.set("enabled", true);
    return n;
}

Node zero(const workload::Parallelism& p) {
    Node n = Node::map();
    n.set("stage", static_cast<int>(p.zero));
    n.set("overlap_comm", true).set("contiguous_gradients", true);
    if (p.shard_group > 0 && p.shard_group < p.data) n.set("mics_shard_size", p.shard_group);
    return n;
}

/// The plan's hash stands in the file's own name space: DeepSpeed reads the keys that it knows.
std::string config(const Recipe& r) {
    const workload::Training& t = r.training;
    Node n = Node::map();
    n.set("train_batch_size", t.global_batch);
    n.set("train_micro_batch_size_per_gpu", t.micro_batch);
    n.set("gradient_accumulation_steps",
          std::max(1, t.global_batch / (t.micro_batch * t.parallel.data)));
    n.set("zero_optimization", zero(t.parallel));
    if (t.precision == Precision::fp16) n.set("fp16", enabled());
    if (t.precision == Precision::bf16 || t.precision == Precision::fp8) n.set("bf16", enabled());
    if (t.parallel.tensor > 1) {
        Node tensor = Node::map();
        tensor.set("autotp_size", t.parallel.tensor);
        n.set("tensor_parallel", std::move(tensor));
    }
    if (t.recompute != workload::Recompute::none) {
        Node a = Node::map();
        a.set("partition_activations", false).set("contiguous_memory_optimization", false);
        n.set("activation_checkpointing", std::move(a));
    }
    return doc::write_json(n);
}

}  // namespace

Result<Launch> deepspeed_command(const Recipe& r, const Places& places) {
    const workload::Parallelism& p = r.training.parallel;
    const auto no = [&r](std::string why) {
        return cannot_express(r, Framework::deepspeed, std::move(why), Framework::megatron);
    };
    if (p.pipeline > 1) return no("its pipeline engine needs a model written as a list of layers");
    if (p.context > 1) return no(fmt::format("it has no ring over {} context ranks", p.context));
    if (p.expert > 1) return no("its experts need a model written with its own layers");
    if (p.tensor > 1 && p.zero == Zero::weights) return no("its tensor parallelism ends at ZeRO-2");
    Launch l;
    l.framework = Framework::deepspeed;
    l.ranks_per_node = r.ranks_per_node();
    l.program = {"train.py",
                 "--deepspeed",
                 "--deepspeed_config=" + places.config + "/ds_config.json",
                 "--data=" + places.data,
                 "--checkpoint-dir=" + places.checkpoint,
                 fmt::format("--steps={:.0f}", r.steps),
                 fmt::format("--save-every={}", save_every(r))};
    l.files.push_back({"ds_config.json", config(r)});
    l.expects = {
        "`train.py` is yours: it takes `--deepspeed_config`, `--data`, `--checkpoint-dir`, "
        "`--steps` "
        "and `--save-every` (steps), calls `deepspeed.initialize` with your model and optimizer, "
        "`save_checkpoint` into the checkpoint directory and `load_checkpoint` from it. torchrun "
        "starts it: `deepspeed.init_distributed` reads its variables."};
    if (r.training.recompute != workload::Recompute::none)
        l.expects.push_back(
            fmt::format("Recomputation ({}): your model wraps its layers in "
                        "`deepspeed.checkpointing.checkpoint`.",
                        to_string(r.training.recompute)));
    if (p.tensor > 1)
        l.expects.push_back(
            "Tensor parallelism in training (AutoTP) needs DeepSpeed 0.16.4 or "
            "later and a Hugging Face model.");
    return l;
}

}  // namespace trainyard::render
