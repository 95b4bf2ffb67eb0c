// Training commands: the mapping in each framework's words, and refusals.

#include "launch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ledger.hpp"
#include "test_recipe.hpp"

namespace trainyard::render {
namespace {

using workload::Zero;

Recipe dense(int tensor, int pipeline, int data) {
    Recipe r = test_recipe("p5.48xlarge", tensor * pipeline * data / 8, Purchase::on_demand);
    r.model.name = "m";
    r.model.layers = 32;
    r.model.hidden = 4096;
    r.model.heads = 32;
    r.model.kv_heads = 8;
    r.model.head_dim = 128;
    r.model.ffn_hidden = 14336;
    r.model.gated_mlp = true;
    r.training.parallel.tensor = tensor;
    r.training.parallel.pipeline = pipeline;
    r.training.parallel.data = data;
    r.training.parallel.zero = Zero::optimizer;
    r.training.micro_batch = 1;
    r.training.global_batch = 16 * data;
    return r;
}

Launch command(const Recipe& r, Framework f) {
    auto l = training_command(r, f, {"/data", "/ckpt", "/config"});
    EXPECT_TRUE(l.has_value()) << (l ? "" : format(l.error().diagnostics));
    return l ? *std::move(l) : Launch{};
}

/// The word behind an option; "" if it is a switch or the last, "absent" if it is not there.
std::string option(const Launch& l, const std::string& name) {
    const auto at = std::find(l.program.begin(), l.program.end(), "--" + name);
    if (at == l.program.end()) return "absent";
    return at + 1 == l.program.end() || (at + 1)->starts_with("--") ? "" : *(at + 1);
}

TEST(Launch, MegatronSaysTheWholeMapping) {
    Recipe r = dense(4, 4, 8);
    r.training.parallel.virtual_stages = 2;
    r.training.parallel.sequence_parallel = true;
    r.training.recompute = workload::Recompute::full;
    r.training.precision = catalog::Precision::fp8;
    const Launch l = command(r, Framework::megatron);
    EXPECT_EQ(option(l, "tensor-model-parallel-size"), "4");
    EXPECT_EQ(option(l, "pipeline-model-parallel-size"), "4");
    EXPECT_EQ(option(l, "num-virtual-stages-per-pipeline-rank"), "2");
    EXPECT_EQ(option(l, "sequence-parallel"), "");
    EXPECT_EQ(option(l, "use-distributed-optimizer"), "");
    EXPECT_EQ(option(l, "recompute-granularity"), "full");
    EXPECT_EQ(option(l, "fp8-format"), "hybrid");
    EXPECT_EQ(option(l, "num-query-groups"), "8");
    EXPECT_EQ(option(l, "use-megatron-fsdp"), "absent");
    EXPECT_EQ(option(l, "load"), "/ckpt");
    EXPECT_EQ(l.ranks_per_node, 8);
}

TEST(Launch, MegatronCutsUnevenStagesOrRefuses) {
    Recipe r = dense(8, 3, 1);
    r.nodes = 3;
    EXPECT_EQ(option(command(r, Framework::megatron), "decoder-last-pipeline-num-layers"), "10");
    r.model.layers = 4;  // 2 + 2 + 0
    EXPECT_FALSE(training_command(r, Framework::megatron, {}).has_value());
}

TEST(Launch, FsdpMeshIsTheMapping) {
    Recipe r = dense(1, 1, 32);
    r.training.parallel.zero = Zero::weights;
    r.training.parallel.shard_group = 8;
    const Launch l = command(r, Framework::fsdp);
    ASSERT_EQ(l.files.size(), 1U);
    const std::string& text = l.files.front().content;
    EXPECT_NE(text.find("MESH = {\"replicate\": 4, \"shard\": 8, \"context\": 1, \"tensor\": 1}"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("GRADIENT_ACCUMULATION = 16"), std::string::npos);
    EXPECT_NE(text.find("RESHARD_AFTER_FORWARD = True"), std::string::npos);
}

TEST(Launch, DeepSpeedBatchesMultiply) {
    const Recipe r = dense(1, 1, 16);
    const Launch l = command(r, Framework::deepspeed);
    const auto config = doc::parse_json(l.files.front().content, "ds_config.json");
    ASSERT_TRUE(config.has_value());
    const auto number = [&](const char* key) { return config->find(key)->as_integer(); };
    EXPECT_EQ(number("train_batch_size"), number("train_micro_batch_size_per_gpu") *
                                              number("gradient_accumulation_steps") * 16);
    EXPECT_EQ(config->find("zero_optimization")->find("stage")->as_integer(), 1);
}

TEST(Launch, RefusalsNameTheFrameworkThatCan) {
    const auto fix = [](const Recipe& r, Framework f) {
        const auto l = training_command(r, f, {});
        return l ? "rendered" : l.error().diagnostics.front().fix;
    };
    EXPECT_EQ(fix(dense(1, 2, 16), Framework::fsdp), "--framework megatron");
    EXPECT_EQ(fix(dense(1, 2, 16), Framework::deepspeed), "--framework megatron");
    EXPECT_EQ(fix(dense(1, 1, 32), Framework::nxd), "--framework deepspeed");
    Recipe lora = dense(1, 1, 32);
    lora.training.lora = workload::Lora{};
    EXPECT_EQ(fix(lora, Framework::megatron), "--framework fsdp");
}

// Trainium1 has two cores a chip: a plan of TP 8 over chips is TP 16 over 32 processes a node.
TEST(Launch, NxdCountsCores) {
    Recipe r = test_recipe("trn1.32xlarge", 2, Purchase::on_demand);
    r.model.heads = 32;
    r.model.kv_heads = 8;
    r.model.layers = 32;
    r.training.parallel.tensor = 8;
    r.training.parallel.data = 4;
    r.training.parallel.zero = Zero::optimizer;
    const Launch l = command(r, Framework::nxd);
    EXPECT_EQ(l.ranks_per_node, 32);
    const auto config = doc::parse_yaml(l.files.front().content, "nxd.yaml");
    ASSERT_TRUE(config.has_value());
    const doc::Node& s = *config->find("distributed_strategy");
    EXPECT_EQ(s.find("tensor_model_parallel_size")->as_integer(), 16);
    EXPECT_EQ(s.find("kv_replicator")->as_integer(), 2);
    EXPECT_EQ(config->find("trainer")->find("devices")->as_integer(), 32);
    r.training.parallel.zero = Zero::weights;
    EXPECT_FALSE(training_command(r, Framework::nxd, {}).has_value());
}

TEST(Ledger, EveryRowHasASourceADateAndAReason) {
    ASSERT_FALSE(versions().empty());
    for (const Version& v : versions()) {
        EXPECT_FALSE(v.value.empty()) << v.key;
        EXPECT_FALSE(v.provenance.source.empty()) << v.key;
        EXPECT_FALSE(v.provenance.as_of.empty()) << v.key;
    }
    for (const char* type : {"p4d.24xlarge", "p5.48xlarge", "g6.48xlarge", "trn1.32xlarge"}) {
        for (Framework f : {Framework::fsdp, Framework::megatron, Framework::nxd}) {
            for (const EnvVariable& e : environment(test_recipe(type, 2, Purchase::spot), f)) {
                EXPECT_FALSE(e.why.empty() || e.needs.empty() || e.source.empty()) << e.name;
            }
        }
    }
}

TEST(Ledger, VariablesGoWhereTheyAreNeeded) {
    const auto has = [](const Recipe& r, Framework f, const std::string& name) {
        const auto all = environment(r, f);
        return std::any_of(all.begin(), all.end(), [&](const auto& e) { return e.name == name; });
    };
    Recipe one = test_recipe("p5.48xlarge", 1, Purchase::on_demand);
    EXPECT_TRUE(environment(one, Framework::fsdp).empty());  // defaults are right
    EXPECT_TRUE(has(dense(4, 1, 4), Framework::megatron, "CUDA_DEVICE_MAX_CONNECTIONS"));
    EXPECT_FALSE(has(dense(1, 1, 16), Framework::megatron, "CUDA_DEVICE_MAX_CONNECTIONS"));
    const Recipe trn = test_recipe("trn1.32xlarge", 2, Purchase::on_demand);
    EXPECT_TRUE(has(trn, Framework::nxd, "FI_PROVIDER"));
}

}  // namespace
}  // namespace trainyard::render
