// Megatron-LM: pretrain_gpt.py and its arguments.
// Names of arguments: https://github.com/NVIDIA/Megatron-LM, megatron/training/arguments.py and
// docs/user-guide/features/megatron_fsdp.md (Megatron-Core 0.16, 2026).

#include <fmt/format.h>

#include <cmath>

#include "launch_framework.hpp"

namespace trainyard::render {

namespace {

using catalog::Precision;
using workload::Optimizer;
using workload::Recompute;
using workload::Zero;
using Words = std::vector<std::string>;

void add(Words& out, std::string name) { out.push_back("--" + std::move(name)); }
template <typename T>
void add(Words& out, std::string name, T value) {
    add(out, std::move(name));
    out.push_back(fmt::format("{}", value));
}

std::optional<Error> mistake(const Recipe& r) {
    const workload::Model& m = r.model;
    const auto no = [&r](std::string why) {
        return cannot_express(r, Framework::megatron, std::move(why), Framework::fsdp);
    };
    if (m.opaque_params) return no("its shape is not known: " + m.name);
    if (!m.causal) return no("pretrain_gpt.py trains decoders");
    if (m.parallel_block) return no("attention and MLP side by side are not in its layers");
    if (r.training.lora) return no("pretrain_gpt.py has no adapters");
    const Optimizer o = r.training.optimizer;
    if (o == Optimizer::adamw_8bit || o == Optimizer::adafactor || o == Optimizer::muon)
        return no("the optimizer is " + std::string(to_string(o)));
    return std::nullopt;
}

/// Layers of the last stage where the stages are uneven: all others hold the ceiling.
int last_stage(const Recipe& r) {
    const int stages = r.training.parallel.pipeline;
    const int each = (r.model.layers + stages - 1) / stages;
    return r.model.layers - each * (stages - 1);
}

void add_mapping(Words& w, const Recipe& r) {
    const workload::Parallelism& p = r.training.parallel;
    add(w, "tensor-model-parallel-size", p.tensor);
    add(w, "pipeline-model-parallel-size", p.pipeline);
    if (p.virtual_stages > 1) add(w, "num-virtual-stages-per-pipeline-rank", p.virtual_stages);
    if (r.model.layers % p.pipeline != 0) add(w, "decoder-last-pipeline-num-layers", last_stage(r));
    add(w, "context-parallel-size", p.context);
    if (p.sequence_parallel && p.tensor > 1) add(w, "sequence-parallel");
    if (r.model.moe) {
        add(w, "expert-model-parallel-size", p.expert);
        add(w, "expert-tensor-parallel-size", p.expert_tensor);
    }
}

void add_sharding(Words& w, const workload::Parallelism& p) {
    add(w, "overlap-grad-reduce");
    if (p.zero == Zero::none) return;
    add(w, "use-distributed-optimizer");
    add(w, "overlap-param-gather");
    if (p.zero != Zero::optimizer) {
        add(w, "use-megatron-fsdp");
        add(w, "data-parallel-sharding-strategy",
            p.zero == Zero::weights ? "optim_grads_params" : "optim_grads");
        add(w, "no-gradient-accumulation-fusion");
    }
    if (p.shard_group > 0 && p.shard_group < p.data)
        add(w, "num-distributed-optimizer-instances", p.data / p.shard_group);
}

void add_experts(Words& w, const workload::Model& m) {
    if (!m.moe) return;
    const workload::MixtureOfExperts& e = *m.moe;
    add(w, "num-experts", e.experts);
    add(w, "moe-router-topk", e.experts_per_token);
    add(w, "moe-ffn-hidden-size", e.expert_ffn_hidden);
    if (e.shared_ffn_hidden > 0) add(w, "moe-shared-expert-intermediate-size", e.shared_ffn_hidden);
    if (e.dense_layers > 0) {
        add(w, "moe-layer-freq",
            fmt::format("([0]*{}+[1]*{})", e.dense_layers, m.layers - e.dense_layers));
    }
    add(w, "moe-grouped-gemm");
    add(w, "moe-token-dispatcher-type", "alltoall");
}

void add_attention(Words& w, const workload::Model& m) {
    add(w, "num-attention-heads", m.heads);
    if (m.mla) {
        add(w, "multi-latent-attention");
        if (m.mla->q_lora_rank > 0) add(w, "q-lora-rank", m.mla->q_lora_rank);
        add(w, "kv-lora-rank", m.mla->kv_lora_rank);
        add(w, "qk-head-dim", m.mla->qk_nope_head_dim);
        add(w, "qk-pos-emb-head-dim", m.mla->qk_rope_head_dim);
        add(w, "v-head-dim", m.mla->v_head_dim);
    } else {
        if (m.kv_heads < m.heads) {
            add(w, "group-query-attention");
            add(w, "num-query-groups", m.kv_heads);
        }
        if (m.head_dim > 0) add(w, "kv-channels", m.head_dim);
    }
    if (m.qk_norm) add(w, "qk-layernorm");
}

void add_model(Words& w, const Recipe& r) {
    const workload::Model& m = r.model;
    add(w, "num-layers", m.layers);
    add(w, "hidden-size", m.hidden);
    add(w, "ffn-hidden-size", m.ffn_hidden);
    add_attention(w, m);
    add(w, "seq-length", r.training.sequence);
    add(w, "max-position-embeddings", std::max(m.max_positions, r.training.sequence));
    add(w, "position-embedding-type", m.learned_positions ? "learned_absolute" : "rope");
    if (m.norm == workload::Norm::rms_norm) add(w, "normalization", "RMSNorm");
    if (m.gated_mlp) add(w, "swiglu");
    if (!m.mlp_bias) {
        add(w, "disable-bias-linear");
        if (m.attention_bias) add(w, "add-qkv-bias");
    }
    if (!m.tied_embeddings) add(w, "untie-embeddings-and-output-weights");
    add_experts(w, m);
}

void add_step(Words& w, const workload::Training& t) {
    add(w, "micro-batch-size", t.micro_batch);
    add(w, "global-batch-size", t.global_batch);
    if (t.recompute == Recompute::selective) add(w, "recompute-granularity", "selective");
    if (t.recompute == Recompute::full) {
        add(w, "recompute-granularity", "full");
        add(w, "recompute-method", "uniform");
        add(w, "recompute-num-layers", 1);
    }
    if (t.precision == Precision::fp16) add(w, "fp16");
    const bool wide = t.precision == Precision::fp32 || t.precision == Precision::tf32;
    if (!wide && t.precision != Precision::fp16) add(w, "bf16");
    if (t.precision == Precision::fp8) add(w, "fp8-format", "hybrid");
    if (t.precision == Precision::fp4) add(w, "fp4-format", "e2m1");
    if (t.optimizer == Optimizer::sgd) add(w, "optimizer", "sgd");
    if (t.optimizer == Optimizer::adamw_bf16) {
        add(w, "use-precision-aware-optimizer");
        add(w, "exp-avg-dtype", "bf16");
        add(w, "exp-avg-sq-dtype", "bf16");
    }
}

void add_checkpoints(Words& w, const Recipe& r, const Places& places) {
    const bool fsdp =
        r.training.parallel.zero == Zero::gradients || r.training.parallel.zero == Zero::weights;
    add(w, "save", places.checkpoint);
    add(w, "load", places.checkpoint);
    add(w, "save-interval", save_every(r));
    add(w, "ckpt-format", fsdp ? "fsdp_dtensor" : "torch_dist");
    if (!fsdp) add(w, "async-save");
    add(w, "exit-signal-handler");
}

}  // namespace

Result<Launch> megatron_command(const Recipe& r, const Places& places) {
    if (auto wrong = mistake(r)) return *std::move(wrong);
    const workload::Parallelism& p = r.training.parallel;
    if (r.model.layers % p.pipeline != 0 && (last_stage(r) < 1 || p.virtual_stages > 1)) {
        return cannot_express(r, Framework::megatron,
                              fmt::format("{} layers cannot be cut into {} stages of equal size "
                                          "but the last",
                                          r.model.layers, p.pipeline),
                              Framework::megatron);
    }
    Launch l;
    l.framework = Framework::megatron;
    l.ranks_per_node = r.ranks_per_node();
    l.notice = "TERM";
    l.program = {"pretrain_gpt.py"};
    add(l.program, "use-mcore-models");
    add(l.program, "transformer-impl", "transformer_engine");
    add_mapping(l.program, r);
    add_sharding(l.program, p);
    add_model(l.program, r);
    add_step(l.program, r.training);
    add(l.program, "train-iters", fmt::format("{:.0f}", r.steps));
    add_checkpoints(l.program, r, places);
    l.expects = {
        "`pretrain_gpt.py` is Megatron-LM's: it has to lie where the command runs. What the plan "
        "does not decide "
        "comes behind the arguments: `--lr` and its schedule, `--tokenizer-type`, "
        "`--tokenizer-model`, `--data-path` (below the data directory)" +
        std::string(r.model.learned_positions ? "." : ", `--rotary-base` of your model.")};
    if (r.training.method == workload::Method::full_finetune)
        l.expects.push_back(
            "Fine-tuning: convert the weights to Megatron's format and add "
            "`--pretrained-checkpoint DIR --finetune`.");
    if (r.model.sliding_window)
        l.expects.push_back(
            "The model has layers with a sliding window: add `--window-size` and "
            "the pattern of its layers.");
    return l;
}

}  // namespace trainyard::render
