// NeuronX Distributed Training on Trainium: its orchestrator and a YAML of the plan.
// Keys: https://awsdocs-neuron.readthedocs-hosted.com/en/v2.29.0, nxd-training, config_overview

#include <fmt/format.h>

#include "checkpoint_functions.hpp"
#include "launch_framework.hpp"
#include "ledger.hpp"
#include "render_target.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {

namespace {

constexpr const char* kLogs = "/.log";

using doc::Node;
using workload::Recompute;
using workload::Zero;

/// The plan counts chips; a process runs on a logical core. Trainium1 has two cores a chip,
/// Trainium2 eight in pairs (logical NeuronCore configuration 2, its default).
struct Cores {
    int pair = 1;  ///< physical cores in a logical one
    int per_node = 1;
    int tensor = 1;
};

Cores cores_of(const Recipe& r) {
    const int physical = r.accelerator.multiprocessors.value_or(2);
    Cores c;
    c.pair = physical > 2 ? 2 : 1;
    c.per_node = r.instance.accelerators * physical / c.pair;
    const int more = std::max(1, c.per_node / std::max(1, r.ranks_per_node()));
    c.tensor = r.training.parallel.tensor * more;
    return c;
}

Node trainer(const Recipe& r, const Cores& c) {
    Node n = Node::map();
    n.set("devices", c.per_node);
    if (c.pair > 1) n.set("lnc", c.pair);
    n.set("num_nodes", r.nodes).set("max_epochs", -1);
    n.set("max_steps", static_cast<std::int64_t>(r.steps));
    n.set("log_every_n_steps", 10).set("val_check_interval", 1 << 30);
    n.set("num_sanity_val_steps", 0).set("limit_val_batches", 0).set("limit_test_batches", 0);
    n.set("gradient_clip_val", 1.0);
    return n;
}

Node checkpoints(const Recipe& r, const Places& places) {
    Node callback = Node::map();
    callback.set("monitor", "step").set("mode", "max").set("save_last", false);
    callback.set("save_top_k", kept_checkpoints()).set("dirpath", places.checkpoint);
    callback.set("filename", "{step}-{consumed_samples}");
    callback.set("every_n_train_steps", static_cast<std::int64_t>(save_every(r)));
    Node n = Node::map();
    // A step has to be a directory of its own there; the logs are none.
    n.set("name", "run").set("explicit_log_dir", places.checkpoint + kLogs);
    n.set("resume_if_exists", true).set("resume_ignore_no_checkpoint", true);
    n.set("create_checkpoint_callback", true);
    n.set("checkpoint_callback_params", std::move(callback));
    n.set("save_xser", true).set("load_xser", true).set("async_checkpointing", true);
    return n;
}

Node strategy(const Recipe& r, const Cores& c) {
    const workload::Parallelism& p = r.training.parallel;
    Node n = Node::map();
    n.set("tensor_model_parallel_size", c.tensor).set("pipeline_model_parallel_size", p.pipeline);
    n.set("virtual_pipeline_model_parallel_size", p.virtual_stages);
    if (p.context > 1) n.set("context_parallel_size", p.context);
    n.set("zero1", p.zero == Zero::optimizer).set("sequence_parallel", c.tensor > 1);
    const bool copies = c.tensor > r.model.kv_heads && r.model.kv_heads > 0;
    n.set("kv_replicator", copies ? c.tensor / r.model.kv_heads : 1);
    return n;
}

Node model(const Recipe& r) {
    Node n = Node::map();
    n.set("#", "the Hugging Face config.json of your model");
    n.set("model_config", "fill-in/config.json");
    n.set("encoder_seq_length", r.training.sequence);
    n.set("max_position_embeddings", std::max(r.model.max_positions, r.training.sequence));
    n.set("num_layers", r.model.layers).set("hidden_size", r.model.hidden);
    n.set("qkv_linear", true);
    n.set("activations_checkpoint_granularity",
          r.training.recompute == Recompute::none
              ? Node()
              : Node::string(std::string(to_string(r.training.recompute))));
    Node fusions = Node::map();
    fusions.set("softmax", true).set("flash_attention", true);
    n.set("fusions", std::move(fusions));
    Node optimizer = Node::map();
    optimizer.set("name", "adamw_fp32OptState");
    optimizer.set("#", "yours to choose: override model.optim.lr in the extra arguments");
    optimizer.set("lr", 1e-4);
    n.set("optim", std::move(optimizer));
    return n;
}

std::string config(const Recipe& r, const Places& places, const Cores& c) {
    Node data = Node::map();
    data.set("micro_batch_size", r.training.micro_batch);
    data.set("global_batch_size", r.training.global_batch).set("train_dir", places.data);
    Node precision = Node::map();
    precision.set("type",
                  r.training.precision == catalog::Precision::fp32 ? "fp32" : "mixed_precision");
    Node root = Node::map();
    root.set("name", "run").set("model_source", "hf").set("seed", 1234);
    root.set("trainer", trainer(r, c)).set("exp_manager", checkpoints(r, places));
    root.set("distributed_strategy", strategy(r, c)).set("data", std::move(data));
    root.set("model", model(r)).set("precision", std::move(precision));
    root.set("compiler_flags", "--model-type transformer");
    return "# trainyard render, trainyard " + r.tool_version + "\n# plan sha256:" + r.plan_hash +
           "\n" + write_yaml(root);
}

}  // namespace

Result<Launch> nxd_command(const Recipe& r, const Places& places) {
    const workload::Parallelism& p = r.training.parallel;
    const Cores c = cores_of(r);
    const auto no = [&r](std::string why) {
        return cannot_express(r, Framework::nxd, std::move(why), Framework::nxd);
    };
    if (p.zero == Zero::gradients || p.zero == Zero::weights)
        return no("it shards optimizer states (ZeRO-1), not gradients or weights");
    if (p.expert > 1) return no("its experts over several ranks are not rendered");
    if (r.training.lora) return no("adapters are not rendered for Trainium");
    if (r.model.opaque_params || !r.model.causal) return no("it trains decoders");
    if (r.model.heads % c.tensor != 0) {
        return no(fmt::format("{} attention heads do not divide into {} cores of a tensor group",
                              r.model.heads, c.tensor));
    }
    Launch l;
    l.framework = Framework::nxd;
    l.ranks_per_node = c.per_node;
    l.notice = "";
    // Hydra overrides: the directories are known on the node only.
    l.program = {"training_orchestrator.py",
                 "--config-path=" + places.config,
                 "--config-name=nxd",
                 "data.train_dir=" + places.data,
                 "exp_manager.explicit_log_dir=" + places.checkpoint + kLogs,
                 "exp_manager.checkpoint_callback_params.dirpath=" + places.checkpoint};
    l.files.push_back({"nxd.yaml", config(r, {"data", "checkpoints", ""}, c)});
    l.expects = {
        "`training_orchestrator.py` stands in the examples of NxD Training; fill in `model_config` "
        "in "
        "`nxd.yaml`. Compile once before the run: the same command on the cluster with "
        "`COMPILE=1` and `neuron_parallel_compile` in front.",
        "NxD Training ends with Neuron " + version("neuron.sdk").value + " (" +
            version("neuron.sdk").provenance.as_of +
            "): later releases train with PyTorch's own "
            "Neuron backend."};
    return l;
}

}  // namespace trainyard::render
