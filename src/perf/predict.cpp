// The step, assembled: layers -> stages -> pipeline -> data parallelism -> optimizer -> stragglers.
// Each line is one term of docs/model/README.md; the terms sum to the total exactly.

#include "trainyard/perf/predict.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "data_parallel.hpp"
#include "flops.hpp"
#include "layer.hpp"
#include "memory.hpp"
#include "optimizer.hpp"
#include "pipeline.hpp"
#include "trainyard/base/contract.hpp"

namespace trainyard::perf {

using workload::Model;
using workload::Recompute;
using workload::Training;

namespace {

struct Costs {
    LayerCost dense, moe;
    EdgeCost edge;
};

struct Key {
    LayerShape shape;
    catalog::Precision precision;
    const Stack* stack;
    int nodes_class;  ///< fabric share changes expert and context traffic only across nodes
    bool operator==(const Key&) const = default;
};

struct KeyHash {
    std::size_t operator()(const Key& k) const {
        std::size_t h = static_cast<std::size_t>(k.shape.tensor);
        const auto mix = [&h](int v) { h = h * 1000003U ^ static_cast<std::size_t>(v); };
        mix(k.shape.context);
        mix(k.shape.expert);
        mix(k.shape.expert_tensor);
        mix(k.shape.micro_batch);
        mix(k.shape.sequence);
        mix(k.shape.sequence_parallel ? 1 : 0);
        mix(static_cast<int>(k.shape.attention));
        mix(static_cast<int>(k.shape.method));
        mix(k.shape.lora_rank);
        mix(static_cast<int>(k.stack - stacks().data()));
        mix(static_cast<int>(k.precision));
        mix(k.nodes_class);
        return h;
    }
};

StageCost stage_cost(const Costs& costs, StageLayers layers, Recompute recompute, bool embedding,
                     bool head) {
    StageCost s;
    const auto add = [&](const LayerCost& c, double n) {
        if (n <= 0) return;
        s.forward += c.forward * n;
        s.backward += c.backward * n;
        if (recompute == Recompute::full) s.recompute += c.full_recompute * n;
        if (recompute == Recompute::selective) s.recompute += c.selective_recompute * n;
    };
    add(costs.dense, layers.dense);
    add(costs.moe, layers.moe);
    if (embedding) {
        s.forward += costs.edge.embedding_forward;
        s.backward += costs.edge.embedding_backward;
    }
    if (head) {
        s.forward += costs.edge.head_forward;
        s.backward += costs.edge.head_backward;
    }
    return s;
}

}  // namespace

struct Predictor::State {
    Model model;
    workload::ParameterCount count;
    Cluster cluster;
    const Constants* constants;
    Network network;
    std::unordered_map<Key, Costs, KeyHash> memo;
    std::unordered_map<int, Device> devices;  // by precision and stack

    const Device& device(catalog::Precision p, const Stack& stack) {
        const int key = static_cast<int>(p) * 1000 + static_cast<int>(&stack - stacks().data());
        const auto it = devices.find(key);
        if (it != devices.end()) return it->second;
        return devices.emplace(key, make_device(*cluster.accelerator, p, stack, *constants))
            .first->second;
    }

    const Costs& costs(const Training& t, const Stack& stack, const Device& d) {
        const Key key{layer_shape(t), t.precision, &stack, cluster.nodes() > 1 ? 1 : 0};
        const auto it = memo.find(key);
        if (it != memo.end()) return it->second;
        Costs c;
        c.dense = layer_cost(model, LayerKind::dense, key.shape, d, network, stack);
        if (model.moe) c.moe = layer_cost(model, LayerKind::moe, key.shape, d, network, stack);
        c.edge = edge_cost(model, key.shape, d, network);
        return memo.emplace(key, c).first->second;
    }
};

Predictor::Predictor(const Model& model, const Cluster& cluster, const Constants& constants)
    : state_(std::make_unique<State>()) {
    TRAINYARD_ASSERT(cluster.accelerator != nullptr, "a cluster names its accelerator");
    state_->model = model;
    state_->count = workload::count_parameters(model);
    state_->cluster = cluster;
    state_->constants = &constants;
    state_->network = make_network(cluster, constants);
}
Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;

namespace {

bool is_same(const Network& a, const Network& b) {
    return a.intra == b.intra && a.inter_node == b.inter_node && a.per_node == b.per_node &&
           a.rdma == b.rdma;
}

}  // namespace

void Predictor::resize(int accelerators) {
    state_->cluster.accelerators = accelerators;
    const Network before = state_->network;
    state_->network = make_network(state_->cluster, *state_->constants);
    // The key tells one node from several; all else that a layer sees of the size is the network.
    if (!is_same(before, state_->network)) state_->memo.clear();
}

namespace {

const Stack& stack_of(const Training& t, const catalog::Accelerator& accelerator) {
    if (t.stack.empty()) return default_stack_of(accelerator);
    const Stack* s = find_stack(t.stack);
    return s != nullptr ? *s : default_stack_of(accelerator);
}

/// A stack without fused attention runs unfused kernels whatever the run asks for. Returns `asked`
/// or, if that has to change, `copy`.
const Training* with_stack_kernels(const Training* asked, const Stack& stack, Training& copy) {
    using workload::AttentionKernel;
    if (stack.attention == AttentionKernel::flash || asked->attention == AttentionKernel::unfused)
        return asked;
    copy = *asked;
    copy.attention = AttentionKernel::unfused;
    return &copy;
}

Seconds send_time(const Model& m, const Training& t, const Device& d, const Network& n) {
    const workload::Parallelism& p = t.parallel;
    if (p.pipeline == 1) return {};
    const double tokens = double(t.micro_batch) * t.sequence / p.context;
    // Scatter-gather: each TP rank sends its slice (arXiv 2104.04473, sec. 4.1).
    const Bytes size = tokens * m.hidden / p.tensor * d.element_bytes * kByte;
    const int stride = p.tensor * p.context * p.data;
    const bool inside = stride * 2 <= n.per_node;
    return point_to_point(n, inside ? Hop::inside_node : Hop::across_nodes, n.per_node, size);
}

/// The inputs of recomputed layers leave for host memory in forward and come back in backward, with
/// nothing to hide under: checkpointing copies are made in the compute stream.
Seconds host_copies(const Model& m, const Training& t, const Device& d) {
    if (!t.offload_layer_inputs || t.recompute != Recompute::full) return {};
    const workload::Parallelism& p = t.parallel;
    const double share = p.sequence_parallel ? 1.0 / p.tensor : 1.0;
    const double tokens = double(t.micro_batch) * t.sequence / p.context * t.micro_batches();
    const double layers = std::ceil(double(m.layers) / p.pipeline);
    const Bytes once = tokens * m.hidden * share * layers * d.element_bytes * kByte;
    return 2.0 * once / (d.constants->host_link_gb_per_s * kGBPerSecond);
}

void fill_compute(StepBreakdown& s, const StageCost& stage, double micro_batches,
                  const Costs& costs, bool has_head) {
    const PassCost head = has_head ? costs.edge.head_forward : PassCost{};
    const PassCost head_back = has_head ? costs.edge.head_backward : PassCost{};
    const Seconds head_compute = head.compute() + head_back.compute();
    PassCost sum = stage.forward;
    sum += stage.backward;
    s.head_loss = micro_batches * head_compute;
    s.gemm = micro_batches * (sum.gemm - head.gemm - head_back.gemm);
    s.attention = micro_batches * sum.attention;
    s.memory_bound =
        micro_batches * (sum.memory_bound - head.memory_bound - head_back.memory_bound);
    s.launch = micro_batches * stage.launch();
    s.recompute = micro_batches * stage.recompute.compute();
    sum += stage.recompute;
    s.tensor_comm = micro_batches * sum.tensor_comm;
    s.expert_comm = micro_batches * sum.expert_comm;
    s.context_comm = micro_batches * sum.context_comm;
}

Seconds sum_of(const StepBreakdown& s) {
    return s.gemm + s.attention + s.memory_bound + s.head_loss + s.recompute + s.launch +
           s.tensor_comm + s.expert_comm + s.context_comm + s.pipeline_comm + s.pipeline_bubble +
           s.data_comm + s.optimizer + s.straggler;
}

}  // namespace

Prediction Predictor::predict(const Training& asked) {
    State& st = *state_;
    const Stack& stack = stack_of(asked, *st.cluster.accelerator);
    Training copy;
    const Training& t = *with_stack_kernels(&asked, stack, copy);
    const workload::Parallelism& p = t.parallel;
    const GlobalConstants& c = st.constants->global;
    const Device& d = st.device(t.precision, stack);
    const Costs& costs = st.costs(t, stack, d);
    const int stages = p.pipeline;
    const int last = stages - 1;
    const double micro = std::max(1, t.micro_batches());

    PipelineInput in;
    in.stages = stages;
    in.chunks = p.virtual_stages;
    in.micro_batches = static_cast<int>(micro);
    in.first = stage_cost(costs, stage_layers(st.model, stages, 0), t.recompute, true, stages == 1);
    if (stages > 1)
        in.last = stage_cost(costs, stage_layers(st.model, stages, last), t.recompute, false, true);
    if (stages > 2) {
        const StageLayers layers = stage_layers(st.model, stages, middle_stage(st.model, stages));
        in.middle = stage_cost(costs, layers, t.recompute, false, false);
    }
    in.send = send_time(st.model, t, d, st.network);
    const PipelineTime pipe = pipeline_time(in, c, stack);

    Prediction r;
    StepBreakdown& s = r.step;
    fill_compute(s, pipe.busiest, micro, costs, pipe.last_is_busiest);
    s.recompute += host_copies(st.model, t, d);
    s.pipeline_bubble = pipe.bubble;
    s.pipeline_comm = pipe.comm;
    const double overhead_ms =
        stack.step_overhead_ms > 0 ? stack.step_overhead_ms : c.step_overhead_ms;
    s.launch += pipe.scheduler + overhead_ms * kMillisecond;

    const int heavy = pipe.last_is_busiest ? last : 0;
    DataParallelInput dp{
        stage_parameters(st.model, st.count, t, heavy), t, pipe.busiest.forward.total(),
        pipe.busiest.backward.total() + pipe.busiest.recompute.total(), static_cast<int>(micro)};
    const DataParallelTime data = data_parallel_time(dp, st.network, c, stack);
    s.data_comm = data.exposed + data.slowdown;
    const double local =
        dp.parameters.dense * dp.parameters.trainable_dense / optimizer_shards(p, false) +
        dp.parameters.expert * dp.parameters.trainable_expert / optimizer_shards(p, true);
    s.optimizer = optimizer_time(t.optimizer, local, d, stack);
    const double devices = p.devices();
    s.straggler = sum_of(s) * (c.straggler * std::sqrt(2 * std::log(std::max(1.0, devices))));
    s.total = sum_of(s);

    r.memory = memory_of(st.model, st.count, t, *st.cluster.accelerator, *st.constants, stack);
    const StepFlop flop = step_flop(st.model, t);
    r.model_flop = flop.causal;
    r.model_flop_full = flop.full;
    r.hardware_flop = flop.hardware;
    r.tokens_per_second = double(t.global_batch) * t.sequence * kToken / s.total;
    r.mfu = flop.full / s.total / (d.vendor_peak * devices);
    r.communication_share =
        (s.tensor_comm + s.expert_comm + s.context_comm + s.pipeline_comm + s.data_comm) / s.total;
    r.bubble_share = s.pipeline_bubble / s.total;
    return r;
}

MemoryBreakdown Predictor::memory(const Training& asked) {
    const catalog::Accelerator& accelerator = *state_->cluster.accelerator;
    const Stack& stack = stack_of(asked, accelerator);
    Training copy;
    const Training& t = *with_stack_kernels(&asked, stack, copy);
    return memory_of(state_->model, state_->count, t, accelerator, *state_->constants, stack);
}

Seconds Predictor::lower_bound(const Training& t) {
    const Device& d = state_->device(t.precision, stack_of(t, *state_->cluster.accelerator));
    const StepFlop flop = step_flop(state_->model, t);
    // 16-bit attention never beats the GEMM rate, so all FLOP at the GEMM rate is a bound; causal:
    // half the scores.
    const Flop least = std::min(flop.causal, flop.full);
    const FlopPerSecond rate = std::max(d.matmul_rate, d.attention_rate);
    return least / (rate * double(t.parallel.devices()));
}

}  // namespace trainyard::perf
