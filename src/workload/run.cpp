// run.yaml -> Run: one fixed configuration, for `predict`.

#include <algorithm>
#include <array>
#include <cmath>

#include "mistake.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/reader.hpp"
#include "trainyard/workload/job.hpp"
#include "values.hpp"

namespace trainyard::workload {
namespace {

using Diagnostics = std::vector<Diagnostic>;

constexpr int kMaxDegree = 1'000'000;
constexpr int kMaxSequence = 100'000'000;

int degree(doc::MapReader& r, const char* key, const char* other, int fallback) {
    const char* spelling = spelled(r, key, other);
    const auto v = r.optional_integer(spelling, {.min = 1, .max = kMaxDegree});
    return v ? static_cast<int>(*v) : fallback;
}

Parallelism read_parallel(const doc::Node& n, Diagnostics& diagnostics) {
    Parallelism p;
    p.data = 0;
    if (!n.is(doc::Node::Kind::map)) {
        diagnostics.push_back(
            mistake(n.where, "parallel: must be a map", "write {data: 8, tensor: 1, zero: 3}"));
        return p;
    }
    doc::MapReader r(n, diagnostics);
    p.data = degree(r, "data", "dp", 0);
    p.tensor = degree(r, "tensor", "tp", 1);
    p.pipeline = degree(r, "pipeline", "pp", 1);
    p.virtual_stages = degree(r, "virtual_stages", "vp", 1);
    p.context = degree(r, "context", "cp", 1);
    p.expert = degree(r, "expert", "ep", 1);
    p.expert_tensor = degree(r, "expert_tensor", "etp", 1);
    p.shard_group = degree(r, "shard_group", "shard", 0);
    p.sequence_parallel = read_yes_no(r, spelled(r, "sequence_parallel", "sp")).value_or(false);
    if (const doc::Node* zero = r.node("zero")) {
        const std::optional<Zero> parsed = parse_zero(zero->text());
        if (parsed) {
            p.zero = *parsed;
        } else {
            r.error("zero", "zero: \"" + zero->text() + "\" is no ZeRO stage",
                    "one of 0, 1, 2, 3, fsdp");
        }
    }
    r.finish(doc::UnknownKeys::error);
    return p;
}

void read_training(doc::MapReader& r, Run& run) {
    Training& t = run.training;
    const MethodChoice method = read_method(r);
    t.method = method.method;
    t.lora = method.lora;
    t.optimizer = read_optimizer(r).value_or(Optimizer::adamw_fp32);
    t.precision = read_precision(r).value_or(catalog::Precision::bf16);
    if (const auto text = r.optional_choice("recompute", {"none", "selective", "full"})) {
        t.recompute = parse_recompute(*text).value_or(Recompute::none);
    }
    if (const auto text = r.optional_choice("attention", {"flash", "unfused"})) {
        t.attention = *text == "flash" ? AttentionKernel::flash : AttentionKernel::unfused;
    }
    t.sequence =
        static_cast<int>(r.integer(spelled(r, "sequence", "seq"), {.min = 1, .max = kMaxSequence}));
    t.micro_batch = degree(r, "micro_batch", "mbs", 1);
    t.kv_replication = read_yes_no(r, "kv_replication").value_or(false);
    t.stack = r.optional_string("stack").value_or("");
    t.global_batch = 0;
    if (const auto batch = read_batch(r, spelled(r, "global_batch", "gbs"))) {
        run.global_batch_tokens = batch->tokens;
        if (batch->sequences) {
            if (*batch->sequences > 1e9 || *batch->sequences != std::floor(*batch->sequences)) {
                r.error("global_batch", "must be a whole number of sequences, at most a billion",
                        "write for example 1024, or in tokens: 4M tokens");
            } else {
                t.global_batch = static_cast<int>(*batch->sequences);
            }
        }
    }
}

void read_machine(doc::MapReader& r, Run& run) {
    run.instance = r.optional_string("instance").value_or("");
    run.accelerator = r.optional_string("accelerator").value_or("");
    run.accelerators = degree(r, "accelerators", "devices", 0);
    run.accelerators_per_node = degree(r, "accelerators_per_node", "per_node", 8);
    run.nodes = degree(r, "nodes", "node_count", 0);
    run.inter_node_gbit_per_s =
        r.optional_number("inter_node_gbit_per_s", {.min = 0.001, .max = 1e6});
    if (!run.instance.empty() && !run.accelerator.empty()) {
        r.error("accelerator", "instance and accelerator are both given",
                "keep one: an EC2 type, or an accelerator");
    } else if (run.instance.empty() && run.accelerator.empty()) {
        r.error("instance", "nothing says where it runs",
                "add instance: p4d.24xlarge, or accelerator: A100-80");
    } else if (run.instance.empty() && run.accelerators == 0) {
        r.error("accelerators", "accelerators is missing", "add how many: accelerators: 16");
    } else if (!run.instance.empty() && run.nodes == 0 && run.accelerators == 0) {
        run.nodes = 1;
        run.assumptions.emplace_back("one node assumed");
    }
}

constexpr std::array<std::array<std::string_view, 2>, 22> kSpellings = {{
    {"sequence", "seq"},
    {"micro_batch", "mbs"},
    {"global_batch", "gbs"},
    {"precision", "dtype"},
    {"method", ""},
    {"lora_rank", ""},
    {"stack", ""},
    {"instance", ""},
    {"nodes", "node_count"},
    {"accelerator", ""},
    {"accelerators", "devices"},
    {"accelerators_per_node", "per_node"},
    {"data", "dp"},
    {"tensor", "tp"},
    {"pipeline", "pp"},
    {"virtual_stages", "vp"},
    {"context", "cp"},
    {"expert", "ep"},
    {"expert_tensor", "etp"},
    {"sequence_parallel", "sp"},
    {"zero", ""},
    {"shard_group", "shard"},
}};

void note_places(const doc::Node& map, Run& run) {
    for (const auto& [key, other] : kSpellings) {
        const doc::Node* n = map.find(key);
        if (n == nullptr && !other.empty()) n = map.find(other);
        if (n != nullptr) run.places.emplace(key, n->where);
    }
}

/// The setting to change when a law is broken.
const Location& place_of_law(const Run& run, std::string_view rule) {
    if (rule == "batch") return run.place({"global_batch", "micro_batch", "data"});
    if (rule.starts_with("tp-")) return run.place({"tensor"});
    if (rule.starts_with("sp-")) return run.place({"sequence_parallel", "tensor"});
    if (rule.starts_with("pp-")) return run.place({"pipeline"});
    if (rule.starts_with("vp-")) return run.place({"virtual_stages", "pipeline"});
    if (rule == "cp-sequence") return run.place({"context", "sequence"});
    if (rule == "etp-ffn") return run.place({"expert_tensor"});
    if (rule.starts_with("ep-")) return run.place({"expert", "expert_tensor"});
    if (rule == "shard-group") return run.place({"shard_group"});
    if (rule == "zero-pp") return run.place({"zero", "pipeline"});
    if (rule == "positions") return run.place({"sequence"});
    if (rule == "lora-rank") return run.place({"lora_rank", "method"});
    return run.where;
}

std::optional<Diagnostic> set_devices(Run& run, int accelerators_per_node, int devices_per_chip) {
    run.accelerators_per_node = accelerators_per_node;
    const std::int64_t in_nodes = std::int64_t{run.nodes} * accelerators_per_node;
    if (in_nodes > kMaxDegree)
        return mistake(run.place({"nodes"}), "more than a million accelerators", "use fewer nodes");
    if (run.accelerators == 0) run.accelerators = static_cast<int>(in_nodes);
    if (run.nodes > 0 && run.accelerators != in_nodes) {
        return mistake(run.place({"accelerators", "nodes"}),
                       std::to_string(run.nodes) + " nodes of " +
                           std::to_string(accelerators_per_node) + " accelerators are not " +
                           std::to_string(run.accelerators) + " accelerators",
                       "keep nodes or accelerators, not both");
    }
    Parallelism& p = run.training.parallel;
    const std::int64_t devices = std::int64_t{run.accelerators} * devices_per_chip;
    const std::int64_t model_ranks = std::int64_t{p.tensor} * p.pipeline * p.context;
    if (devices == 0)
        return mistake(run.where, "the run has no devices", "give nodes or accelerators");
    if (p.data == 0 && devices % model_ranks == 0) p.data = static_cast<int>(devices / model_ranks);
    if (model_ranks > devices || model_ranks * p.data != devices) {
        return mistake(
            run.place({"data", "tensor", "pipeline", "context"}),
            "TP " + std::to_string(p.tensor) + " x PP " + std::to_string(p.pipeline) + " x CP " +
                std::to_string(p.context) + " x DP " +
                (p.data == 0 ? "?" : std::to_string(p.data)) + " is not " +
                std::to_string(devices) + " devices",
            devices % model_ranks == 0
                ? "use DP " + std::to_string(devices / model_ranks) + ", or leave data out"
                : "choose degrees whose product divides the device count");
    }
    return std::nullopt;
}

std::optional<Diagnostic> set_global_batch(Run& run) {
    Training& t = run.training;
    if (run.global_batch_tokens) {
        const double sequences = *run.global_batch_tokens / t.sequence;
        const std::int64_t pass = std::int64_t{t.micro_batch} * t.parallel.data;
        const auto steps =
            static_cast<std::int64_t>(std::llround(sequences / static_cast<double>(pass)));
        if (steps < 1 || steps * pass > 2'000'000'000) {
            return mistake(
                run.place({"global_batch"}),
                "a global batch of " + format_count(*run.global_batch_tokens) +
                    " tokens is less than one pass: " + std::to_string(pass) + " sequences of " +
                    std::to_string(t.sequence),
                "use a larger global batch, a smaller micro-batch or less data parallelism");
        }
        t.global_batch = static_cast<int>(steps * pass);
        run.assumptions.push_back("global batch " + std::to_string(t.global_batch) +
                                  " sequences: the nearest to " +
                                  format_count(*run.global_batch_tokens) + " tokens");
    } else if (t.global_batch == 0) {
        const std::int64_t pass = std::int64_t{t.micro_batch} * t.parallel.data;
        if (pass > 2'000'000'000)
            return mistake(run.place({"micro_batch"}), "micro-batch x DP is out of range",
                           "use smaller numbers");
        t.global_batch = static_cast<int>(pass);
        run.assumptions.push_back("global batch " + std::to_string(t.global_batch) +
                                  " assumed: micro-batch x DP, no accumulation");
    }
    return std::nullopt;
}

}  // namespace

const Location& Run::place(std::initializer_list<std::string_view> keys) const {
    for (const std::string_view key : keys) {
        const auto found = places.find(key);
        if (found != places.end()) return found->second;
    }
    return where;
}

Result<Run> read_run(const doc::Node& root, const ConfigResolver& resolve) {
    if (!root.is(doc::Node::Kind::map)) {
        return bad_input(mistake(root.where, "a run must be a map of settings",
                                 "write model, sequence, micro_batch, parallel and instance"));
    }
    Diagnostics diagnostics;
    doc::MapReader r(root, diagnostics);
    Run run;
    ErrorKind kind = ErrorKind::bad_input;
    run.where = root.where;
    note_places(root, run);
    run.name = r.optional_string("name").value_or("");
    if (const doc::Node* n = r.node("model")) {
        Result<Model> m = read_model_reference(*n, resolve);
        if (m) {
            run.model = std::move(*m);
        } else {
            diagnostics.insert(diagnostics.end(), m.error().diagnostics.begin(),
                               m.error().diagnostics.end());
            kind = m.error().kind;
        }
    } else {
        r.error("model", "model is missing",
                "add model: a name, {config: path}, {params: 13B} or a shape");
    }
    read_training(r, run);
    if (auto wrong = quantised_precision_mistake(run.training.method, run.training.precision,
                                                 place_of_precision(root)))
        diagnostics.push_back(std::move(*wrong));
    run.training.parallel.data = 0;
    if (const doc::Node* n = r.node("parallel")) {
        run.where = n->where;
        note_places(*n, run);
        run.training.parallel = read_parallel(*n, diagnostics);
    }
    read_machine(r, run);
    r.finish(doc::UnknownKeys::error);
    // A file that is not there is the world's fault only if nothing else is wrong.
    if (diagnostics.size() == 1) return Error{kind, std::move(diagnostics)};
    if (!diagnostics.empty()) return bad_input(std::move(diagnostics));
    return run;
}

Result<Run> complete_run(Run run, int accelerators_per_node, int devices_per_chip) {
    if (auto d = set_devices(run, accelerators_per_node, devices_per_chip))
        return bad_input(std::move(*d));
    if (auto d = set_global_batch(run)) return bad_input(std::move(*d));
    Diagnostics diagnostics;
    for (const Violation& v : check_mapping(run.model, run.training)) {
        diagnostics.push_back(mistake(place_of_law(run, v.rule), v.what, v.fix, "rule " + v.rule));
    }
    if (!diagnostics.empty()) return bad_input(std::move(diagnostics));
    return run;
}

}  // namespace trainyard::workload
