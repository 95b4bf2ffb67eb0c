#include "row.hpp"

#include <gtest/gtest.h>

#include "test_runs.hpp"

namespace trainyard::validate {
namespace {

using test::with;

workload::Model model(std::initializer_list<std::pair<const char*, const char*>> changes) {
    const doc::CsvTable t = test::table_of({with(changes)});
    std::vector<std::string> assumptions;
    const auto m = model_of_row(Row(t, 0), assumptions);
    EXPECT_TRUE(m) << m.error();
    return m.value_or(workload::Model{});
}

std::string refusal(std::initializer_list<std::pair<const char*, const char*>> changes) {
    const doc::CsvTable t = test::table_of({with(changes)});
    std::vector<std::string> assumptions;
    const auto m = model_of_row(Row(t, 0), assumptions);
    return m ? "" : m.error();
}

TEST(Row, EmptyAndMalformedCellsAreUnknown) {
    const doc::CsvTable t = test::table_of({with({{"tp", ""},
                                                  {"pp", "two"},
                                                  {"dp", "-8"},
                                                  {"cp", "1.5"},
                                                  {"ep", "4"},
                                                  {"vp", "0"},
                                                  {"heads", "nan"},
                                                  {"n_accel", "1e300"}})});
    const Row r(t, 0);
    for (const char* column : {"tp", "pp", "dp", "cp", "vp", "heads", "n_accel"}) {
        EXPECT_FALSE(r.count(column)) << column;
    }
    EXPECT_EQ(r.count("ep"), 4);
    EXPECT_EQ(r.number("cp"), 1.5);
    EXPECT_FALSE(r.number("no such column"));
}

TEST(ModelOfRow, SaysTheShapeOfTheRow) {
    const workload::Model m = model({});
    EXPECT_EQ(m.layers, 24);
    EXPECT_EQ(m.hidden, 2048);
    EXPECT_EQ(m.head_dim, 128);
    EXPECT_EQ(m.vocab, 51200);
    EXPECT_TRUE(m.causal);
    EXPECT_FALSE(m.gated_mlp);
    EXPECT_TRUE(m.tied_embeddings);
}

TEST(ModelOfRow, SilentCellsHaveStatedDefaults) {
    const workload::Model m = model({{"kv_heads", ""}, {"ffn_hidden", ""}, {"vocab", ""}});
    EXPECT_EQ(m.kv_heads, 16);
    EXPECT_EQ(m.ffn_hidden, 4 * 2048);
    EXPECT_EQ(m.vocab, 51200);
    EXPECT_EQ(model({{"vocab", ""}, {"notes", "vocab ~250k"}}).vocab, 250880);
}

TEST(ModelOfRow, TheNameTellsTheKind) {
    EXPECT_TRUE(model({{"model_name", "Llama2-7B"}}).gated_mlp);
    EXPECT_EQ(model({{"model_name", "Llama2-7B"}}).norm, workload::Norm::rms_norm);
    EXPECT_FALSE(model({{"model_name", "BERT-large"}}).causal);
    const workload::Model vit = model({{"model_name", "ViT-L"}});
    EXPECT_FALSE(vit.causal);
    EXPECT_EQ(vit.vocab, 0);
    EXPECT_EQ(vit.classes, 1000);
}

TEST(ModelOfRow, ExpertsMakeAMixture) {
    const workload::Model m =
        model({{"model_name", "a mixture"}, {"moe_experts", "12"}, {"moe_topk", "3"}});
    ASSERT_TRUE(m.moe);
    EXPECT_EQ(m.moe->experts, 12);
    EXPECT_EQ(m.moe->experts_per_token, 3);
    EXPECT_EQ(m.moe->expert_ffn_hidden, 8192);
}

TEST(ModelOfRow, DenseShapesBorrowOnlyWhenTheRowSaysSo) {
    // 32 x 4,096 x 32 heads, 8 KV heads, FFN 14,336, 128,256 words is Llama 3.1 8B.
    const std::initializer_list<std::pair<const char*, const char*>> llama = {
        {"model_name", "some 8B"}, {"layers", "32"},        {"hidden", "4096"}, {"heads", "32"},
        {"kv_heads", "8"},         {"ffn_hidden", "14336"}, {"vocab", "128256"}};
    EXPECT_EQ(model(llama).origin, "row");
    test::Cells cells = with(llama);
    cells["notes"] = "ARCH:public-config";
    const doc::CsvTable t = test::table_of({cells});
    std::vector<std::string> assumptions;
    const auto m = model_of_row(Row(t, 0), assumptions);
    ASSERT_TRUE(m);
    EXPECT_EQ(m->family, "llama");
    EXPECT_TRUE(m->gated_mlp);
}

TEST(ModelOfRow, MixturesBorrowByShape) {
    // 32 x 4,096 x 32 heads with 8 experts is Mixtral 8x7B.
    const workload::Model m = model({{"model_name", "Mixtral 8x7B"},
                                     {"layers", "32"},
                                     {"hidden", "4096"},
                                     {"heads", "32"},
                                     {"kv_heads", "8"},
                                     {"ffn_hidden", "14336"},
                                     {"vocab", "32000"},
                                     {"moe_experts", "8"},
                                     {"moe_topk", "2"}});
    EXPECT_EQ(m.family, "mixtral");
    ASSERT_TRUE(m.moe);
    EXPECT_EQ(m.moe->expert_ffn_hidden, 14336);
}

TEST(ModelOfRow, RefusesWhatHasNoShape) {
    EXPECT_EQ(refusal({{"layers", ""}}), "the model's shape is not stated");
    EXPECT_EQ(refusal({{"hidden", "many"}}), "the model's shape is not stated");
    EXPECT_EQ(refusal({{"heads", "17"}}), "heads do not divide the hidden size");
    EXPECT_NE(refusal({{"layers", "100000000"}, {"hidden", "100000000"}, {"ffn_hidden", ""}})
                  .find("10^15"),
              std::string::npos);
}

}  // namespace
}  // namespace trainyard::validate
