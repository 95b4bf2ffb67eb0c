// The built-in table of models: data/models/*.yaml, each entry a Hugging Face config, a shape or
// bare counts.
//
// Entries go through the same importer as a user's config.json, so a published count that agrees
// proves the importer.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "embedded_models.hpp"
#include "mistake.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/reader.hpp"
#include "trainyard/workload/model.hpp"

namespace trainyard::workload {
namespace {

struct Table {
    std::vector<KnownModel> known;
    std::vector<Model> models;               ///< same order
    std::vector<std::string> keys;           ///< every name and alias, squeezed
    std::vector<std::size_t> index_of_key;   ///< into known
    std::vector<std::string> printed_names;  ///< for "did you mean"
};

/// "Meta-Llama/Llama 3.1 8B", "llama-3.1-8b" and "llama3.1:8b" are one name: letters, digits and
/// dots, lower case.
std::string squeeze(std::string_view name) {
    std::string out;
    for (const char c : to_lower(trim(name))) {
        const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '/';
        if (kept) out += c;
    }
    return out;
}

Result<Model> opaque_model(const doc::Node& node) {
    std::vector<Diagnostic> diagnostics;
    doc::MapReader r(node, diagnostics);
    Model m;
    m.opaque_params = r.optional_number("parameters", {.min = 1, .max = 1e15});
    m.opaque_forward_flop_per_sample =
        r.optional_number("forward_flop_per_sample", {.min = 1, .max = 1e18});
    m.image_size =
        static_cast<int>(r.optional_integer("image_size", {.min = 1, .max = 100'000}).value_or(0));
    m.causal = false;
    m.family = "opaque";
    r.finish(doc::UnknownKeys::error);
    if (!diagnostics.empty()) return bad_input(std::move(diagnostics));
    m.assumptions.emplace_back("only counts are known of this model, no layer shapes");
    return m;
}

Result<Model> entry_model(const doc::Node& entry) {
    if (const doc::Node* config = entry.find("config")) return import_hf_config(*config);
    if (const doc::Node* shape = entry.find("shape")) return read_shape(*shape);
    if (const doc::Node* opaque = entry.find("opaque")) return opaque_model(*opaque);
    return bad_input(mistake(entry.where, "a model needs one of config, shape, opaque", "add one"));
}

KnownModel entry_facts(doc::MapReader& r, const doc::Node& entry) {
    KnownModel k;
    k.name = r.string("name");
    if (const doc::Node* aliases = r.node("aliases")) {
        for (const doc::Node& a : aliases->items()) k.aliases.push_back(a.text());
    }
    k.published_parameters = r.optional_integer("published_parameters", {.min = 1}).value_or(0);
    k.rounding = r.optional_integer("rounding", {.min = 1}).value_or(0);
    k.explained_difference = r.optional_integer("explained_difference", {}).value_or(0);
    k.source = r.string("source");
    k.as_of = r.string("as_of");
    k.status = r.string("status");
    k.note = r.optional_string("note").value_or("");
    for (const char* key : {"config", "shape", "opaque"}) {
        if (entry.find(key) != nullptr) r.node(key);
    }
    return k;
}

void add_keys(Table& t, const KnownModel& k, std::size_t index) {
    std::vector<std::string> names = k.aliases;
    names.insert(names.begin(), k.name);
    for (const std::string& n : names) {
        t.keys.push_back(squeeze(n));
        t.index_of_key.push_back(index);
        t.printed_names.push_back(n);
    }
}

void add_file(Table& t, const std::string& file, const std::string& text) {
    const Result<doc::Node> root = doc::parse_yaml(text, file);
    TRAINYARD_ASSERT(root.has_value(), "the embedded model files parse; a test reads each");
    const doc::Node* list = root->find("models");
    TRAINYARD_ASSERT(list != nullptr, "each model file is {models: [...]}");
    for (const doc::Node& entry : list->items()) {
        std::vector<Diagnostic> diagnostics;
        doc::MapReader r(entry, diagnostics);
        KnownModel k = entry_facts(r, entry);
        r.finish(doc::UnknownKeys::error);
        Result<Model> m = entry_model(entry);
        TRAINYARD_ASSERT(diagnostics.empty() && m.has_value(),
                         "every embedded entry reads without a mistake");
        m->name = k.name;
        m->origin = "built-in table";
        add_keys(t, k, t.known.size());
        t.known.push_back(std::move(k));
        t.models.push_back(std::move(*m));
    }
}

const Table& table() {
    static const Table built = [] {
        Table t;
        for (const auto& [file, text] : embedded_models()) add_file(t, file, text);
        return t;
    }();
    return built;
}

std::string suggestion(std::string_view name) {
    const Table& t = table();
    const std::string wanted = squeeze(name);
    if (const std::optional<std::string> near = nearest(wanted, t.keys)) {
        const auto at = std::find(t.keys.begin(), t.keys.end(), *near) - t.keys.begin();
        return "did you mean \"" + t.printed_names[static_cast<std::size_t>(at)] + "\"?";
    }
    std::string same;
    int shown = 0;
    for (const KnownModel& k : t.known) {
        const std::string key = squeeze(k.name);
        const std::size_t stem = std::min<std::size_t>({wanted.size(), key.size(), 4});
        if (stem < 3 || wanted.compare(0, stem, key, 0, stem) != 0 || shown == 6) continue;
        same += (same.empty() ? "" : ", ") + k.name;
        ++shown;
    }
    const std::string list = same.empty() ? "" : "known models that start alike: " + same + "; ";
    return list +
           "`trainyard model --list` shows all; or give {config: path/to/config.json} or {params: "
           "13B}";
}

// --- {params: 13B}
// -------------------------------------------------------------------------------------------------

/// Published Llama-like shapes to start from, smallest first.
constexpr const char* kLadder[] = {"smollm-135m",   "smollm-360m",   "llama-3.2-1b", "llama-3.2-3b",
                                   "llama-2-7b",    "llama-3.1-8b",  "llama-2-13b",  "llama-1-33b",
                                   "llama-3.1-70b", "llama-3.1-405b"};

constexpr double kMinParams = 2e7;
constexpr double kMaxAssumedParams = 1e14;
constexpr double kNominal = 0.05;  ///< "7B" means the 6.74B Llama: names round
constexpr double kDepthOnly = 0.6;

const Model& ladder_model(const char* name) {
    const Table& t = table();
    for (std::size_t i = 0; i < t.known.size(); ++i) {
        if (t.known[i].name == name) return t.models[i];
    }
    TRAINYARD_ASSERT(false, "every rung of the ladder is in the table");
}

int round_to(double value, int step) {
    return static_cast<int>(std::max(1.0, std::round(value / step)) * step);
}

/// Near the rung only the depth changes; further away depth and width grow alike (cube root of the
/// count) and heads keep their size. Heads and layers stay multiples that devices can share.
Model resized(Model m, double params) {
    const double ratio = params / estimate_parameters(m);
    const bool near = ratio > kDepthOnly && ratio < 1 / kDepthOnly;
    if (!near) {
        const double factor = std::cbrt(ratio);
        const int head_dim = m.head_dim;
        const int group = m.heads / m.kv_heads;
        const double heads = m.heads * factor;
        const int step = heads < 16 ? group : heads < 64 ? std::lcm(group, 8) : group * 8;
        m.heads = round_to(heads, step);
        m.kv_heads = m.heads / group;
        m.hidden = m.heads * head_dim;
        m.ffn_hidden = round_to(m.ffn_hidden * factor, 128);
    }
    const double per_layer = static_cast<double>(count_parameters(m).dense_layer());
    const double rest = estimate_parameters(m) - per_layer * m.layers;
    const double layers = (params - rest) / per_layer;
    m.layers = std::clamp(round_to(layers, layers < 16 ? 1 : 4), 1, 1000);
    return m;
}

/// Last step: the FFN width takes up what whole layers leave.
void fit_ffn(Model& m, double params) {
    const double missing = params - estimate_parameters(m);
    const double per_column = 3.0 * m.hidden * m.layers;
    const double width = m.ffn_hidden + missing / per_column;
    const int step = m.hidden < 2048 ? 64 : 256;
    m.ffn_hidden = std::max(round_to(width, step), step);
}

std::string shape_text(const Model& m) {
    return std::to_string(m.layers) + " layers, hidden " + std::to_string(m.hidden) + ", " +
           std::to_string(m.heads) + " heads (" + std::to_string(m.kv_heads) + " KV), FFN " +
           std::to_string(m.ffn_hidden) + ", vocabulary " + std::to_string(m.vocab);
}

}  // namespace

const std::vector<KnownModel>& known_models() { return table().known; }

Result<Model> find_model(std::string_view name) {
    const Table& t = table();
    // "someone/llama-3.1-8b" is a copy of a model we know under its own name.
    const std::size_t slash = name.rfind('/');
    const std::string_view own = slash == std::string_view::npos ? name : name.substr(slash + 1);
    for (const std::string& wanted : {squeeze(name), squeeze(own)}) {
        const auto at = std::find(t.keys.begin(), t.keys.end(), wanted);
        if (at != t.keys.end())
            return t.models[t.index_of_key[static_cast<std::size_t>(at - t.keys.begin())]];
    }
    return bad_input(mistake({}, "unknown model \"" + std::string(name) + "\"", suggestion(name)));
}

Result<Model> model_from_parameter_count(double params) {
    if (!(params >= kMinParams && params <= kMaxAssumedParams)) {
        return bad_input(mistake(
            {},
            "cannot assume a transformer of " + format_count(std::max(params, 0.0)) + " parameters",
            "give a count between 20M and 100T, or the shape itself"));
    }
    const char* best = kLadder[0];
    double best_distance = 1e9;
    for (const char* rung : kLadder) {
        const double distance =
            std::abs(std::log(params / estimate_parameters(ladder_model(rung))));
        if (distance < best_distance) {
            best_distance = distance;
            best = rung;
        }
    }
    Model m = ladder_model(best);
    const bool as_published = std::abs(params / estimate_parameters(m) - 1) <= kNominal;
    if (!as_published) {
        m = resized(std::move(m), params);
        fit_ffn(m, params);
    }
    m.name = format_count(params) + " parameters";
    m.origin = "assumed from {params: " + format_count(params) + "}";
    m.assumptions.push_back((as_published ? "shape of " : "shape scaled from ") +
                            std::string(best) + ": " + shape_text(m) + ", " +
                            format_count(estimate_parameters(m)) + " parameters");
    return m;
}

}  // namespace trainyard::workload
