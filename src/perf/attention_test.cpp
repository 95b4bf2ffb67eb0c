#include "attention.hpp"

#include <gtest/gtest.h>

#include "test_shapes.hpp"

namespace trainyard::perf {
namespace {

double seconds(Seconds s) { return s / kSecond; }

struct Fixture {
    Constants constants = test::ideal_constants();
    workload::Model model = test::gpt(1, 4096, 32);  // heads of 128: no loss to small heads
    LayerShape shape;
    Fixture() {
        shape.micro_batch = 1;
        shape.sequence = 4096;
    }
    Device device() const {
        return make_device(test::round_accelerator(), catalog::Precision::bf16, test::plain_stack(),
                           constants);
    }
    AttentionTime time(int window = 0) const {
        return attention_time(model, shape, window, device());
    }
};

TEST(Attention, FlashIsTwoProductsForwardAndFiveBackward) {
    Fixture f;
    f.model.causal = false;
    // Forward: scores and values, 2 * 2 * s * s * h FLOP at 100 TFLOP/s.
    const double product = 2.0 * 4096 * 4096 * 4096 / 100e12;
    EXPECT_NEAR(seconds(f.time().forward), 2 * product, 1e-12);
    // Backward: scores again, and two gradient products for each of scores and values.
    EXPECT_NEAR(seconds(f.time().backward), 5 * product, 1e-12);
}

TEST(Attention, CausalSkipsHalf) {
    Fixture f;
    f.model.causal = false;
    const AttentionTime all = f.time();
    f.model.causal = true;
    EXPECT_NEAR(f.time().forward / all.forward, 0.5, 1e-12);
    EXPECT_NEAR(f.time().backward / all.backward, 0.5, 1e-12);
}

TEST(Attention, WindowLimitsTheKeys) {
    const Fixture f;
    // Query i of 4,096 sees min(i, 1024) keys: on average 1024 - 1024^2 / (2 * 4096) = 896, against
    // 2,048 without a window.
    EXPECT_NEAR(f.time(1024).forward / f.time().forward, 896.0 / 2048, 1e-12);
    // A window longer than the sequence changes nothing.
    EXPECT_DOUBLE_EQ(seconds(f.time(1 << 20).forward), seconds(f.time().forward));
}

TEST(Attention, SmallHeadsWaitForSoftmax) {
    Fixture f;
    const AttentionTime wide = f.time();
    f.model = test::gpt(1, 4096, 64);  // heads of 64: same FLOP, factor 0.5 + 0.5 * 64 / 128
    EXPECT_NEAR(f.time().forward / wide.forward, 1 / 0.75, 1e-12);
}

TEST(Attention, ShortSequencesReachHalfTheRateAtTheConstant) {
    Fixture f;
    const double ideal = seconds(f.time().forward);
    f.constants.global.flash_half_sequence = 4096;
    EXPECT_NEAR(seconds(f.time().forward) / ideal, 2, 1e-12);
}

TEST(Attention, FewHeadsLeaveMultiprocessorsIdle) {
    Fixture f;
    f.shape.sequence = 128;  // one block of queries per head: 32 blocks on 100 multiprocessors
    const double flop = 2.0 * 2 * 128 * 64 * 4096;
    EXPECT_NEAR(seconds(f.time().forward), flop / (100e12 * 0.32), 1e-15);
}

TEST(Attention, TensorAndContextParallelismDivideTheWork) {
    Fixture f;
    f.shape.sequence = 32768;  // long enough that the split work still fills the machine
    const double whole = seconds(f.time().forward);
    f.shape.tensor = 4;
    EXPECT_NEAR(whole / seconds(f.time().forward), 4, 1e-9);
    f.shape.context = 2;
    EXPECT_NEAR(whole / seconds(f.time().forward), 8, 1e-9);
}

TEST(Attention, LatentAttentionUsesItsOwnHeadSizes) {
    Fixture f;
    workload::LatentAttention mla;
    mla.qk_nope_head_dim = 128;
    mla.qk_rope_head_dim = 64;
    mla.v_head_dim = 128;
    const double plain = seconds(f.time().forward);
    f.model.mla = mla;
    // Scores over 192 elements and values over 128, against 128 and 128.
    EXPECT_NEAR(seconds(f.time().forward) / plain, (192.0 + 128) / 256, 1e-12);
}

TEST(Attention, UnfusedStreamsTheScoreMatrix) {
    Fixture f;
    f.shape.attention = workload::AttentionKernel::unfused;
    f.constants.architectures["Round"].unfused_attention_traffic = 1;
    // 32 heads x 4096 x 4096 scores, nine bytes each at 1 TB/s: 4.83 ms; the two products, full
    // matrix, 128 x 256 tiles and no loss: 2 * 2 * 4096^3 / 100e12 = 2.75 ms.
    const double scores = 32.0 * 4096 * 4096;
    const double products = 2 * 2.0 * 4096 * 4096 * 4096 / 100e12;
    const double forward = products + scores * 9 / 1e12;
    EXPECT_NEAR(seconds(f.time().forward), forward, 0.01 * forward);
    const double backward = 2 * products + 1.2 * scores * 9 / 1e12;
    EXPECT_NEAR(seconds(f.time().backward), backward, 0.01 * backward);
}

TEST(Attention, FusedBeatsUnfusedOnEveryAcceleratorThatHasIt) {
    Fixture f;
    LayerShape unfused = f.shape;
    unfused.attention = workload::AttentionKernel::unfused;
    const auto catalog = catalog::Catalog::load(catalog::Catalog::embedded_tables());
    ASSERT_TRUE(catalog);
    for (const char* id : {"A100-80", "H100-80", "H200", "B200", "B300", "GB200"}) {
        const Device d = make_device(*catalog->accelerator(id), catalog::Precision::bf16,
                                     default_stack(), default_constants());
        const AttentionTime flash = attention_time(f.model, f.shape, 0, d);
        const AttentionTime slow = attention_time(f.model, unfused, 0, d);
        EXPECT_LT(seconds(flash.forward + flash.backward), seconds(slow.forward + slow.backward))
            << id;
    }
}

}  // namespace
}  // namespace trainyard::perf
