#include "facts_state.hpp"

#include <algorithm>

#include "trainyard/base/text.hpp"
#include "trainyard/perf/stack.hpp"
#include "words.hpp"

namespace trainyard::plan {
namespace {

using workload::Method;

/// 4-bit weights with their block scales (arXiv 2305.14314, section 3: 4.127 bit with double
/// quantisation; embeddings, head and norms stay in 16 bit).
constexpr double kQuantisedBytes = 0.55;

bool has_adapters(const workload::Job& job) {
    return job.method == Method::lora || job.method == Method::qlora;
}

/// Parameters that a checkpoint's final weights count at two bytes each.
double trained_params(const Option& o) { return o.offer.needs.final_weights / kByte / 2; }

/// Parameters on one rank by the group that reduces them.
struct Held {
    double dense = 0;   ///< replicated over all data-parallel ranks
    double expert = 0;  ///< replicated over the ranks that hold the same experts
};
Held held(const Context& x, const Candidate& c, double trained) {
    const workload::Parallelism& p = c.training.parallel;
    const double split = static_cast<double>(p.tensor) * p.pipeline;
    const workload::Model& m = x.request.job.model;
    if (!m.moe || p.expert <= 1 || x.work.params <= 0) return {trained / split, 0};
    const double experts = static_cast<double>(workload::count_parameters(m).routed_expert) *
                           m.moe->experts * m.moe_layers();
    const double share = std::min(1.0, experts / x.work.params);
    // Expert weights: EP x expert TP ranks hold different ones, in every pipeline stage.
    return {trained * (1 - share) / split,
            trained * share / (static_cast<double>(p.expert) * p.expert_tensor * p.pipeline)};
}

const perf::Stack& stack_of(const Candidate& c) {
    const perf::Stack* asked = perf::find_stack(c.training.stack);
    return c.training.stack.empty() || !asked ? perf::default_stack_of(*c.accelerator) : *asked;
}

/// Of a gradient that ranks exchange.
double gradient_bytes(const Candidate& c) { return stack_of(c).gradient_bytes; }

/// Of a gradient in memory (docs/model/memory.md): at least as wide as the weight.
double held_gradient_bytes(const Candidate& c) {
    using catalog::Precision;
    const Precision p = c.training.precision;
    const perf::Stack& stack = stack_of(c);
    const double weight = p == Precision::fp32 || p == Precision::tf32 ? 4 : 2;
    const double extra = p == Precision::bf16 ? stack.bf16_gradient_extra_bytes : 0;
    return std::max<double>(stack.gradient_bytes, weight) + extra;
}

/// (r - 1) / r of both groups' buffers.
Bytes ring(const Held& h, double ranks, double expert_ranks, double each) {
    const double dense = (ranks - 1) / ranks * h.dense;
    const double expert = expert_ranks > 1 ? (expert_ranks - 1) / expert_ranks * h.expert : 0;
    return (dense + expert) * each * kByte;
}

}  // namespace

TrainingState training_state(const Context& x, const Option& o) {
    TrainingState s;
    const double trained = trained_params(o);
    // A checkpoint holds everything but the gradients.
    if (trained > 0) {
        s.bytes_per_trained =
            o.offer.needs.checkpoint / kByte / trained + held_gradient_bytes(o.candidate);
    }
    if (has_adapters(x.request.job)) {
        const bool quantised = x.request.job.method == Method::qlora;
        s.frozen = (quantised ? kQuantisedBytes : 2.0) * x.work.params * kByte;
    }
    s.trained = s.bytes_per_trained * trained * kByte;
    if (held_gradient_bytes(o.candidate) > 2)
        s.wide_gradients = (held_gradient_bytes(o.candidate) - 2) * trained * kByte;
    return s;
}

std::string state_words(const TrainingState& state) {
    std::string all = gb(state.total());
    if (state.frozen > Bytes{}) return all;
    const std::string each = format_fixed(state.bytes_per_trained, 0) + " B/parameter";
    if (state.wide_gradients <= Bytes{}) return all + " (" + each + ")";
    const double usual = state.bytes_per_trained * (1 - state.wide_gradients / state.trained);
    return all + " (" + gb(state.trained - state.wide_gradients) + " at the usual " +
           format_fixed(usual, 0) + " B/parameter and " + gb(state.wide_gradients) +
           " for gradients in fp32)";
}

double mfu_causal(const perf::Prediction& p) {
    return p.model_flop_full > Flop{} ? p.mfu * (p.model_flop / p.model_flop_full) : p.mfu;
}

std::string traffic_fact(const Context& x, const Option& o) {
    const Candidate& c = o.candidate;
    const workload::Parallelism& p = c.training.parallel;
    const double ranks = static_cast<double>(p.data) * p.context;
    const double expert_ranks =
        ranks * p.tensor / (static_cast<double>(p.expert) * p.expert_tensor);
    const Held moved = held(x, c, trained_params(o));
    const std::string what =
        has_adapters(x.request.job) ? " of adapter gradients" : " of gradients";
    const Bytes once = ring(moved, ranks, expert_ranks, gradient_bytes(c));
    std::string s = format_fixed(ranks, 0) + " data-parallel ranks, each ";
    if (p.zero == workload::Zero::weights && p.pipeline == 1) {
        const Bytes weights = ring(held(x, c, x.work.params), ranks, expert_ranks, 2);
        s += "gathers " + gb(weights) + " of weights twice per micro-batch and reduces " +
             gb(once) + what;
    } else {
        s += "moves " + gb(2 * once) + what + " per step";
    }
    if (moved.expert > 0) {
        s += " (experts only among the " + format_fixed(expert_ranks, 0) +
             " ranks that hold the same ones)";
    }
    const double exposed = c.prediction.step.data_comm / c.prediction.step.total;
    return s + "; " + percent(exposed) + " of the step is not hidden behind compute";
}

std::string one_device_fact(const Context& x, const Option& o) {
    const Candidate& c = o.candidate;
    const Bytes weights = 2 * x.work.params * kByte;
    const Bytes capacity = c.prediction.memory.capacity;
    const TrainingState state = training_state(x, o);
    if (has_adapters(x.request.job) || weights > capacity || state.total() <= capacity) return {};
    return "weights (" + gb(weights) + ") fit one " + device_name(*c.accelerator) + " (" +
           format_fixed(capacity / kGiB, 0) +
           " GiB usable) for inference or LoRA; training state is " + state_words(state) +
           " before activations: it does not";
}

}  // namespace trainyard::plan
