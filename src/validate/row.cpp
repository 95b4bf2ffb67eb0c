#include "row.hpp"

#include <cmath>

#include "trainyard/base/text.hpp"

namespace trainyard::validate {

using workload::Model;

std::optional<double> Row::number(std::string_view column) const {
    const auto v = parse_number(cell(column));
    return v && *v > 0 ? v : std::nullopt;
}

/// Far beyond any real count, and small enough that four times it, or the sum of two, is still an
/// int.
constexpr double kMostCount = 1e8;
/// The importers refuse larger models too; below it every parameter count is exact.
constexpr double kMostParameters = 1e15;

std::optional<int> Row::count(std::string_view column) const {
    const auto v = number(column);
    if (!v || *v < 1 || *v > kMostCount || std::floor(*v) != *v) return std::nullopt;
    return static_cast<int>(*v);
}

namespace {

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
    for (const std::string_view w : words) {
        if (text.find(w) != std::string_view::npos) return true;
    }
    return false;
}

/// A built-in model of the same shape brings what the row cannot say: head size, MLA, shared
/// experts, norms.
const Model* built_in(const Row& r, int layers, int hidden, int heads) {
    static const std::vector<Model> all = [] {
        std::vector<Model> models;
        for (const workload::KnownModel& k : workload::known_models()) {
            if (auto m = workload::find_model(k.name)) models.push_back(*m);
        }
        return models;
    }();
    const int experts = r.count("moe_experts").value_or(0);
    // Dense shapes coincide by chance (24 x 1,024 x 16 is GPT-2 medium, OPT, BLOOM and BERT); only
    // a row that says its shape is a public model's may borrow from one.
    if (experts == 0 && !has_any(r.text("notes"), {"ARCH:public-config"})) return nullptr;
    const bool bidirectional = has_any(to_lower(r.text("model_name")), {"bert", "vit", "clip"});
    for (const Model& m : all) {
        if (m.causal == bidirectional) continue;
        if (m.layers != layers || m.hidden != hidden || m.heads != heads) continue;
        if ((m.moe ? m.moe->experts : 0) != experts) continue;
        if (experts == 0 && r.count("ffn_hidden").value_or(m.ffn_hidden) != m.ffn_hidden) continue;
        if (m.vocab != r.count("vocab").value_or(m.vocab)) continue;
        if (r.count("kv_heads").value_or(m.kv_heads) != m.kv_heads) continue;
        return &m;
    }
    return nullptr;
}

void shape_of_vision(Model& m) {
    m.image_size = 224;
    m.patch_size = 16;
    m.channels = 3;
    m.classes = 1000;
}

}  // namespace

tl::expected<Model, std::string> model_of_row(const Row& r, std::vector<std::string>& assumptions) {
    const auto layers = r.count("layers"), hidden = r.count("hidden"), heads = r.count("heads");
    if (!layers || !hidden || !heads)
        return tl::unexpected(std::string("the model's shape is not stated"));
    if (const Model* known = built_in(r, *layers, *hidden, *heads)) return *known;
    const std::string name = to_lower(r.text("model_name"));
    Model m;
    m.name = r.text("model_name");
    m.layers = *layers;
    m.hidden = *hidden;
    m.heads = *heads;
    m.kv_heads = r.count("kv_heads").value_or(*heads);
    if (*hidden % *heads != 0)
        return tl::unexpected(std::string("heads do not divide the hidden size"));
    m.head_dim = *hidden / *heads;
    m.gated_mlp = has_any(
        name, {"llama", "qwen", "mixtral", "mistral", "deepseek", "gpt oss", "kimi", "gemma"});
    m.ffn_hidden = r.count("ffn_hidden").value_or(4 * *hidden);
    const bool multilingual = r.text("notes").find("vocab ~250k") != std::string::npos;
    m.vocab = r.count("vocab").value_or(multilingual ? 250880 : 51200);
    if (!r.count("vocab") && !multilingual)
        assumptions.push_back("vocabulary not stated: 51,200 (GPT-2's padded for TP)");
    m.causal = !has_any(name, {"bert", "vit", "clip"});
    m.tied_embeddings = !m.gated_mlp;
    m.max_positions = r.count("seq_len").value_or(2048);
    m.learned_positions = !m.gated_mlp;
    m.norm = m.gated_mlp ? workload::Norm::rms_norm : workload::Norm::layer_norm;
    if (has_any(name, {"vit", "clip"})) {
        m.vocab = 0;
        shape_of_vision(m);
    }
    if (const auto experts = r.count("moe_experts")) {
        workload::MixtureOfExperts moe;
        moe.experts = *experts;
        moe.experts_per_token = r.count("moe_topk").value_or(2);
        moe.expert_ffn_hidden = m.ffn_hidden;
        m.moe = moe;
    }
    m.origin = "row";
    if (workload::estimate_parameters(m) > kMostParameters) {
        return tl::unexpected(std::string("the shape has more than 10^15 parameters"));
    }
    return m;
}

}  // namespace trainyard::validate
