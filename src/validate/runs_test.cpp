#include "trainyard/validate/runs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "test_runs.hpp"
#include "trainyard/validate/score.hpp"

namespace trainyard::validate {
namespace {

using test::observed;
using test::with;
using workload::Recompute;
using workload::Zero;

std::string skipped(std::initializer_list<std::pair<const char*, const char*>> changes) {
    return observed(with(changes)).skipped;
}

TEST(ReadRuns, ACompleteRow) {
    const Observation o = observed(test::complete());
    EXPECT_TRUE(o.skipped.empty()) << o.skipped;
    EXPECT_EQ(o.id, "row-1");
    EXPECT_EQ(o.quantity, Quantity::step_time);
    ASSERT_TRUE(o.step);
    EXPECT_EQ(*o.step / kSecond, 2.0);
    EXPECT_EQ(o.training.parallel.data, 8);
    EXPECT_EQ(o.training.stack, "megatron-core");
    EXPECT_EQ(o.cluster.accelerators, 8);
    EXPECT_FALSE(o.recompute_unknown);
    EXPECT_EQ(o.group, "row-1");  // its own group where the notes name none
}

TEST(ReadRuns, AMissingColumnIsOneDiagnosticWithItsPlace) {
    const auto t = doc::parse_csv("id,layers,hidden\na,1,2\n", "my.csv");
    ASSERT_TRUE(t);
    const auto runs = read_runs(*t, test::embedded_catalog());
    ASSERT_FALSE(runs);
    EXPECT_EQ(runs.error().kind, ErrorKind::bad_input);
    const std::string text = format(runs.error().diagnostics);
    EXPECT_EQ(text.rfind("my.csv:1", 0), 0U) << text;
    EXPECT_NE(text.find("\"heads\""), std::string::npos) << text;
    EXPECT_NE(text.find("runs-csv.md"), std::string::npos) << text;
}

TEST(ReadRuns, WhatIsMissingIsTheReasonForSkipping) {
    EXPECT_EQ(skipped({{"layers", ""}}), "the model's shape is not stated");
    EXPECT_EQ(skipped({{"n_accel", ""}}), "the number of accelerators is not stated");
    EXPECT_EQ(skipped({{"seq_len", ""}}), "the sequence length is not stated");
    EXPECT_EQ(skipped({{"global_batch_seqs", ""}}), "the global batch is not stated");
    EXPECT_EQ(skipped({{"micro_batch", ""}}), "the micro-batch is not stated");
    EXPECT_EQ(skipped({{"precision", ""}}), "the precision is not stated");
    EXPECT_EQ(skipped({{"accelerator", "Z900"}}), "accelerator \"Z900\" is not in the catalog");
    EXPECT_EQ(skipped({{"framework", "abacus"}}), "software stack \"abacus\" has no profile");
    EXPECT_EQ(skipped({{"dp", "4"}}), "tp x pp x dp x cp = 4 is not 8");
    EXPECT_EQ(skipped({{"dp", ""}, {"tp", "3"}}), "tp x pp x cp does not divide the accelerators");
    EXPECT_EQ(skipped({{"tp", "65536"}, {"pp", "65536"}, {"dp", ""}}),
              "tp x pp x dp x cp is larger than any cluster");
}

TEST(ReadRuns, DataParallelismFollowsFromTheRest) {
    const Observation o = observed(with({{"dp", ""}, {"tp", "2"}}));
    EXPECT_EQ(o.training.parallel.data, 4);
}

TEST(ReadRuns, AMicroBatchIsNoMoreThanARanksShare) {
    const Observation o = observed(with({{"micro_batch", "64"}}));
    EXPECT_EQ(o.training.micro_batch, 8);  // 64 sequences over 8 replicas
}

TEST(ReadRuns, StepTimeFromWhatWasMeasured) {
    // 64 x 2,048 tokens at 1,000 tokens/s on each of 8: 16.384 s.
    const Observation rate =
        observed(with({{"measured_step_s", ""}, {"measured_tokens_per_s_per_accel", "1000"}}));
    EXPECT_EQ(rate.quantity, Quantity::tokens_per_second);
    EXPECT_NEAR(*rate.step / kSecond, 16.384, 1e-9);
    // A step time that the collector derived from tokens/s is that one measurement.
    EXPECT_EQ(observed(with({{"notes", "DERIVED:step_s=GBS*seq/rate"}})).quantity,
              Quantity::tokens_per_second);
    // 72 B L s h^2 (1 + s / 6h + V / 12hL) FLOP at 100 TFLOP/s on each of 8.
    const double flop = 72.0 * 64 * 24 * 2048 * 2048 * 2048 *
                        (1 + 2048 / (6.0 * 2048) + 51200 / (12.0 * 2048 * 24));
    const Observation tflops =
        observed(with({{"measured_step_s", ""}, {"measured_tflops_per_accel", "100"}}));
    EXPECT_EQ(tflops.quantity, Quantity::tflops);
    EXPECT_NEAR(*tflops.step / kSecond / (flop / 8e14), 1, 1e-9);
    const Observation mfu = observed(with({{"measured_step_s", ""}, {"measured_mfu", "0.5"}}));
    EXPECT_EQ(mfu.quantity, Quantity::mfu);
    EXPECT_NEAR(*mfu.step / kSecond / (flop / (0.5 * 8 * 312e12)), 1, 1e-9);
}

TEST(ReadRuns, HardwareFlopCountTheRecomputation) {
    const auto step = [](const char* notes) {
        return *observed(with({{"measured_step_s", ""},
                               {"measured_tflops_per_accel", "100"},
                               {"recompute", "full"},
                               {"notes", notes}}))
                    .step /
               kSecond;
    };
    // Forward again: 4/3 of the layers' FLOP, 96 (...V / 16hL) against 72 (...V / 12hL).
    const double model = 72 * (1 + 1 / 6.0 + 51200 / (12.0 * 2048 * 24));
    const double hardware = 96 * (1 + 1 / 6.0 + 51200 / (16.0 * 2048 * 24));
    EXPECT_NEAR(step("HWFLOPS") / step(""), hardware / model, 1e-9);
}

TEST(ReadRuns, MemoryUnitsFollowTheNotes) {
    EXPECT_EQ(*observed(with({{"measured_peak_mem_gb", "40"}})).memory / kGB, 40);
    EXPECT_EQ(
        *observed(with({{"measured_peak_mem_gb", "40"}, {"notes", "reserved GiB"}})).memory / kGiB,
        40);
    // A figure summed over a node is no device's peak.
    EXPECT_FALSE(
        observed(with({{"measured_peak_mem_gb", "320"}, {"notes", "MEM_PRINTED"}})).memory);
}

TEST(ReadRuns, OutOfMemoryRowsArePredictedWithoutAStep) {
    const std::vector<Observation> runs = {
        observed(with({{"measured_step_s", ""}, {"notes", "OUTCOME:OOM"}}))};
    EXPECT_TRUE(runs[0].ran_out_of_memory);
    EXPECT_FALSE(runs[0].step);
    const std::vector<Scored> scored = score(runs, perf::default_constants());
    EXPECT_TRUE(scored[0].skipped.empty());
    EXPECT_TRUE(scored[0].predicted_memory);
    EXPECT_FALSE(scored[0].error);
    // Without the outcome there is nothing to compare.
    const std::vector<Observation> silent = {observed(with({{"measured_step_s", ""}}))};
    EXPECT_EQ(score(silent, perf::default_constants())[0].skipped,
              "nothing was measured that can be compared");
}

TEST(ReadRuns, NeuronCoresAreMergedIntoChips) {
    // 16 chips hold 32 cores: TP 8 x DP 4 cores are TP 4 x DP 4 chips.
    const Observation o = observed(with({{"accelerator", "Trn1"},
                                         {"framework", "AWS Neuron 2.20"},
                                         {"n_accel", "16"},
                                         {"accel_per_node", "16"},
                                         {"tp", "8"},
                                         {"dp", "4"}}));
    EXPECT_TRUE(o.skipped.empty()) << o.skipped;
    EXPECT_EQ(o.training.parallel.tensor, 4);
    EXPECT_EQ(o.training.parallel.devices(), 16);
}

TEST(ReadRuns, GroupsEndAtTheSemicolon) {
    EXPECT_EQ(observed(with({{"notes", "a; GROUP:sweep-1; b"}})).group, "sweep-1");
    EXPECT_EQ(observed(with({{"notes", "GROUP:sweep-2"}})).group, "sweep-2");
}

TEST(ReadRuns, ShardingWordsOfTheSources) {
    const auto zero = [](const char* text, const char* framework) {
        return observed(with({{"zero_stage_or_fsdp", text}, {"framework", framework}}))
            .training.parallel.zero;
    };
    EXPECT_EQ(zero("fsdp-full_shard(ZeRO-3)", "llm-foundry"), Zero::weights);
    EXPECT_EQ(zero("shard_grad_op", "llm-foundry"), Zero::gradients);
    EXPECT_EQ(zero("ZeRO-1", "Megatron-LM"), Zero::optimizer);
    EXPECT_EQ(zero("ZeRO-0", "Megatron-LM"), Zero::none);
    // Not stated: what the stack does by default.
    EXPECT_EQ(zero("", "Megatron-LM 2021"), Zero::none);
    EXPECT_EQ(zero("", "NeMo"), Zero::optimizer);
    EXPECT_EQ(
        observed(with({{"zero_stage_or_fsdp", "hsdp full shard=4"}})).training.parallel.shard_group,
        4);
}

TEST(ReadRuns, UnknownRecomputeIsTheLightestThatFits) {
    const Observation o = observed(with({{"recompute", ""}}));
    EXPECT_TRUE(o.recompute_unknown);
    EXPECT_FALSE(o.assumptions.empty());
    const std::vector<Observation> runs = {
        o, observed(with({{"recompute", "none"}})),
        observed(with({{"recompute", ""}, {"micro_batch", "8"}, {"seq_len", "8192"}})),
        observed(with({{"recompute", "none"}, {"micro_batch", "8"}, {"seq_len", "8192"}})),
        observed(with({{"recompute", "full"}, {"micro_batch", "8"}, {"seq_len", "8192"}}))};
    const std::vector<Scored> s = score(runs, perf::default_constants());
    // Fits without recomputation: the same prediction.
    EXPECT_EQ(*s[0].predicted_step / kSecond, *s[1].predicted_step / kSecond);
    // Does not fit: between none and full, and exactly full memory.
    ASSERT_FALSE(s[3].fits);
    ASSERT_TRUE(s[4].fits);
    EXPECT_GT(*s[2].predicted_step, *s[3].predicted_step);
    EXPECT_LT(*s[2].predicted_step, *s[4].predicted_step);
    EXPECT_TRUE(s[2].fits);
}

TEST(ReadRuns, WhereNothingFitsUnknownRecomputeIsNone) {
    // 1.3B x 40 of width: the states alone exceed 80 GB, recomputation cannot be what saved them.
    const std::vector<Observation> runs = {
        observed(with({{"recompute", ""}, {"hidden", "16384"}})),
        observed(with({{"recompute", "none"}, {"hidden", "16384"}}))};
    const std::vector<Scored> s = score(runs, perf::default_constants());
    ASSERT_FALSE(s[1].fits);
    EXPECT_EQ(*s[0].predicted_step / kSecond, *s[1].predicted_step / kSecond);
}

TEST(ReadRuns, LayerInputsThatCannotHaveBeenKeptAreInHostMemory) {
    // 400 layer inputs of 131,072 x 1,024 x 2 bytes are 107 GB.
    const auto big = [](const char* id, const char* notes) {
        return observed(with({{"id", id},
                              {"recompute", "full"},
                              {"notes", notes},
                              {"layers", "400"},
                              {"hidden", "1024"},
                              {"ffn_hidden", "4096"},
                              {"vocab", "1024"},
                              {"micro_batch", "1"},
                              {"seq_len", "131072"},
                              {"zero_stage_or_fsdp", "zero-3"}}));
    };
    const std::vector<Observation> runs = {big("ran", ""), big("failed", "OUTCOME:OOM"),
                                           observed(with({{"recompute", "full"}}))};
    const std::vector<Scored> s = score(runs, perf::default_constants());
    EXPECT_TRUE(s[0].offloaded);
    EXPECT_TRUE(s[0].fits);
    EXPECT_GT(s[0].prediction.memory.offloaded / kGB, 10);
    // A run that failed kept what it kept; one that fits has nothing to offload.
    EXPECT_FALSE(s[1].offloaded);
    EXPECT_FALSE(s[1].fits);
    EXPECT_FALSE(s[2].offloaded);
}

TEST(ReadRuns, NotesOnOptimizerAndPackedDocuments) {
    EXPECT_EQ(observed(with({{"notes", "8-bit Adam (bitsandbytes)"}})).training.optimizer,
              workload::Optimizer::adamw_8bit);
    const Observation packed = observed(with({{"notes", "fine-tuning on packed SQuAD"}}));
    EXPECT_EQ(packed.model.sliding_window, 100);
    EXPECT_EQ(packed.model.sliding_layers, packed.model.layers);
    EXPECT_FALSE(packed.assumptions.empty());
}

TEST(ReadRuns, TheNetworkOfTheRowOrTheReferenceDesign) {
    const std::initializer_list<std::pair<const char*, const char*>> two_nodes = {{"n_accel", "16"},
                                                                                  {"dp", "16"}};
    test::Cells cells = with(two_nodes);
    // A100 reference design: one 200 Gbit/s port per GPU.
    EXPECT_NEAR(observed(cells).cluster.inter.per_node / kGBPerSecond, 8 * 25, 1e-9);
    EXPECT_EQ(observed(cells).cluster.inter.fabric, perf::Fabric::infiniband);
    EXPECT_EQ(observed(cells).assumptions.back(),
              "network not stated: the vendor's reference design");
    cells["inter_node_gbps_per_node"] = "400";
    EXPECT_NEAR(observed(cells).cluster.inter.per_node / kGBPerSecond, 50, 1e-9);
    cells["notes"] = "Omni-Path";
    EXPECT_EQ(observed(cells).cluster.inter.fabric, perf::Fabric::omni_path);
    cells["intra_node"] = "PCIe";
    EXPECT_NEAR(observed(cells).cluster.intra_bandwidth / kGBPerSecond, 24, 1e-9);
}

TEST(ReadRuns, MethodsAndPrecisionsFromTheirWords) {
    using workload::Method;
    EXPECT_EQ(observed(with({{"model_name", "Llama2-7B LoRA"}})).training.method, Method::lora);
    EXPECT_EQ(observed(with({{"model_name", "Llama2-7B Q-LoRA (emb)"}})).training.method,
              Method::qlora);
    EXPECT_TRUE(
        observed(with({{"model_name", "Llama2-7B Q-LoRA (emb)"}})).training.lora->train_embeddings);
    EXPECT_EQ(observed(with({{"model_name", "Llama2-7B full-parameter"}})).training.method,
              Method::full_finetune);
    EXPECT_EQ(observed(with({{"precision", "FP8-MX"}})).training.precision,
              catalog::Precision::fp8);
    EXPECT_EQ(observed(with({{"precision", "mixed fp16"}})).training.precision,
              catalog::Precision::fp16);
}

TEST(ReadRuns, ARowMayNotCountTwice) {
    const std::vector<test::Cells> rows = {test::complete(), with({{"measured_step_s", "3"}})};
    const auto runs = read_runs(test::table_of(rows), test::embedded_catalog());
    ASSERT_FALSE(runs);
    ASSERT_EQ(runs.error().diagnostics.size(), 1U);
    EXPECT_EQ(runs.error().diagnostics.front().where.line, 3);
    EXPECT_NE(runs.error().diagnostics.front().why.find("line 2"), std::string::npos);
}

// Every cell in turn holds something odd: the row is skipped with a reason or predicted with
// finite, positive numbers; nothing overflows (the sanitized build checks that).
TEST(ReadRuns, OddCellsNeverBreakAnything) {
    std::vector<test::Cells> rows;
    for (const auto& [column, cell] : test::complete()) {
        for (const char* odd : {"", "0", "-1", "1e300", "nan", "100000000", "65536", "0.5", "x"}) {
            test::Cells cells = with({{"n_accel", "64"}, {"tp", "4"}, {"pp", "2"}, {"dp", "8"}});
            cells["id"] = "row-" + std::to_string(rows.size());
            cells[column] = odd;
            rows.push_back(cells);
        }
    }
    const auto runs = read_runs(test::table_of(rows), test::embedded_catalog());
    ASSERT_TRUE(runs);
    int predicted = 0;
    for (const Scored& s : score(*runs, perf::default_constants())) {
        if (!s.skipped.empty()) continue;
        ++predicted;
        ASSERT_TRUE(s.predicted_step && s.predicted_memory);
        ASSERT_TRUE(std::isfinite(*s.predicted_step / kSecond));
        ASSERT_GT(*s.predicted_step, Seconds{});
        ASSERT_GT(*s.predicted_memory, Bytes{});
    }
    EXPECT_GT(predicted, 100);
}

}  // namespace
}  // namespace trainyard::validate
