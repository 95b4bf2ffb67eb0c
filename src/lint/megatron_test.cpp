// Megatron-LM arguments held against the laws of a mapping.

#include "megatron.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "test_case.hpp"

namespace trainyard::lint {
namespace {

std::vector<std::string> laws_of(const std::string& text) {
    const SourceText source{"job.sbatch", text, true};
    const Case c = case_of(source);
    std::vector<std::string> laws;
    for (const MegatronFault& f : megatron_faults(c)) laws.push_back(f.law);
    return laws;
}

std::string script(std::string_view arguments) {
    return "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n"
           "srun torchrun --nnodes=2 --nproc-per-node=8 pretrain_gpt.py " +
           std::string(arguments) + "\n";
}

bool has(const std::vector<std::string>& all, std::string_view one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

TEST(Megatron, LegalArgumentsHaveNoFault) {
    EXPECT_TRUE(laws_of(script("--tensor-model-parallel-size 4 --pipeline-model-parallel-size 2 "
                               "--num-layers 32 --num-attention-heads 32 --hidden-size 4096 "
                               "--micro-batch-size 1 --global-batch-size 64 --seq-length 4096"))
                    .empty());
}

TEST(Megatron, DegreesMustDivideTheProcesses) {
    // 2 nodes of 8 are 16 processes; 3 does not divide them.
    EXPECT_TRUE(has(laws_of(script("--tensor-model-parallel-size 3")), "world"));
}

TEST(Megatron, TensorParallelismStaysInTheNode) {
    EXPECT_TRUE(has(laws_of(script("--tensor-model-parallel-size 16")), "tp-node"));
}

TEST(Megatron, StagesTakeWholeLayersUnlessTheFirstOrLastIsToldApart) {
    const std::string uneven = "--pipeline-model-parallel-size 4 --num-layers 30";
    EXPECT_TRUE(has(laws_of(script(uneven)), "pp-even"));  // 30 / 4 is no whole number
    EXPECT_FALSE(
        has(laws_of(script(uneven + " --decoder-first-pipeline-num-layers 6")), "pp-even"));
}

TEST(Megatron, ArgumentsInVariablesHaveTheirOwnPlaces) {
    const SourceText source{"job.sh",
                            "#!/bin/bash\nARGS=\"--num-layers 32 \\\n"
                            "  --tensor-model-parallel-size 5\"\n"
                            "torchrun --nnodes=1 --nproc-per-node=8 pretrain_gpt.py $ARGS\n",
                            true};
    const Case c = case_of(source);
    const auto faults = megatron_faults(c);
    ASSERT_FALSE(faults.empty());
    EXPECT_EQ(faults.front().law, "world");  // 5 does not divide 8
    EXPECT_EQ(faults.front().at.where.line, 3);
}

}  // namespace
}  // namespace trainyard::lint
