#pragma once
// A transformer's shape as data, and its exact parameter count.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::workload {

enum class Norm { layer_norm, rms_norm };

/// Multi-head latent attention (DeepSeek V2/V3). Ranks in elements; q_lora_rank 0 means a full
/// query projection.
struct LatentAttention {
    int q_lora_rank = 0;
    int kv_lora_rank = 0;
    int qk_nope_head_dim = 0;
    int qk_rope_head_dim = 0;
    int v_head_dim = 0;
};

struct MixtureOfExperts {
    int experts = 0;            ///< routed experts per MoE layer
    int experts_per_token = 0;  ///< top-k
    int expert_ffn_hidden = 0;
    int shared_ffn_hidden = 0;  ///< width of the shared expert(s) together; 0 if none
    int dense_layers = 0;       ///< layers that keep a dense MLP (DeepSeek: the first ones)
    bool router_bias = false;   ///< one score-correction value per expert (DeepSeek V3)
    bool shared_gate =
        false;  ///< Qwen2-MoE: a sigmoid gate of `hidden` weights on the shared expert
};

struct Model {
    std::string name;
    std::string
        family;  ///< HF model_type: "llama", "qwen3", "mixtral", "deepseek_v3", "bert", "vit", …
    int layers = 0;
    int hidden = 0;
    int heads = 0;
    int kv_heads = 0;
    int head_dim = 0;
    int ffn_hidden = 0;  ///< of the dense MLP
    int vocab = 0;       ///< as in the checkpoint; 0 for vision encoders
    int max_positions = 0;
    bool causal = true;
    bool gated_mlp = false;  ///< three MLP matrices instead of two
    bool tied_embeddings = false;
    bool learned_positions = false;  ///< a position table of max_positions (+ position_offset) rows
    int position_offset = 0;         ///< OPT: 2
    bool parallel_block = false;     ///< attention and MLP read the same norm (Falcon, NeoX, GPT-J)
    bool attention_bias = false;     ///< bias on q, k, v
    bool attention_out_bias = false;
    bool mlp_bias = false;
    bool head_bias = false;
    bool qk_norm = false;          ///< per-head norm on q and k (Qwen3, Gemma3)
    bool attention_sinks = false;  ///< one learned logit per head (gpt-oss)
    int norms_per_layer = 2;       ///< Gemma2/3: 4; Falcon-7B: 1
    bool final_norm = true;
    bool embedding_norm = false;  ///< BLOOM, BERT
    Norm norm = Norm::rms_norm;
    bool norm_bias = true;  ///< layer_norm only: MPT and Cohere drop the bias
    int embedding_dim =
        0;  ///< width of the token table if not `hidden` (OPT-350m: 512, with two projections)
    bool mlm_head =
        false;            ///< BERT masked-LM head: dense + norm + tied decoder with a bias per word
    int token_types = 0;  ///< BERT segment embeddings
    bool pooler = false;  ///< BERT/ViT dense on the first token
    int classes = 0;      ///< ViT classifier width
    int image_size = 0, patch_size = 0, channels = 0;  ///< ViT
    std::optional<int> sliding_window;                 ///< tokens
    int sliding_layers = 0;  ///< how many layers use it (others see everything)
    std::optional<MixtureOfExperts> moe;
    std::optional<LatentAttention> mla;
    /// Convolutional and other non-transformer models: only counts are known, no shape (ResNet-50).
    std::optional<double> opaque_params;
    std::optional<double> opaque_forward_flop_per_sample;
    /// How the shape was found, for the reader: "config.json", "built-in table", "assumed from
    /// {params: 13B}".
    std::string origin;
    std::vector<std::string> assumptions;  ///< printed with the plan

    int dense_mlp_layers() const { return moe ? moe->dense_layers : layers; }
    int moe_layers() const { return moe ? layers - moe->dense_layers : 0; }
};

/// Parameters by place, in counts (not bytes). Sums are exact integers.
struct ParameterCount {
    std::int64_t embedding = 0;      ///< token + position + type tables, embedding norm
    std::int64_t attention = 0;      ///< one layer: projections and their biases, q/k norms
    std::int64_t norms = 0;          ///< one layer
    std::int64_t dense_mlp = 0;      ///< one dense layer
    std::int64_t router = 0;         ///< one MoE layer: router, its bias, shared gate
    std::int64_t routed_expert = 0;  ///< ONE routed expert
    std::int64_t shared_expert = 0;  ///< one MoE layer
    std::int64_t head = 0;           ///< output head (0 if tied), its bias, pooler, classifier
    std::int64_t final_norm = 0;
    std::int64_t total = 0;
    std::int64_t active = 0;  ///< used per token: routed experts count experts_per_token times
    std::int64_t dense_layer() const { return attention + norms + dense_mlp; }
};
ParameterCount count_parameters(const Model& m);

/// Trainable adapter parameters by place: rank x (in + out) for each adapted matrix
/// (arXiv 2106.09685, section 4.1). Adapted are all linear layers of attention and MLPs, each
/// routed and shared expert its own; not router, embedding and head.
struct AdapterCount {
    double attention = 0;      ///< one layer
    double dense_mlp = 0;      ///< one dense layer
    double routed_expert = 0;  ///< ONE routed expert
    double shared_expert = 0;  ///< one MoE layer
    double total = 0;
};
AdapterCount count_adapters(const Model& m, int rank);
/// "attention and MLP of every layer", with the experts where there are some.
std::string adapted_modules(const Model& m);

/// The same sum in floating point: cannot overflow, so untrusted shapes are bounded with it before
/// counting exactly.
double estimate_parameters(const Model& m);

/// A Hugging Face config.json. Unknown architecture, missing, zero, negative, absurd or non-numeric
/// sizes are diagnostics.
Result<Model> import_hf_config(const doc::Node& config);

/// Built-in table (data/models/*.yaml) by name or alias, case-insensitive. An unknown name suggests
/// the nearest.
Result<Model> find_model(std::string_view name);
struct KnownModel {
    std::string name;
    std::vector<std::string> aliases;
    std::int64_t published_parameters = 0;  ///< 0: nobody published one (assumed shapes)
    std::int64_t rounding = 0;  ///< the source rounds to this many parameters; 0 = exact
    std::int64_t explained_difference =
        0;               ///< published - ours, when the source counts other tensors; why in `note`
    std::string source;  ///< where the published count was read
    std::string as_of;   ///< YYYY[-MM[-DD]]
    std::string status;  ///< primary, quoted, rounded, recalled, assumed: see data/models/*.yaml
    std::string note;
};
/// In the order of the data files. The table is parsed once, on first use.
const std::vector<KnownModel>& known_models();

/// A shape written out by hand: {layers: 40, hidden: 5120, heads: 40, ...}; keys in
/// docs/reference/models.md. Missing sizes follow `style` (llama or gpt) and are listed in
/// Model::assumptions.
Result<Model> read_shape(const doc::Node& shape);

/// model_type values that import_hf_config reads, sorted.
const std::vector<std::string>& supported_model_types();

/// `{params: 13B}`: the nearest published Llama-like shape scaled to the count; fills
/// Model::assumptions.
Result<Model> model_from_parameter_count(double params);

}  // namespace trainyard::workload
