// Hugging Face config.json -> Model: dispatch on model_type, defaults as in Transformers, laws
// between the sizes.
//
// The config is untrusted. Every size is bounded, every mistake becomes a diagnostic at its place,
// and the total is bounded in floating point before anything is multiplied as an integer.

#include <algorithm>

#include "hf_family.hpp"
#include "mistake.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::workload {
namespace {

const std::vector<Family>& families() {
    static const std::vector<Family> all = [] {
        std::vector<Family> v;
        for (const auto& list :
             {llama_families(), moe_families(), classic_families(), encoder_families()}) {
            v.insert(v.end(), list.begin(), list.end());
        }
        std::sort(v.begin(), v.end(), [](const Family& a, const Family& b) {
            return std::string_view(a.model_type) < std::string_view(b.model_type);
        });
        return v;
    }();
    return all;
}

const Family* find_family(std::string_view model_type) {
    for (const Family& f : families()) {
        if (model_type == f.model_type) return &f;
    }
    return nullptr;
}

std::string join(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& w : words) out += (out.empty() ? "" : ", ") + w;
    return out;
}

/// "LlamaForCausalLM" -> "llama": the class name without its task, lower case. Only used when
/// model_type is absent.
std::string type_from_architecture(std::string_view architecture) {
    std::string name(architecture);
    for (const char* tail :
         {"ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForPreTraining", "ForImageClassification",
          "ForSequenceClassification", "ForConditionalGeneration", "Model"}) {
        const std::string_view t(tail);
        if (name.size() > t.size() && name.ends_with(t)) {
            name.resize(name.size() - t.size());
            break;
        }
    }
    std::string squeezed = to_lower(name);
    for (const Family& f : families()) {
        std::string plain(f.model_type);
        std::erase(plain, '_');
        if (plain == squeezed) return f.model_type;
    }
    return squeezed;
}

Diagnostic unknown_type(const Location& where, const std::string& type) {
    const std::vector<std::string>& known = supported_model_types();
    const std::optional<std::string> near = nearest(type, known);
    return mistake(where, "unknown model architecture \"" + type + "\"",
                   near ? "did you mean \"" + *near + "\"?"
                        : "give the shape by hand instead: model: {layers: …, hidden: …, heads: …}",
                   "supported model_type values: " + join(known));
}

std::string first_architecture(const doc::Node& config) {
    const doc::Node* list = config.find("architectures");
    if (list == nullptr || !list->is(doc::Node::Kind::list) || list->items().empty()) return {};
    const doc::Node& first = list->items().front();
    return first.is(doc::Node::Kind::string) ? first.text() : std::string();
}

struct Dispatch {
    const Family* family = nullptr;
    const doc::Node* map = nullptr;
    std::string note;
};

/// The inner text model of a multimodal config, when there is one that we can read.
std::optional<Dispatch> text_part(const doc::Node& config, const std::string& outer) {
    const doc::Node* inner = config.find("text_config");
    if (inner == nullptr || !inner->is(doc::Node::Kind::map)) return std::nullopt;
    const doc::Node* type = inner->find("model_type");
    std::string name =
        type != nullptr && type->is(doc::Node::Kind::string) ? type->text() : outer + "_text";
    const Family* family = find_family(name);
    if (family == nullptr) return std::nullopt;
    return Dispatch{family, inner,
                    "only text_config (" + name + ") of the multimodal " + outer +
                        " config is modelled; vision and audio parts are not counted"};
}

Result<Dispatch> dispatch(const doc::Node& config) {
    const doc::Node* type = config.find("model_type");
    if (type != nullptr && !type->is(doc::Node::Kind::null) && !type->is(doc::Node::Kind::string)) {
        const std::string found = type->text().empty() ? "a list or map" : type->text();
        return bad_input(
            mistake(type->where, "model_type must be a string, not " + found,
                    "write the architecture's name, for example \"model_type\": \"llama\""));
    }
    std::string name;
    Location where = config.where;
    if (type != nullptr && type->is(doc::Node::Kind::string)) {
        name = type->text();
        where = type->where;
    } else if (const std::string architecture = first_architecture(config); !architecture.empty()) {
        name = type_from_architecture(architecture);
        where = config.find("architectures")->where;
    } else if (config.find("text_config") == nullptr) {
        return bad_input(
            mistake(config.where,
                    "no model_type and no architectures: this is not a Hugging Face model config",
                    "add \"model_type\": one of " + join(supported_model_types()),
                    "model_type says how to read the other fields"));
    }
    if (const Family* family = find_family(name)) return Dispatch{family, &config, {}};
    if (std::optional<Dispatch> inner = text_part(config, name)) return *inner;
    return bad_input(unknown_type(where, name));
}

bool any_error(const std::vector<Diagnostic>& all) {
    return std::any_of(all.begin(), all.end(),
                       [](const Diagnostic& d) { return d.severity == Severity::error; });
}

std::string name_of(const doc::Node& config, const std::string& family) {
    const doc::Node* path = config.find("_name_or_path");
    if (path != nullptr && path->is(doc::Node::Kind::string) && !path->text().empty())
        return path->text();
    return family;
}

void check_heads(FamilyConfig& c, const Model& m) {
    if (m.mla) return;
    if (m.kv_heads > m.heads || m.heads % m.kv_heads != 0) {
        c.error({"num_key_value_heads", "num_kv_heads", "n_head_kv", "kv_heads"},
                std::to_string(m.kv_heads) + " KV heads do not divide " + std::to_string(m.heads) +
                    " heads",
                "each KV head serves the same number of query heads; use a divisor of " +
                    std::to_string(m.heads));
    }
}

void check_experts(FamilyConfig& c, const Model& m) {
    if (!m.moe) return;
    if (m.moe->experts_per_token > m.moe->experts) {
        c.error({"num_experts_per_tok", "experts_per_token"},
                std::to_string(m.moe->experts_per_token) +
                    " experts per token, but the model has only " + std::to_string(m.moe->experts) +
                    " experts",
                "use at most " + std::to_string(m.moe->experts));
    }
    if (m.moe->dense_layers > m.layers) {
        c.error({"first_k_dense_replace", "dense_layers"},
                std::to_string(m.moe->dense_layers) + " dense layers in a model of " +
                    std::to_string(m.layers),
                "use at most " + std::to_string(m.layers));
    }
}

}  // namespace

const char* FamilyConfig::present(Keys keys) const {
    for (const char* key : keys) {
        if (reader_.has(key)) return key;
    }
    return *keys.begin();
}

bool FamilyConfig::says_null(const char* key) const {
    const doc::Node* n = config_.find(key);
    return n != nullptr && n->is(doc::Node::Kind::null);
}

int FamilyConfig::size(Keys keys, int max) {
    return static_cast<int>(reader_.integer(present(keys), {.min = 1, .max = max}));
}

std::optional<int> FamilyConfig::optional_size(Keys keys, int max) {
    const auto v = reader_.optional_integer(present(keys), {.min = 1, .max = max});
    return v ? std::optional<int>(static_cast<int>(*v)) : std::nullopt;
}

int FamilyConfig::size_or(Keys keys, int max, int fallback) {
    return optional_size(keys, max).value_or(fallback);
}

int FamilyConfig::count_or(Keys keys, int max, int fallback) {
    const auto v = reader_.optional_integer(present(keys), {.min = 0, .max = max});
    return v ? static_cast<int>(*v) : fallback;
}

bool FamilyConfig::flag_or(const char* key, bool fallback) {
    return reader_.optional_boolean(key).value_or(fallback);
}

std::optional<double> FamilyConfig::number(const char* key) {
    return reader_.optional_number(key, {.min = 0, .max = 1e9});
}

std::string FamilyConfig::text_or(const char* key, std::string fallback) {
    return reader_.optional_string(key).value_or(std::move(fallback));
}

std::string FamilyConfig::choice_or(const char* key, const std::vector<std::string>& choices,
                                    std::string fallback) {
    return reader_.optional_choice(key, choices).value_or(std::move(fallback));
}

void FamilyConfig::error(Keys keys, std::string what, std::string fix) {
    const char* key = present(keys);
    if (reader_.has(key)) {
        reader_.error(key, std::move(what), std::move(fix));
    } else {
        diagnostics_.push_back(mistake(config_.where, std::move(what), std::move(fix)));
    }
}

void check_shape(FamilyConfig& c, const Model& m) {
    TRAINYARD_ASSERT(m.layers > 0 && m.hidden > 0 && m.heads > 0,
                     "sizes were read without an error");
    check_heads(c, m);
    check_experts(c, m);
    const double total = estimate_parameters(m);
    if (total > kMaxParameters) {
        c.error({"num_hidden_layers", "n_layer", "n_layers", "layers"},
                "these sizes make " + format_count(total) + " parameters",
                "the limit is " + format_count(kMaxParameters) +
                    "; check layers, widths and experts for slips");
    }
}

void read_window(FamilyConfig& c, Model& m, std::optional<int> window, int otherwise) {
    if (!window) return;
    int sliding = otherwise;
    if (const doc::Node* types = c.node("layer_types");
        types != nullptr && types->is(doc::Node::Kind::list)) {
        sliding = static_cast<int>(
            std::count_if(types->items().begin(), types->items().end(), [](const doc::Node& t) {
                return t.text() == "sliding_attention" || t.text() == "chunked_attention";
            }));
    }
    if (sliding <= 0) return;
    m.sliding_window = window;
    m.sliding_layers = std::min(sliding, m.layers);
}

const std::vector<std::string>& supported_model_types() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> v;
        for (const Family& f : families()) v.emplace_back(f.model_type);
        return v;
    }();
    return names;
}

Result<Model> import_hf_config(const doc::Node& config) {
    if (!config.is(doc::Node::Kind::map)) {
        return bad_input(mistake(config.where, "a model config must be a map of fields",
                                 "pass the config.json of a Hugging Face model"));
    }
    Result<Dispatch> found = dispatch(config);
    if (!found) return found.error();

    std::vector<Diagnostic> diagnostics;
    FamilyConfig c(*found->map, diagnostics);
    Model m;
    m.family = found->family->model_type;
    m.name = name_of(config, m.family);
    m.origin = "config.json";
    if (!found->note.empty()) m.assumptions.push_back(found->note);
    found->family->read(c, m);
    if (!any_error(diagnostics)) check_shape(c, m);
    if (any_error(diagnostics)) return bad_input(std::move(diagnostics));
    return m;
}

}  // namespace trainyard::workload
