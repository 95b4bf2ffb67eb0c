#include "trainyard/agent/progress.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace trainyard::agent {
namespace {

struct Line {
    const char* text;
    std::int64_t step;  ///< -1: none
    double loss;        ///< -1: none
    double speed;       ///< tokens a second; -1: none
};

/// As the trainers print them: torchtitan/components/metrics.py, megatron/training/training.py
/// (training_log), deepspeed/runtime/engine.py, transformers' progress bar and log, Lightning's
/// progress bar, nanoGPT's train.py.
constexpr Line kLines[] = {
    {"[rank0]:[titan] 2026-12-01 08:00:00,000 - root - INFO - \033[31mstep: 10  "
     "\033[32mloss:  7.1234  \033[38;2;180;60;0mgrad_norm:  1.2345  \033[33mmemory: "
     "40.12GiB(50.70%)  \033[34mtps: 1,234  \033[36mtflops: 12.3  \033[35mmfu: 3.96%\033[39m",
     10, 7.1234, 1234},
    {" [2026-12-01 08:00:00] iteration      100/  500000 | consumed samples:        25600 | "
     "elapsed time per iteration (ms): 1234.5 | throughput per GPU (TFLOP/s/GPU): 400.1 | "
     "learning rate: 1.500000E-04 | global batch size:   256 | lm loss: 7.123456E+00 | loss "
     "scale: 1.0 | grad norm: 1.234 | number of skipped iterations:   0 |",
     100, 7.123456, -1},
    {"{'loss': 2.3456, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 0.5}", -1, 2.3456, -1},
    {"  5%|\u258c         | 50/1000 [00:10<03:10,  5.00it/s]", 50, -1, -1},
    {"[2026-12-01 08:00:00,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, "
     "lr=[0.001], mom=[[0.9, 0.999]]",
     10, -1, -1},
    {"steps: 10 loss: 2.3400 iter time (s): 0.500 samples/sec: 32.000", 10, 2.34, -1},
    {"Epoch 0:  10%|\u2588         | 10/100 [00:01<00:09, 10.00it/s, v_num=0, train_loss=2.300]",
     10, 2.3, -1},
    {"iter 100: loss 3.1234, time 234.56ms, mfu 12.34%", 100, 3.1234, -1},
    {"step 250: train loss 2.1000, val loss 2.2000", 250, 2.1, -1},
    {"step 3 | loss nan | tok/s 512.5", 3, std::nan(""), 512.5},
    {"iteration 7: loss: -inf", 7, -INFINITY, -1},
    // No progress, though the words are there.
    {"Saving a step file every 10 minutes; loss function: cross entropy", -1, -1, -1},
    {"time_step=5 lossy=3", -1, -1, -1},
    {"Step into the light", -1, -1, -1},
    {"step: 1.5", -1, -1, -1},
    {"step: -4", -1, -1, -1},
    {"", -1, -1, -1},
};

TEST(Progress, IsReadFromTheLinesOfTrainers) {
    for (const Line& line : kLines) {
        const LogProgress found = read_progress(line.text);
        EXPECT_EQ(found.step.value_or(-1), line.step) << line.text;
        EXPECT_EQ(found.loss.has_value(), line.loss != -1) << line.text;
        if (std::isnan(line.loss)) {
            EXPECT_TRUE(std::isnan(found.loss.value_or(0))) << line.text;
        } else {
            EXPECT_EQ(found.loss.value_or(-1), line.loss) << line.text;
        }
        EXPECT_EQ(found.speed ? *found.speed / kTokensPerSecond : -1, line.speed) << line.text;
    }
}

TEST(Progress, TheLastStepIsToldWhereItStands) {
    EXPECT_EQ(read_progress("iteration 5/ 100 |").last_step, 100);
    EXPECT_EQ(read_progress("50/1,000 [00:10<03:10]").last_step, 1000);
}

TEST(Progress, APatternFindsItsPlace) {
    const auto pattern = ProgressPattern::parse("it {step} {*} L={loss} at {tokens_per_second}/s");
    ASSERT_TRUE(pattern.has_value());
    const LogProgress found = pattern->read("08:00 [x]  it   12   lr 1e-4 L=0.25 at 2,500/s");
    EXPECT_EQ(found.step, 12);
    EXPECT_EQ(found.loss, 0.25);
    EXPECT_EQ(*found.speed / kTokensPerSecond, 2500);
    EXPECT_FALSE(pattern->read("it 12 without the rest").has_any());
    EXPECT_FALSE(pattern->read("it x L=1 at 2/s").has_any());
}

TEST(Progress, APatternNeedsItsStep) {
    for (const char* text : {"loss {loss}", "{stop}", "{step", ""}) {
        EXPECT_FALSE(ProgressPattern::parse(text).has_value()) << text;
    }
}

TEST(Progress, LinesAreSplitWhereverTheyWereCut) {
    LineSplitter splitter;
    EXPECT_EQ(splitter.feed("a\nb"), std::vector<std::string>{"a"});
    EXPECT_EQ(splitter.feed("c\r\rd\n\n"), (std::vector<std::string>{"bc", "d"}));
    EXPECT_EQ(splitter.feed(std::string(100'000, 'x') + "\n").front().size(), 16384U);
}

}  // namespace
}  // namespace trainyard::agent
