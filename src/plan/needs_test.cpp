#include <gtest/gtest.h>

#include "test_job.hpp"
#include "trainyard/plan/bill.hpp"

namespace trainyard::plan {
namespace {

const Assumptions& known() { return Assumptions::embedded(); }

TEST(DatasetSize, IsStoredOnceHoweverOftenItIsRead) {
    // 3 passes over 1M tokens of 4 bytes (the vocabulary of Llama 3 needs more than 16 bits).
    Request r = test::request(test::model("llama-3.1-8b"), 3e6);
    r.job.epochs = 3;
    r.job.sequence = 1000;
    const Work work = work_of(r.job, known());
    EXPECT_NEAR(dataset_size(r.job, work, known()) / kByte, 4e6, 1);
}

TEST(DatasetSize, FollowsTheUsersSampleSize) {
    Request r = test::request(test::model("resnet-50"), 0);
    r.job.samples = 90e6;
    r.job.epochs = 90;
    r.job.sample_size = 500e3 * kByte;
    const Work work = work_of(r.job, known());
    EXPECT_NEAR(dataset_size(r.job, work, known()) / kGB, 500, 1e-6);
}

TEST(DatasetSize, GivesTheSizeOfAnImage) {
    // 150 GB over 1.5M images is 100 kB each.
    Request r = test::request(test::model("resnet-50"), 0);
    r.job.samples = 3e6;
    r.job.epochs = 2;
    r.job.dataset = 150 * kGB;
    const Work work = work_of(r.job, known());
    EXPECT_NEAR(sample_size(r.job, work, known()) / kByte, 100e3, 1e-6);
}

TEST(Work, AnImageOfAVisionModelIsOneSequence) {
    Request r = test::request(test::model("vit-l-16"), 0);
    r.job.samples = 100e6;
    EXPECT_EQ(work_of(r.job, known()).sequences, 100e6);
}

}  // namespace
}  // namespace trainyard::plan
