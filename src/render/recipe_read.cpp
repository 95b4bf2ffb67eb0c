// A plan.json as a recipe. Every mistake is a diagnostic at its place.

#include <fmt/format.h>

#include <algorithm>

#include "trainyard/base/text.hpp"
#include "trainyard/doc/reader.hpp"
#include "trainyard/render/directory.hpp"
#include "trainyard/render/recipe.hpp"

namespace trainyard::render {

namespace {

using catalog::Status;
using doc::MapReader;
using doc::Node;
using Mistakes = std::vector<Diagnostic>;

/// Up to an exabyte, 30 billion years: whatever is counted later fits 64 bits.
constexpr doc::NumberRange kNotNegative{.min = 0, .max = 1e18};
constexpr doc::IntegerRange kDegree{.min = 1, .max = 1 << 20};
constexpr doc::IntegerRange kSize{.min = 0, .max = 1 << 30};
constexpr std::size_t kLongestName = 200;
constexpr std::size_t kMostItems = 40;

Diagnostic mistake(const Node& at, std::string what, std::string why = {}, std::string fix = {}) {
    return {
        .where = at.where, .what = std::move(what), .why = std::move(why), .fix = std::move(fix)};
}

/// The map behind a key, or an empty one and a diagnostic.
const Node& map_of(const Node& parent, std::string_view key, Mistakes& out) {
    static const Node kEmpty = Node::map();
    const Node* n = parent.find(key);
    if (n != nullptr && n->is(Node::Kind::map)) return *n;
    out.push_back(mistake(n == nullptr ? parent : *n, std::string(key) + " is not a map",
                          "a plan holds one", "write the plan again: trainyard plan … --json"));
    return kEmpty;
}

double number(MapReader& r, std::string_view key, Mistakes& out, const Node& at) {
    if (!r.has(key)) out.push_back(mistake(at, std::string(key) + " is missing"));
    return r.optional_number(key, kNotNegative).value_or(0);
}

int degree(MapReader& r, std::string_view key) { return static_cast<int>(r.integer(key, kDegree)); }
int degree_or(MapReader& r, std::string_view key, int otherwise) {
    return static_cast<int>(r.optional_integer(key, kDegree).value_or(otherwise));
}
int size_or(MapReader& r, std::string_view key, int otherwise = 0) {
    return static_cast<int>(r.optional_integer(key, kSize).value_or(otherwise));
}
bool flag(MapReader& r, std::string_view key) { return r.optional_boolean(key).value_or(false); }

/// A word that one of our own parsers knows.
template <typename T, typename Parse>
T word(MapReader& r, const char* key, Parse parse, T otherwise) {
    const std::string s = r.string(key);
    if (s.empty()) return otherwise;
    const std::optional<T> value = parse(std::string_view(s));
    if (!value) r.error(key, std::string(key) + ": \"" + printable(s, 60) + "\" is unknown");
    return value.value_or(otherwise);
}

workload::Model read_model(const Node& node, Mistakes& out) {
    MapReader r(node, out);
    workload::Model m;
    m.name = r.string("name");
    m.family = r.optional_string("family").value_or("");
    m.layers = size_or(r, "layers");
    m.hidden = size_or(r, "hidden");
    m.heads = size_or(r, "heads");
    m.kv_heads = size_or(r, "kv_heads", m.heads);
    m.head_dim = size_or(r, "head_dim");
    m.ffn_hidden = size_or(r, "ffn");
    m.vocab = size_or(r, "vocab");
    m.max_positions = size_or(r, "max_positions");
    m.causal = r.optional_boolean("causal").value_or(true);
    m.gated_mlp = flag(r, "gated");
    m.tied_embeddings = flag(r, "tied_embeddings");
    m.learned_positions = flag(r, "learned_positions");
    m.parallel_block = flag(r, "parallel_block");
    m.attention_bias = flag(r, "attention_bias");
    m.mlp_bias = flag(r, "mlp_bias");
    m.qk_norm = flag(r, "qk_norm");
    const auto norm = r.optional_choice("norm", {"rms", "layer"});
    m.norm = norm == "layer" ? workload::Norm::layer_norm : workload::Norm::rms_norm;
    if (r.has("experts")) {
        m.moe = workload::MixtureOfExperts{size_or(r, "experts"), size_or(r, "experts_per_token"),
                                           size_or(r, "expert_ffn"), size_or(r, "shared_ffn"),
                                           size_or(r, "dense_layers")};
    }
    if (r.has("kv_lora_rank")) {
        m.mla = workload::LatentAttention{size_or(r, "q_lora_rank"), size_or(r, "kv_lora_rank"),
                                          size_or(r, "qk_nope_head_dim"),
                                          size_or(r, "qk_rope_head_dim"), size_or(r, "v_head_dim")};
    }
    if (r.has("sliding_window")) m.sliding_window = size_or(r, "sliding_window");
    m.sliding_layers = size_or(r, "sliding_layers");
    if (m.layers == 0) m.opaque_params = 0;
    return m;
}

workload::Training read_training(const Node& node, Mistakes& out) {
    MapReader r(node, out);
    workload::Training t;
    workload::Parallelism& p = t.parallel;
    p.data = degree(r, "data");
    p.tensor = degree(r, "tensor");
    p.pipeline = degree(r, "pipeline");
    p.virtual_stages = degree(r, "virtual_stages");
    p.context = degree(r, "context");
    p.expert = degree(r, "expert");
    p.expert_tensor = degree_or(r, "expert_tensor", 1);
    p.shard_group = size_or(r, "shard_group");
    p.sequence_parallel = flag(r, "sequence_parallel");
    p.zero = word(r, "zero", workload::parse_zero, workload::Zero::none);
    t.micro_batch = degree(r, "micro_batch");
    t.global_batch = static_cast<int>(r.integer("global_batch", {.min = 1, .max = 1 << 30}));
    t.sequence = size_or(r, "sequence");
    t.recompute = word(r, "recompute", workload::parse_recompute, workload::Recompute::none);
    t.precision = word(r, "precision", catalog::parse_precision, catalog::Precision::bf16);
    t.optimizer = word(r, "optimizer", workload::parse_optimizer, workload::Optimizer::adamw_fp32);
    t.method = word(r, "method", workload::parse_method, workload::Method::pretrain);
    t.offload_layer_inputs = flag(r, "offload_layer_inputs");
    t.stack = r.optional_string("stack").value_or("");
    if (r.has("lora_rank")) t.lora = workload::Lora{.rank = size_or(r, "lora_rank", 16)};
    return t;
}

std::optional<Purchase> parse_purchase(std::string_view s) {
    for (Purchase p :
         {Purchase::on_demand, Purchase::spot, Purchase::capacity_block, Purchase::mixed}) {
        if (to_string(p) == s) return p;
    }
    if (s == "1-year commitment" || s == "3-year commitment") return Purchase::commitment;
    return std::nullopt;
}

bool is_region(std::string_view s) {
    return s.size() >= 9 && s.size() <= 25 && std::all_of(s.begin(), s.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
           });
}

class Reading {
  public:
    Reading(const catalog::Catalog& catalog, Mistakes& out) : catalog_(catalog), out_(out) {}

    void plan(const Node& root, Recipe& recipe) {
        const Node& model = map_of(root, "model", out_);
        if (!model.members().empty()) recipe.model = read_model(model, out_);
        MapReader r(root, out_);
        recipe.job = r.string("job");
        recipe.verdict = r.string("verdict");
        recipe.name = r.optional_string("name").value_or(recipe.model.name);
        if (recipe.name.size() > kLongestName) recipe.name.resize(kLongestName);
        recipe.copies = degree_or(r, "copies", 1);
        if (r.has("resume"))
            recipe.resume =
                resume_of(r.optional_choice("resume", {"none", "checkpoint", "elastic"}));
        if (const auto v = r.optional_number("deadline_s", kNotNegative))
            recipe.deadline = *v * kSecond;
        if (const auto v = r.optional_number("budget_usd", kNotNegative)) recipe.budget = *v * kUsd;
        const Node& work = map_of(root, "work", out_);
        MapReader w(work, out_);
        recipe.params = number(w, "params", out_, work);
        recipe.tokens = number(w, "tokens", out_, work) * kToken;
        MapReader s(map_of(root, "service", out_), out_);
        recipe.service = s.string("name");
        chosen(map_of(root, "chosen", out_), recipe);
    }

  private:
    static workload::Resume resume_of(const std::optional<std::string>& s) {
        if (s == "none") return workload::Resume::none;
        return s == "elastic" ? workload::Resume::elastic : workload::Resume::checkpoint;
    }

    void chosen(const Node& node, Recipe& recipe) {
        MapReader r(node, out_);
        machine(node, r.string("instance"), recipe);
        recipe.nodes = degree(r, "nodes");
        recipe.jobs_per_node = degree_or(r, "jobs_per_node", 1);
        recipe.steps = number(r, "steps", out_, node);
        recipe.step_time = r.optional_number("step_time_s", kNotNegative).value_or(0) * kSecond;
        recipe.training = read_training(map_of(node, "training", out_), out_);
        offer(map_of(node, "offer", out_), recipe);
        head_node(node, recipe);
        bill(node, recipe);
        if (out_.empty()) check_devices(node, recipe);
    }

    void machine(const Node& node, const std::string& type, Recipe& recipe) {
        if (type.empty()) return;
        const Node& at = *node.find("instance");
        const catalog::Instance* i = catalog_.instance(type);
        if (i == nullptr) {
            const auto near = catalog_.nearest_instance(type);
            out_.push_back(mistake(at, "instance: \"" + printable(type, 60) + "\" is unknown",
                                   "the catalog has no such type",
                                   near ? "did you mean " + *near + "?" : ""));
            return;
        }
        const catalog::Accelerator* a = catalog_.accelerator(i->accelerator);
        if (a == nullptr) {
            out_.push_back(mistake(at, type + " has no accelerator to train on"));
            return;
        }
        recipe.instance = *i;
        recipe.accelerator = *a;
    }

    void offer(const Node& node, Recipe& recipe) {
        MapReader r(node, out_);
        const std::string purchase = r.string("purchase");
        if (const auto p = parse_purchase(purchase)) {
            recipe.purchase = *p;
        } else if (!purchase.empty()) {
            r.error("purchase", "purchase: \"" + printable(purchase, 60) + "\" rents nothing",
                    "plan without --have: there must be machines to rent");
        }
        recipe.region = r.string("region");
        if (!recipe.region.empty() && !is_region(recipe.region))
            r.error("region", "region: \"" + printable(recipe.region, 60) + "\" is no AWS region");
        recipe.rate = number(r, "usd_per_instance_hour", out_, node) * kUsdPerHour;
        // A year: no Capacity Block is longer, and hours still fit an int.
        if (r.has("block_days"))
            recipe.block_days = static_cast<int>(r.integer("block_days", {.min = 0, .max = 366}));
        recipe.base_nodes = size_or(r, "base_nodes");
        if (recipe.purchase == Purchase::mixed &&
            (recipe.base_nodes < 1 || recipe.base_nodes >= recipe.nodes)) {
            const Node* at = node.find("base_nodes");
            out_.push_back(mistake(at == nullptr ? node : *at,
                                   fmt::format("base_nodes: {} of {} nodes on guaranteed capacity "
                                               "are no mix",
                                               recipe.base_nodes, recipe.nodes),
                                   "it is at least 1 and less than nodes",
                                   "write the plan again: trainyard plan … --json"));
        }
        recipe.checkpoint = number(r, "checkpoint_bytes", out_, node) * kByte;
        recipe.dataset = number(r, "dataset_bytes", out_, node) * kByte;
        if (const auto v = r.optional_number("lustre_bytes", kNotNegative))
            recipe.lustre = *v * kByte;
        const auto place = r.optional_choice("data_place", {"local NVMe", "S3", "FSx for Lustre"});
        recipe.data_place = place == "local NVMe" ? DataPlace::local_nvme
                            : recipe.lustre       ? DataPlace::lustre
                                                  : DataPlace::s3;
        provenance(map_of(node, "rate_provenance", out_), recipe);
        const Node& time = map_of(node, "time", out_);
        MapReader t(time, out_);
        recipe.wall = {number(t, "low_s", out_, time) * kSecond,
                       number(t, "expected_s", out_, time) * kSecond,
                       number(t, "high_s", out_, time) * kSecond};
        const Node& cost = map_of(node, "cost", out_);
        MapReader c(cost, out_);
        recipe.expected_cost = number(c, "expected_usd", out_, cost) * kUsd;
        const Node& risk = map_of(node, "risk", out_);
        MapReader k(risk, out_);
        recipe.checkpoint_interval = number(k, "interval_s", out_, risk) * kSecond;
        recipe.on_demand =
            catalog_.price(recipe.instance.type, catalog::PurchaseType::on_demand, recipe.region);
    }

    void provenance(const Node& node, Recipe& recipe) {
        MapReader r(node, out_);
        recipe.rate_source = {r.string("source"), r.string("as_of"), Status::vendor_list};
    }

    /// The type that the bill counts; a plan for another service has none.
    void head_node(const Node& chosen, Recipe& recipe) {
        recipe.head_node = "c7i.2xlarge";
        const Node* bill = chosen.find("bill");
        const Node* items = bill == nullptr ? nullptr : bill->find("items");
        if (items == nullptr) return;
        for (const Node& item : items->items()) {
            const Node* name = item.find("name");
            const Node* type = item.find("instance");
            if (name == nullptr || type == nullptr || name->text() != "head node") continue;
            if (catalog_.instance(type->text()) != nullptr) {
                recipe.head_node = type->text();
            } else {
                out_.push_back(mistake(*type, "instance: the head node's type is unknown"));
            }
        }
    }

    void bill(const Node& chosen, Recipe& recipe) {
        recipe.control_plane = catalog_.service("eks.control_plane.hour", recipe.region);
        const Node* bill = chosen.find("bill");
        const Node* items = bill == nullptr ? nullptr : bill->find("items");
        if (items == nullptr) return;
        for (const Node& item : items->items()) {
            if (recipe.bill.size() == kMostItems) return;
            MapReader r(item, out_);
            recipe.bill.push_back(
                {printable(r.string("name"), kLongestName),
                 printable(r.optional_string("detail").value_or(""), kLongestName),
                 number(r, "amount_usd", out_, item) * kUsd});
        }
    }

    void check_devices(const Node& chosen, const Recipe& recipe) {
        const workload::Parallelism& p = recipe.training.parallel;
        const double mapped = double{1} * p.data * p.tensor * p.pipeline * p.context;
        const double chips =
            double{1} * (recipe.copies > 1 ? 1 : recipe.nodes) * recipe.instance.accelerators;
        // Trainium1 counts two cores a chip; independent runs need not fill their node.
        const bool fits =
            recipe.copies > 1 ? mapped <= 2 * chips : mapped == chips || mapped == 2 * chips;
        if (!fits) {
            out_.push_back(
                mistake(*chosen.find("training"),
                        fmt::format("training: the mapping has {} devices, {} x {} has {}", mapped,
                                    recipe.nodes, recipe.instance.type, chips),
                        "tensor x pipeline x context x data is the number of devices",
                        "write the plan again: trainyard plan … --json"));
        }
    }

    const catalog::Catalog& catalog_;
    Mistakes& out_;
};

std::optional<Diagnostic> no_plan(const Node& root) {
    const Node* schema = root.find("schema");
    if (!root.is(Node::Kind::map) || schema == nullptr || schema->text() != "trainyard.plan") {
        return mistake(root, "this is no plan", "its schema is not trainyard.plan",
                       "write one: trainyard plan JOB --json > plan.json");
    }
    const Node* version = root.find("schema_version");
    if (version == nullptr || version->text() != "1")
        return mistake(version == nullptr ? root : *version, "schema_version is not 1");
    if (root.find("chosen") == nullptr) {
        const Node* verdict = root.find("verdict");
        return mistake(root, "the plan recommends nothing, so there is nothing to render",
                       verdict == nullptr ? "" : printable(verdict->text(), 300),
                       "plan with limits that can be met");
    }
    return std::nullopt;
}

}  // namespace

Result<PlannedRun> read_planned_run(const Node& root) {
    Mistakes out;
    PlannedRun run;
    run.model = read_model(map_of(root, "model", out), out);
    const Node& chosen = map_of(root, "chosen", out);
    MapReader r(chosen, out);
    run.instance = r.string("instance");
    run.nodes = degree(r, "nodes");
    run.training = read_training(map_of(chosen, "training", out), out);
    std::erase_if(out, [](const Diagnostic& d) { return d.where.file.empty(); });
    if (!out.empty()) return bad_input(std::move(out));
    return run;
}

Result<Recipe> read_recipe(std::string_view text, std::string_view file,
                           const catalog::Catalog& catalog, std::string_view tool_version) {
    auto root = doc::parse_json(text, file);
    if (!root) return root.error();
    if (auto wrong = no_plan(*root)) return bad_input(std::move(*wrong));
    Recipe recipe;
    recipe.plan_file = file;
    recipe.plan_hash = sha256(std::string(text));
    recipe.tool_version = tool_version;
    Mistakes out;
    Reading(catalog, out).plan(*root, recipe);
    // A map that is missing was said once; what it lacks has no place.
    std::erase_if(out, [](const Diagnostic& d) { return d.where.file.empty(); });
    if (!out.empty()) return bad_input(std::move(out));
    return recipe;
}

}  // namespace trainyard::render
