// config.json: good ones of each naming style, and every bad one with exactly one diagnostic at its
// place.

#include <gtest/gtest.h>

#include <string>

#include "trainyard/workload/model.hpp"

namespace trainyard::workload {
namespace {

Result<Model> import(const std::string& text) {
    const Result<doc::Node> root = doc::parse_json(text, "config.json");
    if (!root) return root.error();
    return import_hf_config(*root);
}

constexpr const char* kLlama = R"({
  "architectures": ["LlamaForCausalLM"],
  "hidden_size": 4096,
  "intermediate_size": 14336,
  "max_position_embeddings": 131072,
  "model_type": "llama",
  "num_attention_heads": 32,
  "num_hidden_layers": 32,
  "num_key_value_heads": 8,
  "rope_scaling": {"factor": 8.0, "rope_type": "llama3"},
  "tie_word_embeddings": false,
  "vocab_size": 128256
}
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

/// Asserts one diagnostic at line:column whose text contains `what`.
void expect_one(const std::string& text, int line, int column, const std::string& what) {
    const Result<Model> m = import(text);
    ASSERT_FALSE(m.has_value()) << text;
    EXPECT_EQ(m.error().kind, ErrorKind::bad_input);
    const std::vector<Diagnostic>& all = m.error().diagnostics;
    ASSERT_EQ(all.size(), 1U) << format(all);
    EXPECT_EQ(all[0].where.file, "config.json");
    EXPECT_EQ(all[0].where.line, line) << format(all);
    EXPECT_EQ(all[0].where.column, column) << format(all);
    EXPECT_NE(all[0].what.find(what), std::string::npos) << format(all);
    EXPECT_FALSE(all[0].fix.empty()) << format(all);
}

TEST(HfConfig, Llama) {
    const Result<Model> m = import(kLlama);
    ASSERT_TRUE(m.has_value()) << format(m.error().diagnostics);
    EXPECT_EQ(m->family, "llama");
    EXPECT_EQ(m->origin, "config.json");
    EXPECT_EQ(m->kv_heads, 8);
    EXPECT_EQ(m->head_dim, 128);
    EXPECT_TRUE(m->assumptions.empty());
    EXPECT_EQ(count_parameters(*m).total, 8'030'261'248);
}

TEST(HfConfig, ArchitecturesStandInForAMissingModelType) {
    const Result<Model> m = import(with(kLlama, "  \"model_type\": \"llama\",\n", ""));
    ASSERT_TRUE(m.has_value());
    EXPECT_EQ(m->family, "llama");
    const Result<Model> neox =
        import(R"({"architectures": ["GPTNeoXForCausalLM"], "hidden_size": 512,
        "num_hidden_layers": 6, "num_attention_heads": 8,
        "intermediate_size": 2048, "vocab_size": 50304})");
    ASSERT_TRUE(neox.has_value()) << format(neox.error().diagnostics);
    EXPECT_EQ(count_parameters(*neox).total, 70'426'624);  // Pythia-70M
}

TEST(HfConfig, BothSpellingsOfGpt2Keys) {
    const Result<Model> m =
        import(R"({"model_type": "gpt2", "num_hidden_layers": 12, "hidden_size": 768,
        "num_attention_heads": 12, "vocab_size": 50257, "n_positions": 1024, "n_inner": null})");
    ASSERT_TRUE(m.has_value()) << format(m.error().diagnostics);
    EXPECT_EQ(count_parameters(*m).total, 124'439'808);
}

TEST(HfConfig, DefaultsAsInTransformers) {
    const Result<Model> m = import(with(kLlama, "  \"num_key_value_heads\": 8,\n", ""));
    ASSERT_TRUE(m.has_value());
    EXPECT_EQ(m->kv_heads, 32);  // absent: one per head
    const Result<Model> gemma =
        import(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text",
        "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
        "sliding_window": 1024}})");
    ASSERT_TRUE(gemma.has_value()) << format(gemma.error().diagnostics);
    EXPECT_EQ(count_parameters(*gemma).total,
              3'880'263'168);  // the published file leaves out heads and vocabulary
    ASSERT_EQ(gemma->assumptions.size(), 1U);
    EXPECT_NE(gemma->assumptions[0].find("text_config"), std::string::npos);
}

TEST(HfConfig, LlmFoundryMptWithBiasesAndLearnedPositions) {
    // MosaicML llm-foundry's benchmark table counts 6,658,859,008 for its MPT-7b yaml (2,048
    // positions, biases).
    const Result<Model> m =
        import(R"({"model_type": "mpt", "d_model": 4096, "n_layers": 32, "n_heads": 32,
        "vocab_size": 50368, "max_seq_len": 2048, "no_bias": false,
        "attn_config": {"alibi": false}})");
    ASSERT_TRUE(m.has_value()) << format(m.error().diagnostics);
    EXPECT_EQ(count_parameters(*m).total, 6'658'859'008);
}

TEST(HfConfig, BertHeadsFollowTheArchitecture) {
    const std::string base =
        R"({"model_type": "bert", "architectures": ["BertForMaskedLM"], "hidden_size": 768,
        "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
        "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2})";
    // BertModel without pooler 108,891,648 + head 768*768 + 768 + 1536 + 30522
    EXPECT_EQ(count_parameters(*import(base)).total, 109'514'298);
    EXPECT_EQ(count_parameters(*import(with(base, "BertForMaskedLM", "BertModel"))).total,
              109'482'240);
    // The checkpoint: pooler, masked-LM head, next-sentence head
    EXPECT_EQ(count_parameters(*import(with(base, "BertForMaskedLM", "BertForPreTraining"))).total,
              110'106'428);
    EXPECT_EQ(
        count_parameters(*import(with(base, "BertForMaskedLM", "BertForSequenceClassification")))
            .total,
        109'483'778);  // + 2 * 768 + 2
}

TEST(HfConfig, SlidingWindowFromLayerTypes) {
    const std::string qwen = R"({"model_type": "qwen2", "hidden_size": 64, "num_hidden_layers": 4,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128,
        "vocab_size": 100,
        "use_sliding_window": true, "sliding_window": 16, "max_window_layers": 1,
        "layer_types": ["full_attention", "sliding_attention", "full_attention",
                        "sliding_attention"]})";
    EXPECT_EQ(import(qwen)->sliding_layers, 2);
    EXPECT_FALSE(import(with(qwen, "\"use_sliding_window\": true", "\"use_sliding_window\": false"))
                     ->sliding_window);
}

TEST(HfConfig, DeepSeekWithAFullQueryProjection) {
    const std::string lite =
        R"({"model_type": "deepseek_v2", "hidden_size": 2048, "num_hidden_layers": 27,
        "num_attention_heads": 16, "intermediate_size": 10944, "moe_intermediate_size": 1408,
        "n_routed_experts": 64,
        "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
        "q_lora_rank": null,
        "kv_lora_rank": 512, "vocab_size": 102400})";
    EXPECT_EQ(count_parameters(*import(lite)).total, 15'706'484'224);
    const Model every_other =
        *import(with(lite, "\"n_shared_experts\"", "\"moe_layer_freq\": 2, \"n_shared_experts\""));
    EXPECT_EQ(every_other.moe_layers(), 13);  // layers 2, 4, …, 26
}

TEST(HfConfigBad, Truncated) {
    expect_one(std::string(kLlama).substr(0, 60), 3, 18, "ends too early");
    expect_one("{\"model_type\": \"llama\"", 1, 23, "");
}

TEST(HfConfigBad, UnknownArchitecture) {
    const std::string text = with(kLlama, "\"llama\"", "\"lama\"");
    expect_one(text, 6, 17, "unknown model architecture \"lama\"");
    const Result<Model> m = import(text);
    EXPECT_EQ(m.error().diagnostics[0].fix, "did you mean \"llama\"?");
    EXPECT_NE(m.error().diagnostics[0].why.find("gpt_neox"), std::string::npos);
    expect_one(with(kLlama, "\"llama\"", "\"mamba2hybrid\""), 6, 17, "unknown model architecture");
    expect_one(with(kLlama, "\"llama\"", "7"), 6, 17, "model_type must be a string");
    expect_one("{\"hidden_size\": 4096}", 1, 1, "not a Hugging Face model config");
    expect_one("[1, 2]", 1, 1, "must be a map");
}

TEST(HfConfigBad, ZeroNegativeAndAbsurdSizes) {
    expect_one(with(kLlama, "\"num_hidden_layers\": 32", "\"num_hidden_layers\": 0"), 8, 24,
               "num_hidden_layers");
    expect_one(with(kLlama, "\"num_hidden_layers\": 32", "\"num_hidden_layers\": -32"), 8, 24,
               "num_hidden_layers");
    expect_one(with(kLlama, "\"num_hidden_layers\": 32", "\"num_hidden_layers\": 1000000000000"), 8,
               24, "out of range");
    expect_one(with(kLlama, "\"num_hidden_layers\": 32", "\"num_hidden_layers\": 1e12"), 8, 24,
               "out of range");
    expect_one(with(kLlama, "\"hidden_size\": 4096", "\"hidden_size\": 0"), 3, 18, "hidden_size");
    expect_one(with(kLlama, "\"num_attention_heads\": 32", "\"num_attention_heads\": 0"), 7, 26,
               "num_attention_heads");
    expect_one(with(kLlama, "\"vocab_size\": 128256", "\"vocab_size\": -1"), 12, 17, "vocab_size");
    expect_one(with(kLlama, "\"num_hidden_layers\": 32", "\"num_hidden_layers\": 31.5"), 8, 24,
               "whole number");
}

TEST(HfConfigBad, SizesThatTogetherAreAbsurd) {
    std::string text =
        with(kLlama, "\"hidden_size\": 4096", "\"hidden_size\": 1000000, \"head_dim\": 128");
    text = with(text, "\"intermediate_size\": 14336", "\"intermediate_size\": 1000000");
    text = with(text, "\"num_hidden_layers\": 32", "\"num_hidden_layers\": 10000");
    expect_one(text, 8, 24, "parameters");
}

TEST(HfConfigBad, StringsForNumbers) {
    expect_one(with(kLlama, "\"hidden_size\": 4096", "\"hidden_size\": \"4096\""), 3, 18,
               "hidden_size");
    expect_one(with(kLlama, "\"vocab_size\": 128256", "\"vocab_size\": [128256]"), 12, 17,
               "vocab_size");
    expect_one(with(kLlama, "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": \"no\""),
               11, 26, "tie_word_embeddings");
}

TEST(HfConfigBad, MissingSizes) {
    const Result<Model> m = import(with(kLlama, "  \"num_hidden_layers\": 32,\n", ""));
    ASSERT_FALSE(m.has_value());
    ASSERT_EQ(m.error().diagnostics.size(), 1U);
    EXPECT_NE(m.error().diagnostics[0].what.find("num_hidden_layers is missing"),
              std::string::npos);
}

TEST(HfConfigBad, EveryMistakeIsReported) {
    std::string text = with(kLlama, "\"hidden_size\": 4096", "\"hidden_size\": -1");
    text = with(text, "\"vocab_size\": 128256", "\"vocab_size\": \"many\"");
    const Result<Model> m = import(text);
    ASSERT_FALSE(m.has_value());
    EXPECT_EQ(m.error().diagnostics.size(), 2U) << format(m.error().diagnostics);
}

TEST(HfConfigBad, HeadsThatDoNotFit) {
    expect_one(with(kLlama, "\"num_attention_heads\": 32", "\"num_attention_heads\": 24"), 3, 18,
               "24 heads do not divide hidden size 4096");
    expect_one(with(kLlama, "\"num_key_value_heads\": 8", "\"num_key_value_heads\": 5"), 9, 26,
               "5 KV heads do not divide 32 heads");
    expect_one(with(kLlama, "\"num_key_value_heads\": 8", "\"num_key_value_heads\": 64"), 9, 26,
               "64 KV heads");
    // With head_dim the hidden size needs no divisor.
    EXPECT_TRUE(import(with(kLlama, "\"num_attention_heads\": 32",
                            "\"head_dim\": 128, \"num_attention_heads\": 24")));
}

TEST(HfConfigBad, MoreExpertsPerTokenThanExperts) {
    std::string text = with(kLlama, "\"llama\"", "\"mixtral\"");
    text = with(text, "\"vocab_size\"",
                "\"num_local_experts\": 4, \"num_experts_per_tok\": 8, \"vocab_size\"");
    expect_one(text, 12, 50, "8 experts per token, but the model has only 4 experts");
}

TEST(HfConfigBad, NotANumber) {
    expect_one(with(kLlama, "\"hidden_size\": 4096", "\"hidden_size\": NaN"), 3, 18, "NaN");
    expect_one("{\"model_type\": \"llama\xff\"}", 1, 22, "UTF-8");
}

TEST(HfConfigBad, TooLarge) {
    const std::string text =
        "{\"model_type\": \"llama\", \"junk\": \"" + std::string(17U << 20U, 'x') + "\"}";
    const Result<Model> m = import(text);
    ASSERT_FALSE(m.has_value());
    ASSERT_EQ(m.error().diagnostics.size(), 1U);
    EXPECT_NE(m.error().diagnostics[0].what.find("16 MiB"), std::string::npos)
        << m.error().diagnostics[0].what;
}

TEST(HfConfigBad, PatchLargerThanImage) {
    expect_one(
        R"({"model_type": "vit", "hidden_size": 768, "num_hidden_layers": 12,
 "num_attention_heads": 12, "intermediate_size": 3072, "image_size": 8, "patch_size": 16})",
        2, 87, "patch size 16");
}

}  // namespace
}  // namespace trainyard::workload
