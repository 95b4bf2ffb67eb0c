#include "pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "test_shapes.hpp"

namespace trainyard::perf {
namespace {

double seconds(Seconds s) { return s / kSecond; }

StageCost stage(double forward, double backward) {
    StageCost s;
    s.forward.gemm = forward * kSecond;
    s.backward.gemm = backward * kSecond;
    return s;
}

PipelineInput equal_stages(int stages, int chunks, int micro_batches) {
    PipelineInput in;
    in.stages = stages;
    in.chunks = chunks;
    in.micro_batches = micro_batches;
    in.first = in.middle = in.last = stage(1, 2);
    return in;
}

TEST(Pipeline, BubbleOfOneForwardOneBackward) {
    const Constants c = test::ideal_constants();
    // p - 1 stages' worth of one micro-batch: (p - 1) / m of the work of 3 s x m.
    for (const int p : {2, 4, 8, 64}) {
        const int m = 32;
        const PipelineTime t = pipeline_time(equal_stages(p, 1, m), c.global, test::plain_stack());
        EXPECT_NEAR(seconds(t.bubble) / (3.0 * m), (p - 1.0) / m, 1e-12);
        EXPECT_NEAR(seconds(t.busiest_total), 3, 1e-12);
    }
}

TEST(Pipeline, InterleavingDividesTheBubble) {
    const Constants c = test::ideal_constants();
    const PipelineTime t = pipeline_time(equal_stages(8, 4, 32), c.global, test::plain_stack());
    EXPECT_NEAR(seconds(t.bubble) / (3.0 * 32), (8 - 1.0) / (4 * 32), 1e-12);
}

TEST(Pipeline, OneStageHasNoBubbleAndNoSends) {
    Constants c = test::ideal_constants();
    c.global.microbatch_overhead_ms = 5;
    PipelineInput in = equal_stages(1, 1, 32);
    in.send = 1 * kSecond;
    const PipelineTime t = pipeline_time(in, c.global, test::plain_stack());
    EXPECT_EQ(seconds(t.bubble + t.comm + t.scheduler), 0);
}

TEST(Pipeline, BusiestStageRulesTheOthersFill) {
    const Constants c = test::ideal_constants();
    PipelineInput in = equal_stages(4, 1, 10);
    in.last = stage(2, 4);  // carries the head
    const PipelineTime t = pipeline_time(in, c.global, test::plain_stack());
    EXPECT_NEAR(seconds(t.busiest_total), 6, 1e-12);
    // One pass through the three others: 3 * 3 s.
    EXPECT_NEAR(seconds(t.bubble), 9, 1e-12);
}

TEST(Pipeline, SendsBothWaysPerChunk) {
    Constants c = test::ideal_constants();
    c.global.pipeline_overlap = 0.75;
    PipelineInput in = equal_stages(4, 2, 8);
    in.send = 1 * kMillisecond;
    // Steady: forward and backward of 8 micro-batches and 2 chunks = 32 sends; fill and drain: 2 *
    // 3.
    EXPECT_NEAR(seconds(pipeline_time(in, c.global, test::plain_stack()).comm), 0.038, 1e-12);
    Stack overlapped = test::plain_stack();
    overlapped.pipeline_overlap = true;
    EXPECT_NEAR(seconds(pipeline_time(in, c.global, overlapped).comm), 0.25 * 0.032 + 0.006, 1e-12);
}

TEST(Pipeline, SchedulerWorksPerMicroBatch) {
    Constants c = test::ideal_constants();
    c.global.microbatch_overhead_ms = 2;
    // m + p - 1 = 11 slots of 2 ms.
    EXPECT_NEAR(
        seconds(pipeline_time(equal_stages(4, 1, 8), c.global, test::plain_stack()).scheduler),
        0.022, 1e-12);
}

TEST(Pipeline, HostAndDeviceWaitForTheSlower) {
    StageCost s = stage(1, 2);
    EXPECT_EQ(seconds(s.launch()), 0);  // a host that costs nothing
    s.forward.host = 1 * kSecond;
    s.backward.host = 2 * kSecond;
    // As slow as the device: (3^4 + 3^4)^(1/4) - 3 = 3 * (2^(1/4) - 1) = 0.5676 s.
    EXPECT_NEAR(seconds(s.launch()), 0.567621, 1e-6);
    s.backward.host = 299 * kSecond;  // 100 times slower: the host rules
    EXPECT_NEAR(seconds(s.launch()), 297, 1e-3);
    s.forward.host = s.backward.host = 0.015 * kSecond;  // 100 times faster: hidden
    EXPECT_NEAR(seconds(s.launch()), 0, 1e-7);
}

TEST(StageLayers, SumToTheModel) {
    for (int layers = 2; layers <= 130; ++layers) {
        const workload::Model m = test::gpt(layers, 64, 1);
        for (int stages = 1; stages <= layers; ++stages) {
            double sum = 0, most = 0, least = layers;
            for (int i = 0; i < stages; ++i) {
                const StageLayers s = stage_layers(m, stages, i);
                EXPECT_EQ(s.moe, 0);
                sum += s.dense;
                most = std::max(most, s.dense);
                least = std::min(least, s.dense);
            }
            ASSERT_EQ(sum, layers) << layers << " layers, " << stages << " stages";
            ASSERT_LE(most - least, 1) << layers << " layers, " << stages << " stages";
        }
    }
}

TEST(StageLayers, EdgesCarryTheEmbeddingAndTheHead) {
    // 10 layers on 4 stages: 2 + 3 + 3 + 2. 11: the last, which has the head, is the short one.
    const workload::Model ten = test::gpt(10, 64, 1);
    EXPECT_EQ(stage_layers(ten, 4, 0).dense, 2);
    EXPECT_EQ(stage_layers(ten, 4, 1).dense, 3);
    EXPECT_EQ(stage_layers(ten, 4, 3).dense, 2);
    const workload::Model eleven = test::gpt(11, 64, 1);
    EXPECT_EQ(stage_layers(eleven, 4, 0).dense, 3);
    EXPECT_EQ(stage_layers(eleven, 4, 3).dense, 2);
}

TEST(StageLayers, TheMiddleStandsForTheMoeStages) {
    workload::Model m = test::gpt(61, 64, 1);
    EXPECT_EQ(middle_stage(m, 32), 1);
    m.moe = workload::MixtureOfExperts{};
    m.moe->experts = 8;
    m.moe->dense_layers = 3;
    // Two layers a stage, the first and the last one short: 1 dense, 2 dense, then MoE.
    EXPECT_EQ(stage_layers(m, 32, 0).dense, 1);
    EXPECT_EQ(stage_layers(m, 32, 1).dense, 2);
    EXPECT_EQ(middle_stage(m, 32), 2);
    EXPECT_EQ(stage_layers(m, 32, 2).moe, 2);
    EXPECT_EQ(middle_stage(m, 4), 1);
    EXPECT_EQ(middle_stage(m, 3), 1);
}

TEST(StageLayers, FirstDenseLayersStayDense) {
    workload::Model m = test::gpt(61, 64, 1);
    m.moe = workload::MixtureOfExperts{};
    m.moe->experts = 8;
    m.moe->dense_layers = 3;  // DeepSeek-V3: 3 dense, 58 MoE
    for (int stages = 1; stages <= 61; ++stages) {
        double dense = 0, moe = 0;
        for (int i = 0; i < stages; ++i) {
            dense += stage_layers(m, stages, i).dense;
            moe += stage_layers(m, stages, i).moe;
        }
        ASSERT_EQ(dense, 3) << stages << " stages";
        ASSERT_EQ(moe, 58) << stages << " stages";
    }
}

}  // namespace
}  // namespace trainyard::perf
