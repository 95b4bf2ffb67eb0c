// Encoders: BERT and ViT. What is counted follows the `architectures` entry, because the same sizes
// are used with different heads: BertModel has a pooler and no head, BertForMaskedLM a head and no
// pooler. Defaults are those of the Transformers configuration classes
// (transformers/models/*/configuration_*.py, 4.57).

#include "hf_family.hpp"

namespace trainyard::workload {
namespace {

std::string architecture(FamilyConfig& c, std::string fallback) {
    const doc::Node* list = c.node("architectures");
    if (list == nullptr || list->items().empty()) return fallback;
    const std::string& name = list->items().front().text();
    return name.empty() ? fallback : name;
}

/// Number of classes: the size of id2label if given, else num_labels, else 2 as in Transformers.
int labels(FamilyConfig& c) {
    if (const doc::Node* map = c.node("id2label");
        map != nullptr && map->is(doc::Node::Kind::map)) {
        return static_cast<int>(map->members().size());
    }
    return c.size_or({"num_labels"}, kMaxVocab, 2);
}

void read_encoder_core(FamilyConfig& c, Model& m) {
    m.layers = c.size({"num_hidden_layers"}, kMaxLayers);
    m.hidden = c.size({"hidden_size"}, kMaxWidth);
    m.heads = c.size({"num_attention_heads"}, kMaxHeads);
    m.kv_heads = m.heads;
    m.ffn_hidden = c.size({"intermediate_size"}, kMaxWidth);
    m.causal = false;
    m.norm = Norm::layer_norm;
    m.attention_bias = true;
    m.attention_out_bias = true;
    m.mlp_bias = true;
    read_head_dim(c, m);
}

void bert(FamilyConfig& c, Model& m) {
    read_encoder_core(c, m);
    m.vocab = c.size({"vocab_size"}, kMaxVocab);
    m.max_positions = c.size_or({"max_position_embeddings"}, kMaxPositions, 512);
    m.learned_positions = true;
    m.token_types = c.size_or({"type_vocab_size"}, kMaxVocab, 2);
    m.embedding_norm = true;
    m.final_norm = false;
    m.tied_embeddings = true;
    const std::string kind = architecture(c, "BertModel");
    m.mlm_head =
        kind == "BertForMaskedLM" || kind == "BertForPreTraining" || kind == "BertLMHeadModel";
    m.pooler = kind != "BertForMaskedLM" && kind != "BertLMHeadModel" &&
               kind != "BertForTokenClassification" && kind != "BertForQuestionAnswering";
    if (kind == "BertForPreTraining" || kind == "BertForNextSentencePrediction") m.classes = 2;
    if (kind == "BertForSequenceClassification" || kind == "BertForTokenClassification")
        m.classes = labels(c);
    if (kind == "BertForQuestionAnswering") m.classes = 2;
    m.assumptions.push_back(
        "counted as " + kind + (m.pooler ? ": with the pooler" : ": without the pooler") +
        (m.mlm_head ? ", with the masked-LM head" : ", without the masked-LM head"));
}

void vit(FamilyConfig& c, Model& m) {
    read_encoder_core(c, m);
    m.image_size = c.size_or({"image_size"}, 100'000, 224);
    m.patch_size = c.size_or({"patch_size"}, 100'000, 16);
    m.channels = c.size_or({"num_channels"}, 10'000, 3);
    if (m.patch_size > m.image_size) {
        c.error({"patch_size"},
                "patch size " + std::to_string(m.patch_size) + " is larger than image size " +
                    std::to_string(m.image_size),
                "use a patch that fits the image");
    }
    m.attention_bias = c.flag_or("qkv_bias", true);
    const std::string kind = architecture(c, "ViTModel");
    m.pooler = kind == "ViTModel";
    if (kind == "ViTForImageClassification") m.classes = labels(c);
    const int side = m.patch_size > 0 ? m.image_size / m.patch_size : 0;
    m.max_positions = side * side + 1;
    m.assumptions.push_back(
        "counted as " + kind + (m.pooler ? ": with the pooler" : ": without a pooler") +
        (m.classes > 0 ? ", with " + std::to_string(m.classes) + " classes" : ""));
}

}  // namespace

std::vector<Family> encoder_families() { return {{"bert", bert}, {"vit", vit}}; }

}  // namespace trainyard::workload
