// Launch lines: what they say by their own options, by srun and by #SBATCH; what stays open.

#include "launch.hpp"

#include <gtest/gtest.h>

#include "test_case.hpp"

namespace trainyard::lint {
namespace {

TEST(Launch, VariablesOfTheScriptAndOfSlurmAreFollowed) {
    const SourceText source{"job.sbatch",
                            "#!/bin/bash\n#SBATCH -N 4\n#SBATCH --gpus-per-node=h100:8\n"
                            "GPUS=8\n"
                            "srun torchrun --nnodes=$SLURM_NNODES --nproc-per-node=${GPUS} t.py\n",
                            true};
    const Case c = case_of(source);
    ASSERT_EQ(launches(c).size(), 1U);
    const Launch& l = launches(c).front();
    EXPECT_EQ(l.launcher, "torchrun");
    ASSERT_TRUE(l.nodes && l.processes && l.gpus && l.allocated);
    EXPECT_EQ(l.nodes->value, 4);
    EXPECT_EQ(l.nodes->where.line, 5);
    EXPECT_EQ(l.processes->value, 8);
    EXPECT_EQ(l.gpus->value, 8);
    EXPECT_EQ(l.allocated->where.line, 2);
    EXPECT_TRUE(l.is_multi_node());
    EXPECT_FALSE(l.is_open);
}

TEST(Launch, WhatNobodySetsStaysOpen) {
    const SourceText source{"job.sh", "#!/bin/bash\ntorchrun --nproc-per-node=$N $MORE t.py\n",
                            true};
    const Case c = case_of(source);
    ASSERT_EQ(launches(c).size(), 1U);
    EXPECT_FALSE(launches(c).front().processes);
    EXPECT_TRUE(launches(c).front().is_open);
}

TEST(Launch, TheTextBehindBashIsInner) {
    const SourceText source{"job.sbatch",
                            "#!/bin/bash\n#SBATCH --nodes=2\n"
                            "srun bash -c 'torchrun --nnodes=2 --node_rank=$SLURM_PROCID t.py'\n",
                            true};
    const Case c = case_of(source);
    ASSERT_EQ(launches(c).size(), 1U);
    const Launch& l = launches(c).front();
    EXPECT_TRUE(l.is_inner);
    EXPECT_FALSE(l.srun.empty());
    EXPECT_EQ(option(l.words, "node-rank").text, "$SLURM_PROCID");
}

TEST(Launch, TasksPerNodeFollowFromAllTasks) {
    const SourceText source{"job.sbatch",
                            "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks=16\n"
                            "srun python -m torch.distributed.run t.py\n",
                            true};
    const Case c = case_of(source);
    ASSERT_EQ(launches(c).size(), 1U);
    ASSERT_TRUE(launches(c).front().tasks);
    EXPECT_EQ(launches(c).front().tasks->value, 8);  // 16 tasks on 2 nodes
}

}  // namespace
}  // namespace trainyard::lint
