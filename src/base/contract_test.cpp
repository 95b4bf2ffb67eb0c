#include "trainyard/base/contract.hpp"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(ContractDeathTest, NamesThePlaceTheConditionAndTheReason) {
    const int heads = 0;
    EXPECT_DEATH(TRAINYARD_ASSERT(heads > 0, "a model has heads"),
                 "contract_test.cpp:[0-9]+: broken contract: heads > 0 \\(a model has heads\\)");
}

TEST(Contract, IsSilentWhenItHolds) {
    int evaluated = 0;
    TRAINYARD_ASSERT(++evaluated == 1, "the condition is evaluated once, in release builds too");
    EXPECT_EQ(evaluated, 1);
}

}  // namespace
}  // namespace trainyard
