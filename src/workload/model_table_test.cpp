// The built-in table against published counts, names and aliases, and {params: N}.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <set>

#include "trainyard/workload/model.hpp"

namespace trainyard::workload {
namespace {

TEST(ModelTable, EveryCountIsThePublishedOne) {
    int compared = 0;
    for (const KnownModel& k : known_models()) {
        if (k.published_parameters == 0) {
            EXPECT_EQ(k.status, "assumed") << k.name;
            continue;
        }
        const Result<Model> m = find_model(k.name);
        ASSERT_TRUE(m.has_value()) << k.name;
        const std::int64_t ours = count_parameters(*m).total + k.explained_difference;
        // Exact, unless the source itself prints a rounded number; then to half its last digit.
        EXPECT_LE(std::llabs(k.published_parameters - ours), k.rounding / 2)
            << k.name << " counts " << ours;
        ++compared;
    }
    EXPECT_GE(compared, 110);
    std::printf("%d published parameter counts compared\n", compared);
}

TEST(ModelTable, EveryDifferenceAndRoundingIsExplained) {
    for (const KnownModel& k : known_models()) {
        EXPECT_FALSE(k.source.empty()) << k.name;
        EXPECT_FALSE(k.as_of.empty()) << k.name;
        EXPECT_FALSE(k.explained_difference != 0 && k.note.empty()) << k.name;
        EXPECT_EQ(k.rounding > 0, k.status == "rounded") << k.name;
        EXPECT_TRUE((std::set<std::string>{"primary", "quoted", "rounded", "recalled", "assumed"})
                        .contains(k.status))
            << k.name;
    }
}

TEST(ModelTable, NamesAndAliasesAreFoundAndUnique) {
    std::set<std::string> seen;
    for (const KnownModel& k : known_models()) {
        EXPECT_TRUE(seen.insert(k.name).second) << k.name;
        for (const std::string& alias : k.aliases) {
            const Result<Model> m = find_model(alias);
            ASSERT_TRUE(m.has_value()) << alias;
            EXPECT_EQ(m->name, k.name) << alias;
        }
    }
}

TEST(ModelTable, NamesAsPeopleWriteThem) {
    const std::pair<const char*, const char*> cases[] = {
        {"llama-3.1-8b", "llama-3.1-8b"},
        {"meta-llama/Llama-3.1-8B", "llama-3.1-8b"},
        {"llama3.1:8b", "llama-3.1-8b"},
        {" Llama 3.1 8B ", "llama-3.1-8b"},
        {"gpt3-175b", "gpt3-175b"},
        {"bert-base", "bert-base-uncased"},
        {"mixtral-8x7b", "mixtral-8x7b"},
        {"gpt2", "gpt2"},
        {"gpt2-124M", "gpt2"},
        {"resnet50", "resnet-50"},
        {"405B dense", "llama-3.1-405b"},
        {"300M gpt", "gpt-300m"},
        {"13B llama-like 40L 5120h", "llama-2-13b"},
        {"7B llama-like", "llama-2-7b"},
        {"someone/llama-3.1-8b", "llama-3.1-8b"}};
    for (const auto& [written, name] : cases) {
        const Result<Model> m = find_model(written);
        ASSERT_TRUE(m.has_value()) << written;
        EXPECT_EQ(m->name, name) << written;
        EXPECT_EQ(m->origin, "built-in table");
    }
}

TEST(ModelTable, AnUnknownNameSuggestsTheNearest) {
    const Result<Model> m = find_model("lama-3.1-8b");
    ASSERT_FALSE(m.has_value());
    ASSERT_EQ(m.error().diagnostics.size(), 1U);
    EXPECT_EQ(m.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(m.error().diagnostics[0].what, "unknown model \"lama-3.1-8b\"");
    EXPECT_EQ(m.error().diagnostics[0].fix, "did you mean \"llama-3.1-8b\"?");
    const Result<Model> far = find_model("llama-9-900b-instruct-turbo");
    ASSERT_FALSE(far.has_value());
    EXPECT_NE(far.error().diagnostics[0].fix.find("--list"), std::string::npos);
    EXPECT_FALSE(find_model("").has_value());
}

TEST(ModelTable, MixtralActiveAndGemmaWindow) {
    const Model mixtral = *find_model("mixtral-8x7b");
    EXPECT_EQ(count_parameters(mixtral).active, 12'879'925'248);
    const Model gemma = *find_model("gemma-2-9b");
    EXPECT_EQ(gemma.sliding_window, 4096);
    EXPECT_EQ(gemma.sliding_layers, 21);                       // every other of 42
    EXPECT_EQ(find_model("gemma-3-27b")->sliding_layers, 52);  // 62 less every sixth, 10
    EXPECT_EQ(find_model("mistral-7b-v0.1")->sliding_layers, 32);
    EXPECT_FALSE(find_model("mistral-7b-v0.3")->sliding_window.has_value());
    EXPECT_FALSE(find_model("qwen2.5-7b")->sliding_window.has_value());
    EXPECT_EQ(find_model("gpt-oss-120b")->sliding_layers, 18);
    EXPECT_EQ(find_model("deepseek-v3")->moe_layers(), 58);
    EXPECT_EQ(find_model("llama-4-maverick")->moe_layers(), 24);
}

TEST(ParameterCountModel, ANominalSizeIsThePublishedShape) {
    const Model m = *model_from_parameter_count(7e9);
    EXPECT_EQ(m.layers, 32);  // Llama-2-7B: 6.74B, within 5 % of 7B
    EXPECT_EQ(m.hidden, 4096);
    EXPECT_EQ(m.ffn_hidden, 11008);
    ASSERT_EQ(m.assumptions.size(), 1U);
    EXPECT_EQ(m.assumptions[0],
              "shape of llama-2-7b: 32 layers, hidden 4096, 32 heads (32 KV), FFN 11008, "
              "vocabulary 32000, "
              "6.74B parameters");
    EXPECT_EQ(model_from_parameter_count(13e9)->hidden, 5120);
    EXPECT_EQ(model_from_parameter_count(70e9)->layers, 80);
    EXPECT_EQ(model_from_parameter_count(405e9)->layers, 126);
}

TEST(ParameterCountModel, OtherSizesAreScaledToFivePercent) {
    for (double params = 2e7; params < 9e13; params *= 1.37) {
        const Result<Model> m = model_from_parameter_count(params);
        ASSERT_TRUE(m.has_value()) << params;
        const double ours = static_cast<double>(count_parameters(*m).total);
        if (params < 1e8) continue;  // smaller: one embedding row too many is already percent
        EXPECT_NEAR(ours / params, 1, 0.051) << params;
        EXPECT_EQ(m->heads % m->kv_heads, 0) << params;
        EXPECT_EQ(m->hidden, m->heads * m->head_dim) << params;
    }
}

TEST(ParameterCountModel, AbsurdCountsAreRefused) {
    for (const double params : {0.0, -1.0, 1e5, 1e15, std::numeric_limits<double>::quiet_NaN(),
                                std::numeric_limits<double>::infinity()}) {
        EXPECT_FALSE(model_from_parameter_count(params).has_value()) << params;
    }
}

}  // namespace
}  // namespace trainyard::workload
