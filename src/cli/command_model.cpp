// trainyard model: a model's shape, its parameters by place, and the size of its training state.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "command.hpp"
#include "exclusive_options.hpp"
#include "table.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/sys/environment.hpp"
#include "trainyard/workload/model.hpp"

namespace trainyard::cli {
namespace {

using workload::KnownModel;
using workload::Model;
using workload::ParameterCount;

/// A config.json is a few kilobytes; a hundred times the largest is still small.
constexpr std::size_t kMaxInput = std::size_t{16} << 20U;

/// Bytes per parameter with AdamW in mixed precision (ZeRO, arxiv.org/abs/1910.02054, section 3.1,
/// but gradients as the tuned stack of `plan` and `predict` keeps them, data/perf/stacks.csv).
constexpr double kWeights = 2;     ///< bf16
constexpr double kGradients = 4;   ///< accumulated and reduced in fp32
constexpr double kOptimizer = 12;  ///< fp32 master copy and two fp32 moments

/// 8030261248 -> "8,030,261,248".
std::string grouped(std::int64_t n) {
    std::string digits = std::to_string(n);
    const std::size_t first = n < 0 ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

bool looks_like_path(const std::string& s) {
    return s == "-" || s.ends_with(".json") || s.ends_with(".yaml") || s.ends_with(".yml");
}

std::string folder_name(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos || slash == 0) return path;
    const std::string folder = path.substr(0, slash);
    return folder.substr(folder.rfind('/') + 1);
}

Result<Model> read_config(const std::string& path) {
    const Result<std::string> text = sys::read_file(path, kMaxInput);
    if (!text) return text.error();
    const Result<doc::Node> node = doc::parse_any(*text, path);
    if (!node) return node.error();
    const bool shape = node->find("layers") != nullptr;
    Result<Model> model = shape ? workload::read_shape(*node) : workload::import_hf_config(*node);
    if (model && model->name == model->family) model->name = folder_name(path);
    return model;
}

/// A path with the ending of one, a name of the table, a parameter count ("13B"), or the path of
/// a file without an ending.
Result<Model> read_model(const std::string& word) {
    if (looks_like_path(word)) return read_config(word);
    Result<Model> known = workload::find_model(word);
    if (known) return known;
    if (const auto params = parse_count(word)) return workload::model_from_parameter_count(*params);
    const bool readable = !word.empty() && sys::read_file(word, kMaxInput).has_value();
    if (readable || word.starts_with('/') || word.starts_with('.')) return read_config(word);
    return known;
}

const KnownModel* known_entry(const Model& m) {
    const std::vector<KnownModel>& all = workload::known_models();
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const KnownModel& k) { return k.name == m.name; });
    return at == all.end() || m.origin != "built-in table" ? nullptr : &*at;
}

struct Place {
    std::string name;
    std::int64_t each = 0;
    std::int64_t count = 1;
};

std::vector<Place> places(const Model& m, const ParameterCount& p) {
    std::vector<Place> all = {{"embedding", p.embedding, 1},
                              {"attention", p.attention, m.layers},
                              {"dense MLP", p.dense_mlp, m.dense_mlp_layers()},
                              {"norms", p.norms, m.layers}};
    if (m.moe) {
        all.push_back({"router", p.router, m.moe_layers()});
        all.push_back(
            {"routed experts", p.routed_expert, std::int64_t{m.moe_layers()} * m.moe->experts});
        all.push_back({"shared expert", p.shared_expert, m.moe_layers()});
    }
    all.push_back({"final norm", p.final_norm, 1});
    all.push_back({"head", p.head, 1});
    std::erase_if(all, [](const Place& q) { return q.each == 0 || q.count == 0; });
    return all;
}

std::string attention_text(const Model& m) {
    if (m.mla) {
        return std::to_string(m.heads) + " heads, latent: q rank " +
               std::to_string(m.mla->q_lora_rank) + ", kv rank " +
               std::to_string(m.mla->kv_lora_rank);
    }
    return std::to_string(m.heads) + " heads of " + std::to_string(m.head_dim) + ", " +
           std::to_string(m.kv_heads) + " KV";
}

std::string window_text(const Model& m) {
    if (!m.sliding_window) return "";
    return "\n  sliding window " + std::to_string(*m.sliding_window) + " in " +
           std::to_string(m.sliding_layers) + " of " + std::to_string(m.layers) + " layers";
}

std::string experts_text(const Model& m) {
    if (!m.moe) return "";
    std::string s = "\n  " + std::to_string(m.moe->experts) + " experts of width " +
                    std::to_string(m.moe->expert_ffn_hidden) + ", " +
                    std::to_string(m.moe->experts_per_token) + " per token, in " +
                    std::to_string(m.moe_layers()) + " of " + std::to_string(m.layers) + " layers";
    if (m.moe->shared_ffn_hidden > 0) {
        s += "; shared width " + std::to_string(m.moe->shared_ffn_hidden);
    }
    return s;
}

std::string shape_text(const Model& m) {
    if (m.opaque_params) return "  no layer shapes: only counts are known\n";
    std::string s = "  " + std::to_string(m.layers) + " layers, hidden " +
                    std::to_string(m.hidden) + ", " + attention_text(m) + "\n  FFN " +
                    std::to_string(m.ffn_hidden) + (m.gated_mlp ? " gated" : "") + ", ";
    s += m.vocab > 0
             ? "vocabulary " + std::to_string(m.vocab) + ", positions " +
                   std::to_string(m.max_positions) + (m.tied_embeddings ? ", tied head" : "")
             : std::to_string(m.image_size) + " pixels in patches of " +
                   std::to_string(m.patch_size);
    return s + experts_text(m) + window_text(m) + "\n";
}

std::string parameters_text(const Model& m, const ParameterCount& p) {
    Table table({{"place"},
                 {"each", Align::right},
                 {"times", Align::right},
                 {"in all", Align::right},
                 {"share", Align::right}});
    for (const Place& q : places(m, p)) {
        const double share = static_cast<double>(q.each * q.count) / static_cast<double>(p.total);
        table.add({q.name, grouped(q.each), grouped(q.count), grouped(q.each * q.count),
                   format_percent(share)});
    }
    return table.empty() ? "" : "\nparameters\n" + table.text();
}

std::string state_text(const ParameterCount& p) {
    const double n = static_cast<double>(p.total);
    Table table({{"training state with AdamW, mixed precision"},
                 {"bytes each", Align::right},
                 {"size", Align::right}});
    table.add({"weights, bf16", "2", format_bytes(n * kWeights * kByte)});
    table.add({"gradients, fp32 (bf16 stacks: 2)", "4", format_bytes(n * kGradients * kByte)});
    table.add({"master copy and moments, fp32", "12", format_bytes(n * kOptimizer * kByte)});
    table.add({"together, before activations", "18",
               format_bytes(n * (kWeights + kGradients + kOptimizer) * kByte)});
    return "\n" + table.text();
}

std::string published_text(const KnownModel& k) {
    if (k.published_parameters == 0) return "\nnot published: " + k.source + "\n";
    std::string s = "\npublished " + grouped(k.published_parameters) + " (" + k.source + ", " +
                    k.as_of + ", " + k.status + ")\n";
    if (k.explained_difference != 0) {
        const bool more = k.explained_difference > 0;
        s += "that is " + grouped(std::abs(k.explained_difference)) + (more ? " more" : " fewer") +
             " than counted here: " + k.note + "\n";
    } else if (!k.note.empty()) {
        s += k.note + "\n";
    }
    return s;
}

std::string model_text(const Model& m) {
    const ParameterCount p = workload::count_parameters(m);
    std::string s =
        m.name + " (" + m.origin + ", " + m.family + "): " + grouped(p.total) + " parameters";
    if (p.active != p.total) s += ", " + grouped(p.active) + " active per token";
    s += "\n" + shape_text(m) + parameters_text(m, p) + state_text(p);
    if (const KnownModel* k = known_entry(m)) s += published_text(*k);
    for (const std::string& a : m.assumptions) s += "assumed: " + a + "\n";
    return s;
}

doc::Node shape_json(const Model& m) {
    doc::Node n = doc::Node::map();
    n.set("layers", m.layers).set("hidden", m.hidden).set("heads", m.heads);
    n.set("kv_heads", m.kv_heads).set("head_dim", m.head_dim).set("ffn", m.ffn_hidden);
    n.set("vocab", m.vocab).set("max_positions", m.max_positions);
    n.set("gated", m.gated_mlp).set("tied_embeddings", m.tied_embeddings);
    if (m.moe) {
        n.set("experts", m.moe->experts).set("experts_per_token", m.moe->experts_per_token);
        n.set("expert_ffn", m.moe->expert_ffn_hidden).set("shared_ffn", m.moe->shared_ffn_hidden);
        n.set("dense_layers", m.moe->dense_layers);
    }
    if (m.sliding_window) {
        n.set("sliding_window", *m.sliding_window).set("sliding_layers", m.sliding_layers);
    }
    return n;
}

doc::Node model_json(const Model& m) {
    const ParameterCount p = workload::count_parameters(m);
    doc::Node counts = doc::Node::map();
    counts.set("total", p.total).set("active", p.active);
    doc::Node by_place = doc::Node::list();
    for (const Place& q : places(m, p)) {
        doc::Node one = doc::Node::map();
        one.set("place", q.name).set("each", q.each).set("count", q.count);
        by_place.append(std::move(one));
    }
    counts.set("by_place", std::move(by_place));
    const double n = static_cast<double>(p.total);
    doc::Node state = doc::Node::map();
    state.set("weights_bytes", n * kWeights).set("gradients_bytes", n * kGradients);
    state.set("optimizer_bytes", n * kOptimizer);
    doc::Node root = doc::Node::map();
    root.set("schema", "trainyard.model").set("schema_version", 1).set("name", m.name);
    root.set("family", m.family).set("origin", m.origin);
    if (!m.opaque_params) root.set("shape", shape_json(m));
    root.set("parameters", std::move(counts)).set("adamw_mixed_precision", std::move(state));
    if (const KnownModel* k = known_entry(m); k != nullptr && k->published_parameters > 0) {
        doc::Node published = doc::Node::map();
        published.set("parameters", k->published_parameters).set("source", k->source);
        published.set("as_of", k->as_of).set("status", k->status);
        published.set("explained_difference", k->explained_difference).set("note", k->note);
        root.set("published", std::move(published));
    }
    doc::Node assumptions = doc::Node::list();
    for (const std::string& a : m.assumptions) assumptions.append(doc::Node::string(a));
    root.set("assumptions", std::move(assumptions));
    return root;
}

std::string list_text() {
    Table table({{"model"},
                 {"parameters", Align::right},
                 {"active", Align::right},
                 {"count is"},
                 {"also known as"}});
    for (const KnownModel& k : workload::known_models()) {
        const Result<Model> m = workload::find_model(k.name);
        if (!m) continue;
        const ParameterCount p = workload::count_parameters(*m);
        table.add({k.name, grouped(p.total), p.active == p.total ? "all" : grouped(p.active),
                   k.status, k.aliases.empty() ? "" : k.aliases.front()});
    }
    return table.text();
}

doc::Node list_json() {
    doc::Node models = doc::Node::list();
    for (const KnownModel& k : workload::known_models()) {
        const Result<Model> m = workload::find_model(k.name);
        if (m) models.append(model_json(*m));
    }
    doc::Node root = doc::Node::map();
    root.set("schema", "trainyard.models")
        .set("schema_version", 1)
        .set("models", std::move(models));
    return root;
}

Result<Outcome> run_model(const Args& args, Io& io) {
    const bool json = args.flag("json");
    const std::vector<std::string> words = args.list("model");
    constexpr std::array kPairs = {Exclusive{"list", "model", "--list shows all of them"}};
    if (auto wrong = exclusive_mistake(args, "model", kPairs)) return *std::move(wrong);
    if (args.flag("list")) {
        io.out << (json ? doc::write_json(list_json()) : list_text());
        return Outcome::done;
    }
    if (words.empty()) {
        Diagnostic d;
        d.what = "no model given";
        d.fix = "name one (trainyard model llama-3.1-8b), or list them: trainyard model --list";
        return Error{ErrorKind::usage, {std::move(d)}};
    }
    const Result<Model> model = read_model(words.front());
    if (!model) return model.error();
    io.out << (json ? doc::write_json(model_json(*model)) : model_text(*model));
    return Outcome::done;
}

}  // namespace

Command model_command() {
    using Kind = Option::Kind;
    return {
        .name = "model",
        .summary = "Show a model's shape, its parameters by place and its training state",
        .description =
            "MODEL is a known name, a Hugging Face config.json, a shape file, or a parameter count "
            "such as 13B, for which a shape is assumed and printed.",
        .examples = {{"trainyard model llama-3.1-8b", "Where are its eight billion parameters?"},
                     {"trainyard model examples/llama-3.1-8b/config.json --json",
                      "The same from a config file, for a program"},
                     {"trainyard model --list", "Which names are known?"}},
        .options = {{"list", Kind::flag, "", "list the known models", "", {}},
                    {"json", Kind::flag, "", "print JSON (docs/reference/models.md)", "", {}}},
        .positionals = {{.name = "model",
                         .help = "name, config.json, shape file or parameter count",
                         .min = 0,
                         .max = 1,
                         .names = "model"}},
        .run = run_model,
        .is_hidden = false};
}

}  // namespace trainyard::cli
