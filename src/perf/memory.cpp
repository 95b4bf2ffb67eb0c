// Weights, gradients and optimizer states by ZeRO stage (arXiv 1910.02054, sec. 3); activations by
// walking the tensors that a layer keeps for backward (Korthikanti et al., arXiv 2205.05198, Table
// 2, generalised to gated MLPs, GQA, MLA and MoE); micro-batches in flight by stage: min(m, p - i)
// under 1F1B. The heaviest of the first and the last stage counts: the first holds most
// activations, the last holds the logits.

#include "memory.hpp"

#include <algorithm>
#include <cmath>

#include "optimizer.hpp"
#include "pipeline.hpp"

namespace trainyard::perf {

using workload::Method;
using workload::Model;
using workload::ParameterCount;
using workload::Recompute;
using workload::Training;
using workload::Zero;

namespace {

bool frozen_base(const Training& t) {
    return t.method == Method::lora || t.method == Method::qlora;
}

struct Tokens {
    double all;           ///< tokens of one micro-batch on this device
    double hidden_share;  ///< of hidden-sized tensors outside TP regions
};

Tokens tokens_of(const Training& t) {
    const double all = double(t.micro_batch) * t.sequence / t.parallel.context;
    return {all, t.parallel.sequence_parallel ? 1.0 / t.parallel.tensor : 1.0};
}

/// Elements kept per token by the attention half of a layer (16-bit each), without the score
/// matrix.
double attention_elements(const Model& m, const Training& t, double share) {
    const double tp = t.parallel.tensor;
    double qkv = (double(m.heads) + 2.0 * std::max<double>(m.kv_heads, tp)) * m.head_dim / tp;
    double out = double(m.heads) * m.head_dim / tp;
    if (m.mla) {
        const auto& a = *m.mla;
        qkv = m.heads * (2.0 * (a.qk_nope_head_dim + a.qk_rope_head_dim) + a.v_head_dim) / tp +
              a.q_lora_rank + a.kv_lora_rank;
        out = double(m.heads) * a.v_head_dim / tp;
    }
    return 2.0 * m.hidden * share + qkv + out;
}

/// MLP half: norm input and output, first product, activation output.
double dense_mlp_elements(const Model& m, double width, double tp, double share) {
    return 2.0 * m.hidden * share + (m.gated_mlp ? 3.0 : 2.0) * width / tp;
}

double moe_mlp_elements(const Model& m, const Training& t, double share) {
    const auto& moe = *m.moe;
    const double split =
        double(t.parallel.expert_tensor) / t.parallel.tensor;  // own share of the tokens
    const double routed = moe.experts_per_token * split;
    const double expert =
        routed * (2.0 * m.hidden +
                  (m.gated_mlp ? 3.0 : 2.0) * moe.expert_ffn_hidden / t.parallel.expert_tensor);
    double elements = 2.0 * m.hidden * share + expert + 4.0 * moe.experts * split;
    if (moe.shared_ffn_hidden > 0) {
        elements += (m.gated_mlp ? 3.0 : 2.0) * moe.shared_ffn_hidden / t.parallel.tensor;
    }
    return elements;
}

double score_bytes_per_token(const Model& m, const Training& t) {
    if (t.attention == workload::AttentionKernel::flash) return 0;
    // Softmax output, dropout mask and dropout output: 2 + 1 + 2 bytes per score.
    return 5.0 * std::max(1.0, double(m.heads) / t.parallel.tensor) * t.sequence;
}

struct LayerBytes {
    double kept;     ///< per layer and micro-batch until backward
    double working;  ///< extra while the layer runs backward (recomputed tensors, their gradients)
};

/// Selective recompute per operator (torch SAC): the layer input, the attention output and a share
/// of matmul outputs.
double operator_elements(const Model& m, const Training& t, bool moe, double share,
                         double kept_gemms) {
    const double tp = t.parallel.tensor;
    const double qkv = (double(m.heads) + 2.0 * std::max<double>(m.kv_heads, tp)) * m.head_dim / tp;
    const double width =
        moe ? double(m.moe->expert_ffn_hidden) * m.moe->experts_per_token : double(m.ffn_hidden);
    const double products = qkv + 2.0 * m.hidden * share + (m.gated_mlp ? 2.0 : 1.0) * width / tp;
    return m.hidden * share + double(m.heads) * m.head_dim / tp + kept_gemms * products;
}

LayerBytes layer_bytes(const Model& m, const Training& t, bool moe, double element_bytes,
                       const Stack& stack) {
    const Tokens tok = tokens_of(t);
    if (t.precision == catalog::Precision::fp8 || t.precision == catalog::Precision::fp4) {
        // Transformer Engine keeps the inputs of linear layers in 8 bit: about half of what a layer
        // saves.
        element_bytes *= 0.75;
    }
    const double attention = attention_elements(m, t, tok.hidden_share);
    const double mlp =
        moe ? moe_mlp_elements(m, t, tok.hidden_share)
            : dense_mlp_elements(m, m.ffn_hidden, t.parallel.tensor, tok.hidden_share);
    const double scores = score_bytes_per_token(m, t);
    const double all = tok.all * ((attention + mlp) * element_bytes + scores);
    const double input = tok.all * m.hidden * tok.hidden_share * element_bytes;
    const double gradients = tok.all * (mlp * 0.5 + m.hidden) * element_bytes;
    switch (t.recompute) {
        case Recompute::full:
            return {input, all + gradients};
        case Recompute::selective:
            if (stack.selective_gemm > 0) {
                const double kept =
                    operator_elements(m, t, moe, tok.hidden_share, 1 - stack.selective_gemm);
                return {tok.all * kept * element_bytes,
                        all - tok.all * kept * element_bytes + gradients};
            }
            return {all - tok.all * scores, tok.all * scores + gradients};
        case Recompute::none:
            break;
    }
    return {all, gradients};
}

double in_flight(const Training& t, int index) {
    const double p = t.parallel.pipeline, m = std::max(1, t.micro_batches());
    if (p == 1) return 1;
    double alive = std::min(m, p - index);
    if (t.parallel.virtual_stages > 1 && index == 0)
        alive = std::min(m, p * (1 + (p - 1) / (p * t.parallel.virtual_stages)));
    return alive;
}

struct States {
    double weights, gradients, optimizer;
    double temporary;  ///< alive only while the optimizer steps
};

States state_bytes(const StageParameters& p, const Training& t, double element_bytes,
                   const Stack& stack) {
    const workload::Parallelism& par = t.parallel;
    // QLoRA: 4 bit and block scales in the layers (arXiv 2305.14314); embedding and head stay 16
    // bit.
    const double quantised = t.method == Method::qlora ? 1 - p.edge / std::max(1.0, p.total()) : 0;
    const double weight_bytes = 0.55 * quantised + element_bytes * (1 - quantised);
    const double extra =
        t.precision == catalog::Precision::bf16 ? stack.bf16_gradient_extra_bytes : 0;
    // foreach AdamW materialises fp32 square roots and denominators; sharded stacks use fused
    // kernels that do not.
    const double temporary =
        t.optimizer == workload::Optimizer::adamw_fp32 && par.zero == Zero::none
            ? stack.optimizer_temporary_bytes
            : 0;
    const auto part = [&](double count, double share, bool expert) {
        const double shards = optimizer_shards(par, expert);
        const double trainable = count * share;
        const double weights_kept =
            count / (par.zero == Zero::weights ? shards : 1) * weight_bytes +
            (frozen_base(t) ? trainable * element_bytes : 0);
        const double grads =
            trainable * (std::max<double>(stack.gradient_bytes, element_bytes) + extra) /
            (par.zero == Zero::weights || par.zero == Zero::gradients ? shards : 1);
        return States{weights_kept, grads,
                      trainable * optimizer_state_bytes(t.optimizer, element_bytes) / shards,
                      trainable * temporary / shards};
    };
    const States a = part(p.dense, p.trainable_dense, false);
    const States b = part(p.expert, p.trainable_expert, true);
    return {a.weights + b.weights, a.gradients + b.gradients, a.optimizer + b.optimizer,
            a.temporary + b.temporary};
}

double gathered_bytes(const StageParameters& p, const Model& m, const ParameterCount& count,
                      const Training& t) {
    if (t.parallel.zero != Zero::weights) return 0;
    // Pipeline stages keep their gathered weights and full gradients for the whole step.
    if (t.parallel.pipeline > 1) return p.total() * (2.0 + 4.0 * p.trainable_share());
    const double units = std::max(1.0, p.units);
    const double edge = double(count.embedding) / t.parallel.tensor;
    const double unit = std::max(p.total() / units, edge);
    (void)m;
    return 2 * unit * 2.0 + unit * 2.0;  // two gathered units (prefetch) and one full gradient
}

}  // namespace

StageParameters stage_parameters(const Model& m, const ParameterCount& count, const Training& t,
                                 int index) {
    const workload::Parallelism& p = t.parallel;
    const StageLayers layers = stage_layers(m, p.pipeline, index);
    StageParameters s;
    const double shared = double(count.attention) / p.tensor + double(count.norms);
    s.dense = layers.dense * (shared + double(count.dense_mlp) / p.tensor);
    if (m.moe) {
        s.dense +=
            layers.moe * (shared + double(count.router) + double(count.shared_expert) / p.tensor);
        s.expert = layers.moe * double(count.routed_expert) * m.moe->experts /
                   (double(p.expert) * p.expert_tensor);
    }
    if (index == 0) s.edge += double(count.embedding) / p.tensor;
    if (index == p.pipeline - 1) {
        const double head =
            count.head > 0 ? double(count.head) : (p.pipeline > 1 ? double(count.embedding) : 0);
        s.edge += head / p.tensor;
        s.dense += double(count.final_norm);
    }
    s.dense += s.edge;
    s.units = std::max(1.0, layers.dense + layers.moe);
    if (frozen_base(t)) {
        const workload::AdapterCount a =
            workload::count_adapters(m, t.lora ? t.lora->rank : workload::Lora{}.rank);
        double dense = (layers.dense + layers.moe) * a.attention + layers.dense * a.dense_mlp +
                       layers.moe * a.shared_expert;
        if (t.lora && t.lora->train_embeddings) dense += s.edge * p.tensor;
        s.trainable_dense = dense / p.tensor / std::max(1.0, s.dense);
        if (s.expert > 0) {
            const double held = layers.moe * a.routed_expert * m.moe->experts;
            s.trainable_expert = held / (double(p.expert) * p.expert_tensor) / s.expert;
        }
    }
    return s;
}

namespace {

MemoryBreakdown stage_memory(const Model& m, const ParameterCount& count, const Training& t,
                             const catalog::Accelerator& a, const Constants& constants,
                             const Stack& stack, int index) {
    const GlobalConstants& c = constants.global;
    const bool wide =
        t.precision == catalog::Precision::fp32 || t.precision == catalog::Precision::tf32;
    const double element = wide ? 4 : 2;
    const StageParameters p = stage_parameters(m, count, t, index);
    const States states = state_bytes(p, t, element, stack);
    const StageLayers layers = stage_layers(m, t.parallel.pipeline, index);
    const LayerBytes dense = layer_bytes(m, t, false, element, stack);
    const LayerBytes moe = m.moe ? layer_bytes(m, t, true, element, stack) : LayerBytes{0, 0};
    double kept = (layers.dense * dense.kept + layers.moe * moe.kept) * in_flight(t, index);
    double offloaded = 0;
    if (t.offload_layer_inputs && t.recompute == Recompute::full) {
        // One layer's input is on its way out or back while another is worked on.
        const double resident = std::min(kept, 2 * std::max(dense.kept, moe.kept));
        offloaded = kept - resident;
        kept = resident;
    }
    double working =
        std::max(layers.dense > 0 ? dense.working : 0, layers.moe > 0 ? moe.working : 0);
    double logits = 0;
    if (index == t.parallel.pipeline - 1 && m.vocab > 0) {
        // Alive before any layer's backward begins.
        const double predicted =
            m.causal ? 1.0 : 0.15;  // masked language models decode 15 % of the tokens
        logits =
            tokens_of(t).all * predicted * double(m.vocab) / t.parallel.tensor * stack.logit_bytes;
    }
    MemoryBreakdown b;
    b.stage = index;
    b.weights = states.weights * kByte;
    b.gradients = states.gradients * kByte;
    b.optimizer = states.optimizer * kByte;
    b.activations = kept * kByte;
    b.offloaded = offloaded * kByte;
    b.logits = logits > working ? logits * kByte : Bytes{};
    b.workspace = logits > working ? Bytes{} : working * kByte;
    b.gathered = gathered_bytes(p, m, count, t) * kByte;
    const Bytes moving = b.activations + b.logits + b.workspace + b.gathered;
    b.fragmentation = c.fragmentation * moving;
    const workload::Parallelism& par = t.parallel;
    const int groups = (par.tensor > 1) + (par.pipeline > 1) + (par.context > 1) +
                       (par.expert > 1) + (par.data * par.context > 1);
    b.runtime = (c.runtime_gb + c.nccl_gb_per_group * groups) * kGB;
    // Two peaks: backward (activations alive) and the optimizer step (activations gone, its
    // temporaries alive).
    const Bytes step = states.temporary * kByte;
    if (step > moving + b.fragmentation) {
        b.activations = b.offloaded = b.logits = b.gathered = b.fragmentation = Bytes{};
        b.workspace = step;
    }
    b.total = b.weights + b.gradients + b.optimizer + b.activations + b.logits + b.workspace +
              b.gathered + b.fragmentation + b.runtime;
    b.capacity = a.memory;
    return b;
}

}  // namespace

MemoryBreakdown memory_of(const Model& m, const ParameterCount& count, const Training& t,
                          const catalog::Accelerator& a, const Constants& constants,
                          const Stack& stack) {
    MemoryBreakdown heaviest = stage_memory(m, count, t, a, constants, stack, 0);
    if (t.parallel.pipeline > 1) {
        const MemoryBreakdown last =
            stage_memory(m, count, t, a, constants, stack, t.parallel.pipeline - 1);
        if (last.total > heaviest.total) heaviest = last;
        if (t.parallel.pipeline > 2) {
            const int middle = middle_stage(m, t.parallel.pipeline);
            const MemoryBreakdown second = stage_memory(m, count, t, a, constants, stack, middle);
            if (second.total > heaviest.total) heaviest = second;
        }
    }
    return heaviest;
}

std::string_view MemoryBreakdown::largest() const {
    const std::pair<Bytes, std::string_view> terms[] = {
        {weights, "weights"},         {gradients, "gradients"}, {optimizer, "optimizer states"},
        {activations, "activations"}, {logits, "logits"},       {gathered, "gathered weights"},
        {workspace, "workspace"},     {runtime, "runtime"},
    };
    const auto* best =
        std::max_element(std::begin(terms), std::end(terms),
                         [](const auto& x, const auto& y) { return x.first < y.first; });
    return best->second;
}

}  // namespace trainyard::perf
