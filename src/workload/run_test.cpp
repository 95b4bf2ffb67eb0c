// run.yaml: degrees under both spellings, completion from the machine, and broken laws at their
// place.

#include <gtest/gtest.h>

#include "trainyard/workload/job.hpp"

namespace trainyard::workload {
namespace {

using TrainingRun = Run;  // inside a test body, Run is testing::Test::Run

Result<TrainingRun> run(const std::string& yaml) {
    const Result<doc::Node> root = doc::parse_yaml(yaml, "run.yaml");
    if (!root) return root.error();
    return read_run(*root);
}

constexpr const char* kRun = R"(model: llama-3.1-70b
sequence: 8192
micro_batch: 1
global_batch: 512
recompute: selective
parallel: {tensor: 8, pipeline: 4, virtual_stages: 5, sequence_parallel: yes, zero: 1}
instance: p5.48xlarge
nodes: 8
)";

TEST(Run, ReadAndCompleted) {
    const Result<TrainingRun> r = run(kRun);
    ASSERT_TRUE(r.has_value()) << format(r.error().diagnostics);
    EXPECT_EQ(r->training.parallel.data, 0);  // not said: follows from the machine
    EXPECT_EQ(r->training.recompute, Recompute::selective);
    EXPECT_EQ(r->training.parallel.zero, Zero::optimizer);
    EXPECT_TRUE(r->training.parallel.sequence_parallel);
    const Result<TrainingRun> whole = complete_run(*r, 8);
    ASSERT_TRUE(whole.has_value()) << format(whole.error().diagnostics);
    EXPECT_EQ(whole->accelerators, 64);
    EXPECT_EQ(whole->training.parallel.data, 2);  // 64 / (8 * 4)
    EXPECT_EQ(whole->training.micro_batches(), 256);
}

TEST(Run, ShortSpellingsAndDefaults) {
    const Result<TrainingRun> r =
        run("{model: gpt2, seq: 1024, mbs: 4, parallel: {dp: 8, zero: fsdp}, accelerator: A100-40, "
            "accelerators: 8}");
    ASSERT_TRUE(r.has_value()) << format(r.error().diagnostics);
    const Result<TrainingRun> whole = complete_run(*r, 8);
    ASSERT_TRUE(whole.has_value());
    EXPECT_EQ(whole->training.global_batch, 32);  // no accumulation
    EXPECT_EQ(whole->training.parallel.zero, Zero::weights);
    ASSERT_EQ(whole->assumptions.size(), 1U);
}

TEST(Run, GlobalBatchInTokensIsRoundedToWholePasses) {
    const Result<TrainingRun> r =
        run("{model: gpt2, seq: 1024, mbs: 2, gbs: 0.25M tokens, parallel: {dp: 16}, instance: "
            "p4d.24xlarge, nodes: 2}");
    const Result<TrainingRun> whole = complete_run(*r, 8);
    ASSERT_TRUE(whole.has_value()) << format(whole.error().diagnostics);
    EXPECT_EQ(whole->training.global_batch, 256);  // 244.1 sequences, to the nearest multiple of 32
    EXPECT_FALSE(complete_run(*run("{model: gpt2, seq: 1024, mbs: 64, gbs: 1k tokens, parallel: "
                                   "{dp: 16}, instance: x, nodes: 2}"),
                              8));
}

TEST(Run, TrainiumCountsTwoDevicesPerChip) {
    const Result<TrainingRun> r =
        run("{model: llama-2-7b, seq: 4096, gbs: 256, parallel: {tp: 8, zero: 1}, instance: "
            "trn1.32xlarge, nodes: 2}");
    EXPECT_EQ(complete_run(*r, 16, 2)->training.parallel.data, 8);  // 2 * 16 * 2 / 8
}

TEST(RunBad, BrokenLawsBecomeDiagnostics) {
    const Result<TrainingRun> r = run(
        "model: llama-3.1-8b\nseq: 4096\nparallel: {tp: 16}\ninstance: p5.48xlarge\nnodes: 2\n");
    ASSERT_TRUE(r.has_value());
    const Result<TrainingRun> whole = complete_run(*r, 8);
    ASSERT_FALSE(whole.has_value());
    ASSERT_EQ(whole.error().diagnostics.size(), 1U);
    EXPECT_EQ(format(whole.error().diagnostics[0]),
              "run.yaml:3:16: error: TP 16 does not divide 8 KV heads\n"
              "  why: rule tp-kv-heads\n"
              "  fix: use TP 1, 2, 4 or 8, or set kv_replication if the stack copies KV heads\n");
}

TEST(RunBad, ProductsThatDoNotMatchTheMachine) {
    const Result<TrainingRun> wrong =
        complete_run(*run("{model: gpt2, seq: 64, parallel: {dp: 3}, instance: p5.48xlarge}"), 8);
    ASSERT_FALSE(wrong.has_value());
    EXPECT_EQ(wrong.error().diagnostics[0].what, "TP 1 x PP 1 x CP 1 x DP 3 is not 8 devices");
    EXPECT_EQ(wrong.error().diagnostics[0].fix, "use DP 8, or leave data out");
    EXPECT_FALSE(
        complete_run(*run("{model: gpt2, seq: 64, parallel: {tp: 3}, instance: p5.48xlarge}"), 8));
    EXPECT_FALSE(complete_run(
        *run("{model: gpt2, seq: 64, instance: p5.48xlarge, nodes: 2, accelerators: 8}"), 8));
    EXPECT_FALSE(complete_run(
        *run("{model: gpt2, seq: 64, parallel: {tp: 1000000, pp: 1000000, cp: 1000000}, "
             "accelerator: A100-40, accelerators: 8}"),
        8));
    EXPECT_FALSE(complete_run(*run("{model: gpt2, seq: 64, instance: p5.48xlarge, nodes: 1000000}"),
                              1000000));
}

TEST(RunBad, Values) {
    const std::pair<const char*, const char*> cases[] = {
        {"{model: gpt2, parallel: {dp: 8}, instance: p5.48xlarge}", "sequence is missing"},
        {"{model: gpt2, seq: 64}", "nothing says where it runs"},
        {"{model: gpt2, seq: 64, instance: a, accelerator: b, accelerators: 8}", "both given"},
        {"{model: gpt2, seq: 64, accelerator: A100-40}", "accelerators is missing"},
        {"{model: gpt2, seq: 64, instance: a, parallel: {zero: 4}}", "no ZeRO stage"},
        {"{model: gpt2, seq: 64, instance: a, parallel: {tp: 0}}", "tp"},
        {"{model: gpt2, seq: 64, instance: a, parallel: {tp: 2, tensor: 2}}", "same setting"},
        {"{model: gpt2, seq: 64, instance: a, parallel: [8]}", "must be a map"},
        {"{model: gpt2, seq: 64, instance: a, parralel: {tp: 2}}", "parralel"},
        {"{seq: 64, instance: a}", "model is missing"},
        {"{model: gpt2, seq: 64, instance: a, recompute: sometimes}", "recompute"},
        {"[1]", "must be a map"},
    };
    for (const auto& [yaml, what] : cases) {
        const Result<TrainingRun> r = run(yaml);
        ASSERT_FALSE(r.has_value()) << yaml;
        ASSERT_EQ(r.error().diagnostics.size(), 1U) << format(r.error().diagnostics);
        EXPECT_NE(format(r.error().diagnostics[0]).find(what), std::string::npos)
            << format(r.error().diagnostics);
        EXPECT_GT(r.error().diagnostics[0].where.line, 0) << yaml;
    }
}

}  // namespace
}  // namespace trainyard::workload
