// A model's shape written by hand, in a job, a run or the built-in table.

#include <algorithm>

#include "hf_family.hpp"
#include "mistake.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::workload {
namespace {

/// Llama's rule for the width of a gated MLP: two thirds of 4h, rounded up to a multiple of 256
/// (facebookresearch/llama, model.py, multiple_of = 256).
int gated_width(int hidden) {
    const std::int64_t two_thirds = std::int64_t{hidden} * 8 / 3;
    return static_cast<int>((two_thirds + 255) / 256 * 256);
}

void apply_style(Model& m, const std::string& style) {
    const bool gpt = style == "gpt" || style == "bert";
    m.family = gpt ? (style == "bert" ? "bert" : "gpt2") : "llama";
    m.gated_mlp = !gpt;
    m.norm = gpt ? Norm::layer_norm : Norm::rms_norm;
    m.tied_embeddings = gpt;
    m.learned_positions = gpt;
    m.attention_bias = gpt;
    m.attention_out_bias = gpt;
    m.mlp_bias = gpt;
    if (style == "bert") {
        m.causal = false;
        m.embedding_norm = true;
        m.final_norm = false;
        m.token_types = 2;
        m.mlm_head = true;
    }
}

void read_switches(FamilyConfig& c, Model& m) {
    m.gated_mlp = c.flag_or("gated", m.gated_mlp);
    m.causal = c.flag_or("causal", m.causal);
    m.tied_embeddings = c.flag_or("tied_embeddings", m.tied_embeddings);
    m.learned_positions = c.flag_or("learned_positions", m.learned_positions);
    m.qk_norm = c.flag_or("qk_norm", false);
    m.parallel_block = c.flag_or("parallel_block", false);
    m.attention_bias = c.flag_or("attention_bias", m.attention_bias);
    m.attention_out_bias = c.flag_or("attention_out_bias", m.attention_out_bias);
    m.mlp_bias = c.flag_or("mlp_bias", m.mlp_bias);
    m.norms_per_layer = c.size_or({"norms_per_layer"}, 8, m.norms_per_layer);
    if (const std::optional<int> window = c.optional_size({"sliding_window"}, kMaxPositions)) {
        m.sliding_window = window;
        m.sliding_layers = c.size_or({"sliding_layers"}, kMaxLayers, m.layers);
    }
}

void read_experts(FamilyConfig& c, Model& m) {
    const std::optional<int> experts = c.optional_size({"experts"}, kMaxExperts);
    if (!experts) {
        for (const char* key : {"experts_per_token", "expert_ffn", "shared_ffn", "dense_layers"}) {
            if (c.has(key))
                c.error({key}, std::string(key) + " is given without experts",
                        "add experts: a count");
            c.node(key);
        }
        return;
    }
    MixtureOfExperts moe;
    moe.experts = *experts;
    moe.experts_per_token = c.size({"experts_per_token"}, kMaxExperts);
    moe.expert_ffn_hidden = c.size_or({"expert_ffn"}, kMaxWidth, m.ffn_hidden);
    moe.shared_ffn_hidden = c.count_or({"shared_ffn"}, kMaxWidth, 0);
    moe.dense_layers = c.count_or({"dense_layers"}, kMaxLayers, 0);
    m.moe = moe;
}

int assumed(Model& m, const char* key, int value) {
    m.assumptions.push_back(std::string(key) + " " + std::to_string(value) + " (not given)");
    return value;
}

}  // namespace

Result<Model> read_shape(const doc::Node& shape) {
    if (!shape.is(doc::Node::Kind::map)) {
        return bad_input(mistake(shape.where, "a shape must be a map",
                                 "write {layers: 40, hidden: 5120, heads: 40, …}"));
    }
    std::vector<Diagnostic> diagnostics;
    FamilyConfig c(shape, diagnostics);
    Model m;
    m.name = c.text_or("name", "custom model");
    m.origin = "shape in the input";
    const std::string style = c.choice_or("style", {"llama", "gpt", "bert"}, "llama");
    apply_style(m, style);
    m.layers = c.size({"layers"}, kMaxLayers);
    m.hidden = c.size({"hidden"}, kMaxWidth);
    m.heads = c.size({"heads"}, kMaxHeads);
    m.kv_heads = c.size_or({"kv_heads"}, kMaxHeads, m.heads);
    read_head_dim(c, m);
    read_switches(c, m);
    if (const auto ffn = c.optional_size({"ffn"}, kMaxWidth)) {
        m.ffn_hidden = *ffn;
    } else if (m.hidden > 0) {
        m.ffn_hidden = assumed(m, "FFN width", m.gated_mlp ? gated_width(m.hidden) : 4 * m.hidden);
    }
    const auto vocab = c.optional_size({"vocab"}, kMaxVocab);
    m.vocab = vocab ? *vocab
                    : assumed(m, "vocabulary",
                              style == "llama" ? 32000
                              : style == "gpt" ? 50257
                                               : 30522);
    const auto positions = c.optional_size({"max_positions"}, kMaxPositions);
    m.max_positions =
        positions ? *positions : assumed(m, "maximum positions", style == "llama" ? 4096 : 2048);
    read_experts(c, m);
    c.finish(doc::UnknownKeys::error);
    if (diagnostics.empty()) check_shape(c, m);
    if (!diagnostics.empty()) return bad_input(std::move(diagnostics));
    return m;
}

}  // namespace trainyard::workload
