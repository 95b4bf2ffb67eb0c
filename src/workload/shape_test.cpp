// Shapes written by hand: styles, defaults that are named, mistakes at their place.

#include <gtest/gtest.h>

#include <algorithm>

#include "trainyard/workload/model.hpp"

namespace trainyard::workload {
namespace {

Result<Model> shape(const std::string& yaml) {
    const Result<doc::Node> root = doc::parse_yaml(yaml, "shape.yaml");
    if (!root) return root.error();
    return read_shape(*root);
}

TEST(Shape, LlamaStyleNamesWhatItAssumed) {
    const Result<Model> m = shape("{layers: 40, hidden: 5120, heads: 40}");
    ASSERT_TRUE(m.has_value()) << format(m.error().diagnostics);
    EXPECT_EQ(m->ffn_hidden, 13824);  // 8/3 * 5120 = 13653.3, up to a multiple of 256
    EXPECT_EQ(m->vocab, 32000);
    EXPECT_EQ(count_parameters(*m).total, 13'015'864'320);  // Llama-2-13B
    EXPECT_EQ(m->assumptions, (std::vector<std::string>{"FFN width 13824 (not given)",
                                                        "vocabulary 32000 (not given)",
                                                        "maximum positions 4096 (not given)"}));
}

TEST(Shape, GptStyle) {
    const Result<Model> m = shape(
        "{style: gpt, layers: 12, hidden: 768, heads: 12, vocab: 50257, max_positions: 1024, ffn: "
        "3072}");
    ASSERT_TRUE(m.has_value());
    EXPECT_EQ(count_parameters(*m).total, 124'439'808);  // GPT-2
    EXPECT_TRUE(m->assumptions.empty());
}

TEST(Shape, Experts) {
    const Result<Model> m = shape(
        "{layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn: 14336, vocab: 32000, experts: 8, "
        "experts_per_token: 2}");
    ASSERT_TRUE(m.has_value());
    EXPECT_EQ(count_parameters(*m).total, 46'702'792'704);  // Mixtral 8x7B
}

TEST(Shape, MistakesAreAllReported) {
    const Result<Model> m = shape("layers: 0\nhidden: 4096\nheads: ten\nlayres: 3\nstyle: lama\n");
    ASSERT_FALSE(m.has_value());
    const std::string text = format(m.error().diagnostics);
    EXPECT_EQ(m.error().diagnostics.size(), 4U) << text;
    EXPECT_NE(text.find("shape.yaml:1:9: error: layers"), std::string::npos) << text;
    EXPECT_NE(text.find("shape.yaml:3:8: error: heads"), std::string::npos) << text;
    EXPECT_NE(text.find("layers"), std::string::npos) << text;
    EXPECT_NE(text.find("llama"), std::string::npos) << text;
}

TEST(Shape, LawsBetweenSizes) {
    EXPECT_FALSE(shape("{layers: 2, hidden: 100, heads: 3}"));
    EXPECT_FALSE(shape("{layers: 2, hidden: 96, heads: 3, kv_heads: 2}"));
    EXPECT_FALSE(shape("{layers: 2, hidden: 96, heads: 3, expert_ffn: 12}"));  // no experts
    EXPECT_FALSE(shape("{layers: 2, hidden: 96, heads: 3, experts: 2, experts_per_token: 4}"));
    EXPECT_FALSE(shape(
        "{layers: 2, hidden: 96, heads: 3, experts: 2, experts_per_token: 1, dense_layers: 3}"));
    EXPECT_FALSE(shape("llama"));
    EXPECT_TRUE(shape("{layers: 2, hidden: 96, heads: 3}"));
}

}  // namespace
}  // namespace trainyard::workload
