#include <gtest/gtest.h>

#include "trainyard/workload/training.hpp"

namespace trainyard::workload {
namespace {

TEST(TrainingNames, WhatIsPrintedIsRead) {
    for (const Method m : {Method::pretrain, Method::full_finetune, Method::lora, Method::qlora}) {
        EXPECT_EQ(parse_method(to_string(m)), m);
    }
    for (const Optimizer o : {Optimizer::adamw_fp32, Optimizer::adamw_bf16, Optimizer::adamw_8bit,
                              Optimizer::adafactor, Optimizer::sgd, Optimizer::muon}) {
        EXPECT_EQ(parse_optimizer(to_string(o)), o);
    }
    for (const Recompute r : {Recompute::none, Recompute::selective, Recompute::full}) {
        EXPECT_EQ(parse_recompute(to_string(r)), r);
    }
    for (const Zero z : {Zero::none, Zero::optimizer, Zero::gradients, Zero::weights}) {
        EXPECT_EQ(parse_zero(to_string(z)), z);
    }
}

TEST(TrainingNames, OtherSpellings) {
    EXPECT_EQ(parse_method("Continued Pretrain"), Method::pretrain);
    EXPECT_EQ(parse_method("full_finetune"), Method::full_finetune);
    EXPECT_EQ(parse_zero("FSDP"), Zero::weights);
    EXPECT_EQ(parse_zero("2"), Zero::gradients);
    EXPECT_EQ(parse_zero("ZeRO-3"), Zero::weights);
    EXPECT_EQ(parse_optimizer("Adam"), Optimizer::adamw_fp32);
    EXPECT_EQ(parse_optimizer("lion"), std::nullopt);
    EXPECT_EQ(parse_method(""), std::nullopt);
    EXPECT_EQ(parse_zero("4"), std::nullopt);
}

}  // namespace
}  // namespace trainyard::workload
