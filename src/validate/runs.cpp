// Reads the runs CSV. A row becomes a model shape, a mapping, a cluster and a measured step time;
// every value that the source leaves out is filled by a stated rule and recorded as an assumption.

#include "trainyard/validate/runs.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "row.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/perf/stack.hpp"

namespace trainyard::validate {

using workload::Model;
using workload::Training;
using workload::Zero;

std::string_view to_string(Quantity q) {
    switch (q) {
        case Quantity::step_time:
            return "step time";
        case Quantity::tokens_per_second:
            return "tokens/s";
        case Quantity::tflops:
            return "TFLOP/s";
        case Quantity::mfu:
            return "MFU";
    }
    return "";
}

namespace {

struct Skip {
    std::string why;
};

std::string group_of(std::string_view notes) {
    const auto at = notes.find("GROUP:");
    if (at == std::string_view::npos) return {};
    const auto rest = notes.substr(at + 6);
    return std::string(rest.substr(0, rest.find(';')));
}

bool contains(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
}

workload::Method method_of(const Row& r) {
    const std::string name = to_lower(r.text("model_name"));
    if (contains(name, "q-lora") || contains(name, "qlora")) return workload::Method::qlora;
    if (contains(name, "lora")) return workload::Method::lora;
    if (contains(name, "fine-tune") || contains(name, "full-parameter") || contains(name, "sft")) {
        return workload::Method::full_finetune;
    }
    return workload::Method::pretrain;
}

std::optional<catalog::Precision> precision_of(std::string_view text) {
    const std::string p = to_lower(text);
    if (contains(p, "fp4")) return catalog::Precision::fp4;
    if (contains(p, "fp8")) return catalog::Precision::fp8;
    if (contains(p, "bf16")) return catalog::Precision::bf16;
    if (contains(p, "fp16")) return catalog::Precision::fp16;
    if (contains(p, "tf32")) return catalog::Precision::tf32;
    if (contains(p, "fp32")) return catalog::Precision::fp32;
    return std::nullopt;
}

Zero zero_of(std::string_view text, const perf::Stack& stack, Observation& o) {
    const std::string z = to_lower(text);
    if (contains(z, "grad_op") || contains(z, "zero-2")) return Zero::gradients;
    if (contains(z, "full") || contains(z, "zero-3") || contains(z, "fsdp")) return Zero::weights;
    if (contains(z, "zero-1")) return Zero::optimizer;
    if (contains(z, "zero-0")) return Zero::none;
    if (stack.distributed_optimizer) {
        o.assumptions.push_back("optimizer states sharded over DP (the stack's default)");
        return Zero::optimizer;
    }
    return Zero::none;
}

int shard_group_of(std::string_view text) {
    const auto at = text.find("shard=");
    if (at == std::string_view::npos) return 0;
    const auto digits = text.substr(at + 6, text.substr(at + 6).find_first_not_of("0123456789"));
    return static_cast<int>(parse_number(digits).value_or(0));
}

std::optional<std::string> read_mapping(const Row& r, const perf::Stack& stack, Observation& o) {
    Training& t = o.training;
    workload::Parallelism& p = t.parallel;
    p.tensor = r.count("tp").value_or(1);
    p.pipeline = r.count("pp").value_or(1);
    p.context = r.count("cp").value_or(1);
    p.expert = r.count("ep").value_or(1);
    p.virtual_stages = p.pipeline > 1 ? r.count("vp").value_or(1) : 1;
    const int devices = r.count("n_accel").value_or(0);
    if (devices < 1) return "the number of accelerators is not stated";
    const double ranks = double(p.tensor) * p.pipeline * p.context * r.count("dp").value_or(1);
    if (ranks > 1e8) return "tp x pp x dp x cp is larger than any cluster";
    const int model_parallel = p.tensor * p.pipeline * p.context;
    if (const auto dp = r.count("dp")) {
        p.data = *dp;
    } else {
        if (devices % model_parallel != 0) return "tp x pp x cp does not divide the accelerators";
        p.data = devices / model_parallel;
    }
    p.zero = zero_of(r.text("zero_stage_or_fsdp"), stack, o);
    if (p.data * p.context == 1) p.zero = Zero::none;
    p.shard_group = shard_group_of(r.text("zero_stage_or_fsdp"));
    t.sequence = r.count("seq_len").value_or(0);
    t.global_batch = r.count("global_batch_seqs").value_or(0);
    t.micro_batch = r.count("micro_batch").value_or(0);
    if (t.sequence < 1) return "the sequence length is not stated";
    if (t.global_batch < 1) return "the global batch is not stated";
    if (contains(o.accelerator, "Trn")) t = perf::merge_neuron_cores(t, devices);
    if (p.devices() != devices) {
        return "tp x pp x dp x cp = " + std::to_string(p.devices()) + " is not " +
               std::to_string(devices);
    }
    if (t.micro_batch < 1) return "the micro-batch is not stated";
    if (p.pipeline > 1 && contains(r.text("notes"), "local batch (LBS) put in micro_batch")) {
        // torchtitan splits the local batch into pipeline micro-batches of one sequence by default.
        t.micro_batch = 1;
    }
    t.micro_batch = std::min(t.micro_batch, std::max(1, t.global_batch / p.data));
    const auto sp = r.text("sequence_parallel");
    p.sequence_parallel = p.tensor > 1 && (sp.empty() ? stack.sequence_parallel : sp == "1");
    return std::nullopt;
}

void read_recompute(const Row& r, Observation& o) {
    if (const auto mode = workload::parse_recompute(r.text("recompute"))) {
        o.training.recompute = *mode;
        return;
    }
    o.recompute_unknown = true;
    o.assumptions.push_back("recompute is not stated: the lightest mode that fits in memory");
}

std::optional<std::string> read_cluster(const Row& r, const catalog::Catalog& catalog,
                                        Observation& o) {
    const catalog::Accelerator* a = catalog.accelerator(o.accelerator);
    if (a == nullptr) return "accelerator \"" + o.accelerator + "\" is not in the catalog";
    if (!a->peak_for(catalog::Precision::bf16) && !a->peak_for(catalog::Precision::fp16)) {
        return "no published 16-bit peak for " + o.accelerator;
    }
    perf::Cluster& c = o.cluster;
    c.accelerator = a;
    c.accelerators = r.count("n_accel").value_or(1);
    c.accelerators_per_node = std::min(c.accelerators, r.count("accel_per_node").value_or(8));
    const std::string intra = to_lower(r.text("intra_node"));
    c.intra_link = a->link;
    c.intra_bandwidth = a->link_bandwidth.value_or(24 * kGBPerSecond);
    if (contains(intra, "nvl72")) c.accelerators_per_node = std::min(c.accelerators, 72);
    if (contains(intra, "pcie")) c.intra_bandwidth = 24 * kGBPerSecond;
    if (c.nodes() <= 1) return std::nullopt;
    c.inter.fabric = contains(o.accelerator, "Trn") ? perf::Fabric::efa : perf::Fabric::infiniband;
    if (contains(r.text("notes"), "Omni-Path")) c.inter.fabric = perf::Fabric::omni_path;
    if (const auto gbps = r.number("inter_node_gbps_per_node")) {
        c.inter.per_node = *gbps * kGbitPerSecond;
        return std::nullopt;
    }
    // Reference designs: one 400 Gbit/s port per Hopper or Blackwell GPU, one 200 Gbit/s port per
    // A100 (DGX SuperPOD).
    const double each = contains(a->architecture, "Ampere")  ? 200
                        : contains(a->architecture, "Volta") ? 50
                                                             : 400;
    c.inter.per_node = each * c.accelerators_per_node * kGbitPerSecond;
    o.assumptions.push_back("network not stated: the vendor's reference design");
    return std::nullopt;
}

/// Step time as measured, or from throughput, or from TFLOP/s by the source's own counting.
void read_measurement(const Row& r, Observation& o) {
    const double devices = r.number("n_accel").value_or(1);
    const double tokens = double(o.training.global_batch) * o.training.sequence;
    if (const auto step = r.number("measured_step_s")) {
        o.step = *step * kSecond;
        const bool derived =
            contains(r.text("notes"), "DERIVED:step_s") || contains(r.text("notes"), "step_s=");
        o.quantity = derived ? Quantity::tokens_per_second : Quantity::step_time;
        return;
    }
    if (const auto rate = r.number("measured_tokens_per_s_per_accel")) {
        o.step = tokens / (*rate * devices) * kSecond;
        o.quantity = Quantity::tokens_per_second;
        return;
    }
    const perf::Prediction p = perf::Predictor(o.model, o.cluster).predict(o.training);
    const bool hardware =
        contains(r.text("notes"), "HWFLOPS") || contains(r.text("notes"), "hardware FLOPs");
    const Flop counted = hardware ? p.hardware_flop : p.model_flop_full;
    if (const auto tflops = r.number("measured_tflops_per_accel")) {
        o.step = counted / (*tflops * devices * kTFlopPerSecond);
        o.quantity = Quantity::tflops;
        return;
    }
    if (const auto mfu = r.number("measured_mfu")) {
        const auto peak = o.cluster.accelerator->peak_for(catalog::Precision::bf16);
        if (!peak) return;
        o.step = p.model_flop_full / (*mfu * devices * *peak);
        o.quantity = Quantity::mfu;
    }
}

std::string describe_mapping(const workload::Parallelism& p) {
    if (p.expert > 1) return "expert";
    if (p.context > 1) return "context";
    if (p.pipeline > 1 && p.tensor > 1) return "tensor+pipeline";
    if (p.pipeline > 1) return "pipeline";
    if (p.tensor > 1) return "tensor";
    if (p.zero == Zero::weights) return "FSDP / ZeRO-3";
    if (p.data > 1) return "data";
    return "one device";
}

/// Packed short documents attend within their own bounds. SQuAD: about 200 tokens with question and
/// answer (Rajpurkar et al., arXiv 1606.05250: paragraphs of some 120 words), mean reach half of
/// it.
void restrict_attention(Observation& o) {
    o.model.sliding_window = 100;
    o.model.sliding_layers = o.model.layers;
    o.assumptions.push_back(
        "packed documents of about 200 tokens: attention reaches 100 on average");
}

Observation read_row(const Row& r, const catalog::Catalog& catalog) {
    Observation o;
    o.id = printable(r.text("id"), 200);
    o.source = printable(r.text("source_title"), 200);
    o.accelerator = printable(r.text("accelerator"), 200);
    o.framework = printable(r.text("framework"), 200);
    o.model_name = printable(r.text("model_name"), 200);
    o.tier = r.text("tier");
    o.stack = r.text("stack");
    o.group = group_of(r.text("notes"));
    if (o.group.empty()) o.group = o.id;
    o.ran_out_of_memory = contains(r.text("notes"), "OUTCOME:OOM");
    if (const auto gb = r.number("measured_peak_mem_gb")) {
        // Sums over a node are printed by some sources; they are not one device's peak.
        const bool binary = contains(r.text("notes"), "reserved GiB");
        if (!contains(r.text("notes"), "MEM_PRINTED")) o.memory = *gb * (binary ? kGiB : kGB);
    }
    const auto skip = [&o](std::string why) {
        o.skipped = std::move(why);
        return o;
    };
    auto model = model_of_row(r, o.assumptions);
    if (!model) return skip(model.error());
    o.model = *model;
    if (contains(r.text("notes"), "packed SQuAD")) restrict_attention(o);
    const perf::Stack* stack = perf::stack_of_framework(o.framework);
    if (stack == nullptr) return skip("software stack \"" + o.framework + "\" has no profile");
    if (stack->name == "megatron-bridge" && contains(o.model_name, "tokendrop")) {
        stack = perf::find_stack("megatron-bridge-drop");
    }
    o.training.stack = stack->name;
    o.training.attention = stack->attention;
    if (contains(r.text("notes"), "flash-attn"))
        o.training.attention = workload::AttentionKernel::flash;
    o.training.method = method_of(r);
    if (o.training.method == workload::Method::lora ||
        o.training.method == workload::Method::qlora) {
        o.training.optimizer =
            workload::Optimizer::adamw_bf16;  // PEFT updates adapters in the base model's dtype
        o.training.lora =
            workload::Lora{.rank = 16, .train_embeddings = contains(o.model_name, "(emb)")};
    }
    if (contains(r.text("notes"), "8-bit Adam"))
        o.training.optimizer = workload::Optimizer::adamw_8bit;
    if (stack->name == "pytorch-fsdp") o.training.optimizer = workload::Optimizer::adamw_bf16;
    const auto precision = precision_of(r.text("precision"));
    if (!precision) return skip("the precision is not stated");
    o.training.precision = *precision;
    if (auto why = read_mapping(r, *stack, o)) return skip(*why);
    if (auto why = read_cluster(r, catalog, o)) return skip(*why);
    read_recompute(r, o);
    o.mapping = describe_mapping(o.training.parallel);
    read_measurement(r, o);
    return o;
}

/// A row that is there twice would count twice in every error. At most twenty are listed.
std::vector<Diagnostic> repeated_ids(const doc::CsvTable& table) {
    constexpr std::size_t kMost = 20;
    std::map<std::string_view, int, std::less<>> lines;
    std::vector<Diagnostic> repeated;
    for (std::size_t i = 0; i < table.size() && repeated.size() < kMost; ++i) {
        const std::string_view id = table.cell(i, "id");
        if (id.empty()) continue;
        const auto [first, fresh] = lines.emplace(id, table.line(i));
        if (fresh) continue;
        repeated.push_back({Severity::error, table.place(i, "id"),
                            "the run \"" + printable(id, 200) + "\" is listed twice",
                            "first on line " + std::to_string(first->second) +
                                "; it would count twice in every error",
                            "drop one row, or give it another id"});
    }
    return repeated;
}

}  // namespace

Result<std::vector<Observation>> read_runs(const doc::CsvTable& table,
                                           const catalog::Catalog& catalog) {
    for (const char* column :
         {"id", "layers", "hidden", "heads", "seq_len", "accelerator", "n_accel", "framework"}) {
        if (!table.has(column)) {
            return bad_input({Severity::error,
                              {table.file(), 1, 0},
                              std::string("the column \"") + column + "\" is missing",
                              "",
                              "see docs/reference/runs-csv.md for the columns"});
        }
    }
    if (auto repeated = repeated_ids(table); !repeated.empty())
        return bad_input(std::move(repeated));
    std::vector<Observation> runs;
    runs.reserve(table.size());
    for (std::size_t i = 0; i < table.size(); ++i) runs.push_back(read_row(Row(table, i), catalog));
    return runs;
}

}  // namespace trainyard::validate
