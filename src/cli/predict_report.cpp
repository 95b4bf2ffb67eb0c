#include "predict_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "trainyard/base/text.hpp"

namespace trainyard::cli {

namespace {

/// The same with the causal half of the scores only.
double mfu_causal(const perf::Prediction& p) {
    return p.model_flop_full > Flop{} ? p.mfu * (p.model_flop / p.model_flop_full) : p.mfu;
}

struct TimeTerm {
    std::string_view name, key;
    Seconds value;
};
std::vector<TimeTerm> time_terms(const perf::StepBreakdown& s) {
    return {{"matrix products", "gemm_s", s.gemm},
            {"attention", "attention_s", s.attention},
            {"memory-bound kernels", "memory_bound_s", s.memory_bound},
            {"logits and loss", "head_loss_s", s.head_loss},
            {"recompute", "recompute_s", s.recompute},
            {"host launch", "launch_s", s.launch},
            {"tensor-parallel traffic", "tensor_comm_s", s.tensor_comm},
            {"expert all-to-all", "expert_comm_s", s.expert_comm},
            {"context-parallel traffic", "context_comm_s", s.context_comm},
            {"pipeline sends", "pipeline_comm_s", s.pipeline_comm},
            {"pipeline bubble", "pipeline_bubble_s", s.pipeline_bubble},
            {"data-parallel traffic", "data_comm_s", s.data_comm},
            {"optimizer", "optimizer_s", s.optimizer},
            {"stragglers", "straggler_s", s.straggler}};
}

struct MemoryTerm {
    std::string_view name, key;
    Bytes value;
};
std::vector<MemoryTerm> memory_terms(const perf::MemoryBreakdown& m) {
    return {{"weights", "weights_bytes", m.weights},
            {"gradients", "gradients_bytes", m.gradients},
            {"optimizer states", "optimizer_bytes", m.optimizer},
            {"activations", "activations_bytes", m.activations},
            {"logits", "logits_bytes", m.logits},
            {"gathered weights", "gathered_bytes", m.gathered},
            {"workspace", "workspace_bytes", m.workspace},
            {"fragmentation", "fragmentation_bytes", m.fragmentation},
            {"runtime and NCCL", "runtime_bytes", m.runtime}};
}

std::string bar(double share) {
    const auto full = std::lround(std::min(share, 1.0) * 30);
    std::string out;
    for (long i = 0; i < full; ++i) out += "█";
    return out;
}

std::string mapping_words(const workload::Training& t) {
    const workload::Parallelism& p = t.parallel;
    std::string out = fmt::format("DP {}", p.data);
    if (p.tensor > 1) out += fmt::format(" × TP {}{}", p.tensor, p.sequence_parallel ? "+SP" : "");
    if (p.pipeline > 1) out += fmt::format(" × PP {}", p.pipeline);
    if (p.virtual_stages > 1) out += fmt::format(" (interleaved {})", p.virtual_stages);
    if (p.context > 1) out += fmt::format(" × CP {}", p.context);
    if (p.expert > 1) out += fmt::format(" × EP {}", p.expert);
    const std::string zero =
        p.zero == workload::Zero::none ? "no ZeRO" : std::string(workload::to_string(p.zero));
    return out + fmt::format(", {}, micro-batch {}, {} accumulation step{}, recompute {}", zero,
                             t.micro_batch, t.micro_batches(), t.micro_batches() == 1 ? "" : "s",
                             workload::to_string(t.recompute));
}

std::string time_table(const perf::StepBreakdown& s) {
    std::string out;
    for (const TimeTerm& term : time_terms(s)) {
        if (term.value <= Seconds{}) continue;
        const double share = term.value / s.total;
        out += fmt::format("  {:<26}{:>10}{:>9}  {}\n", term.name, format_duration(term.value),
                           format_percent(share), bar(share));
    }
    return out;
}

std::string memory_table(const perf::MemoryBreakdown& m) {
    std::string out;
    for (const MemoryTerm& term : memory_terms(m)) {
        if (term.value <= Bytes{}) continue;
        const double share = term.value / m.capacity;
        out += fmt::format("  {:<26}{:>10}{:>9}  {}\n", term.name, format_bytes(term.value),
                           format_percent(share), bar(share));
    }
    return out;
}

}  // namespace

namespace {

/// Rotary positions have no table, but the model saw none beyond its own length.
std::string long_sequence(const workload::Run& run) {
    const workload::Model& m = run.model;
    const bool beyond = m.max_positions > 0 && run.training.sequence > m.max_positions;
    if (!beyond || m.learned_positions || m.opaque_params) return {};
    return fmt::format(
        "a sequence of {} is longer than the {} positions of {}'s config: time and memory are "
        "right, but the model needs position scaling or training to use them",
        run.training.sequence, m.max_positions, m.name);
}

/// Both halves of the answer open with what was asked: a step time of something that does not fit
/// is no answer, so memory speaks first then.
std::string memory_text(const PredictReport& r, const Io& io) {
    const perf::MemoryBreakdown& m = r.prediction.memory;
    const std::string verdict = m.fits_with_headroom() ? io.paint(Tone::good, "fits")
                                : m.fits()             ? io.paint(Tone::warn, "fits only just")
                                                       : io.paint(Tone::bad, "does not fit");
    std::string out =
        fmt::format("Memory {} of {} per device: {}; the largest term is {}\n",
                    format_bytes(m.total), format_bytes(m.capacity), verdict, m.largest());
    return out + memory_table(m) + "\n";
}

/// Wider for models with experts and for everyday stacks.
perf::ErrorBand band_of(const PredictReport& r) {
    if (r.calibration != nullptr) return r.calibration->band;
    return perf::error_band(*r.cluster.accelerator, r.run.model, r.run.training.stack);
}

std::string time_text(const PredictReport& r, const Io& io) {
    const perf::Prediction& p = r.prediction;
    const perf::ErrorBand band = band_of(r);
    std::string out = fmt::format(
        "{}tep {} (80 % range {} to {}), {} tokens/s\n", p.memory.fits() ? "S" : "If it did, s",
        io.paint(Tone::bold, format_duration(p.step.total)),
        format_duration(p.step.total * band.low), format_duration(p.step.total * band.high),
        format_count(p.tokens_per_second / kTokensPerSecond));
    out += fmt::format("MFU {} (full score matrix counted, as Megatron and PaLM do{})\n",
                       format_percent(p.mfu),
                       r.run.model.causal ? "; causal half: " + format_percent(mfu_causal(p)) : "");
    out += fmt::format("Communication {} of the step, bubble {}\n",
                       format_percent(p.communication_share), format_percent(p.bubble_share));
    return out + time_table(p.step) + "\n";
}

}  // namespace

std::string predict_text(const PredictReport& r, const Io& io) {
    const perf::ErrorBand band = band_of(r);
    std::string out =
        io.paint(Tone::bold, fmt::format("{}{}{} on {} × {}\n", r.run.name,
                                         r.run.name.empty() ? "" : ": ", r.run.model.name,
                                         r.cluster.accelerators, r.cluster.accelerator->name));
    // As written: on Trainium1 the mapping counts cores, two a chip.
    const bool cores = r.run.training.parallel.devices() != r.training.parallel.devices();
    out += mapping_words(r.run.training) + (cores ? " (per core, two a chip)" : "") + "\n\n";
    out += r.prediction.memory.fits() ? time_text(r, io) + memory_text(r, io)
                                      : memory_text(r, io) + time_text(r, io);
    out += fmt::format("Range: {}. Model: docs/model/README.md; errors: docs/validation.md\n",
                       band.basis);
    if (r.calibration != nullptr)
        out += fmt::format("Corrected by your own runs: {:.3f} times our model\n",
                           r.calibration->factor);
    if (const std::string caution = long_sequence(r.run); !caution.empty())
        out += "Warning: " + caution + "\n";
    for (const std::string& a : r.run.model.assumptions) out += "Assumed: " + a + "\n";
    for (const std::string& a : r.run.assumptions) {
        const bool said = a.ends_with(" assumed");
        out += "Assumed: " + (said ? a.substr(0, a.size() - 8) : a) + "\n";
    }
    return out;
}

doc::Node predict_json(const PredictReport& r) {
    const perf::Prediction& p = r.prediction;
    const perf::ErrorBand band = band_of(r);
    doc::Node root = doc::Node::map();
    root.set("schema", "trainyard.prediction").set("schema_version", 1);
    if (!r.run.name.empty()) root.set("name", r.run.name);
    root.set("model", r.run.model.name).set("accelerator", r.cluster.accelerator->id);
    root.set("accelerators", r.cluster.accelerators);
    doc::Node step = doc::Node::map();
    step.set("total_s", p.step.total / kSecond);
    step.set("low_s", p.step.total * band.low / kSecond)
        .set("high_s", p.step.total * band.high / kSecond);
    for (const TimeTerm& term : time_terms(p.step))
        step.set(std::string(term.key), term.value / kSecond);
    if (r.calibration != nullptr) root.set("correction", r.calibration->factor);
    root.set("step", std::move(step));
    root.set("tokens_per_s", p.tokens_per_second / kTokensPerSecond)
        .set("mfu", p.mfu)
        .set("mfu_causal", mfu_causal(p));
    root.set("communication_share", p.communication_share).set("bubble_share", p.bubble_share);
    root.set("model_flop", p.model_flop / kFlop)
        .set("model_flop_full_scores", p.model_flop_full / kFlop);
    root.set("hardware_flop", p.hardware_flop / kFlop);
    doc::Node memory = doc::Node::map();
    memory.set("total_bytes", p.memory.total / kByte)
        .set("capacity_bytes", p.memory.capacity / kByte);
    memory.set("fits", p.memory.fits())
        .set("largest", p.memory.largest())
        .set("stage", p.memory.stage);
    for (const MemoryTerm& term : memory_terms(p.memory))
        memory.set(std::string(term.key), term.value / kByte);
    root.set("memory", std::move(memory));
    doc::Node provenance = doc::Node::map();
    provenance.set("range", band.basis)
        .set("accelerator_source", r.cluster.accelerator->provenance.source);
    provenance.set("accelerator_as_of", r.cluster.accelerator->provenance.as_of)
        .set("status", "modelled");
    root.set("provenance", std::move(provenance));
    doc::Node assumptions = doc::Node::list();
    for (const std::string& a : r.run.model.assumptions) assumptions.append(doc::Node::string(a));
    for (const std::string& a : r.run.assumptions) assumptions.append(doc::Node::string(a));
    root.set("assumptions", std::move(assumptions));
    if (const std::string caution = long_sequence(r.run); !caution.empty())
        root.set("warnings", doc::Node::list().append(doc::Node::string(caution)));
    return root;
}

}  // namespace trainyard::cli
