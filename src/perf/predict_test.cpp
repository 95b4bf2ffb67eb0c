#include "trainyard/perf/predict.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "test_shapes.hpp"

namespace trainyard::perf {
namespace {

using workload::Model;
using workload::Recompute;
using workload::Training;
using workload::Zero;

const catalog::Catalog& embedded_catalog() {
    static const catalog::Catalog c = *catalog::Catalog::load(catalog::Catalog::embedded_tables());
    return c;
}

struct Case {
    Model model;
    Training training;
    Cluster cluster;
    std::string text() const {
        const workload::Parallelism& p = training.parallel;
        return model.name + " on " + std::to_string(cluster.accelerators) + " " +
               cluster.accelerator->id + ", DP " + std::to_string(p.data) + " TP " +
               std::to_string(p.tensor) + " PP " + std::to_string(p.pipeline) + " VP " +
               std::to_string(p.virtual_stages) + " CP " + std::to_string(p.context) + " EP " +
               std::to_string(p.expert) + " ETP " + std::to_string(p.expert_tensor) + " MBS " +
               std::to_string(training.micro_batch) + " s " + std::to_string(training.sequence) +
               " stack " + training.stack;
    }
};

/// Random legal configurations over every built-in transformer, accelerator, stack, method and
/// mapping. The engine's output is the same everywhere; no library distribution is used.
class Generator {
  public:
    explicit Generator(unsigned seed) : random_(seed) {
        for (const workload::KnownModel& k : workload::known_models()) {
            const auto m = workload::find_model(k.name);
            if (m && !m->opaque_params) models_.push_back(*m);
        }
        for (const catalog::Accelerator& a : embedded_catalog().accelerators()) {
            const bool half =
                a.peak_for(catalog::Precision::bf16) || a.peak_for(catalog::Precision::fp16);
            if (half && a.use == catalog::Use::training) accelerators_.push_back(&a);
        }
    }

    Case next() {
        while (true) {
            Case c = any();
            if (workload::is_legal_mapping(c.model, c.training)) return c;
        }
    }

  private:
    template <typename T>
    const T& pick(const std::vector<T>& from) {
        return from[random_() % from.size()];
    }
    int power(unsigned top) { return 1 << (random_() % (top + 1)); }

    Case any() {
        Case c;
        c.model = pick(models_);
        Training& t = c.training;
        workload::Parallelism& p = t.parallel;
        p.tensor = power(4);
        p.pipeline = random_() % 3 == 0 ? power(5) : 1;
        p.virtual_stages = p.pipeline > 1 ? power(2) : 1;
        p.context = random_() % 4 == 0 ? power(3) : 1;
        p.data = power(7);
        if (c.model.moe) {
            p.expert = power(6);
            p.expert_tensor = random_() % 2 == 0 ? p.tensor : 1;
        }
        p.sequence_parallel = p.tensor > 1 && random_() % 2 == 0;
        p.zero = pick<Zero>({Zero::none, Zero::optimizer, Zero::gradients, Zero::weights});
        if (p.zero != Zero::none && random_() % 4 == 0) p.shard_group = 8;
        t.micro_batch = power(4);
        t.global_batch = t.micro_batch * p.data * power(6);
        t.sequence = pick<int>({128, 512, 2048, 4096, 8192, 32768, 131072});
        t.recompute = pick<Recompute>({Recompute::none, Recompute::selective, Recompute::full});
        t.precision = pick<catalog::Precision>(
            {catalog::Precision::bf16, catalog::Precision::fp16, catalog::Precision::fp8,
             catalog::Precision::fp4, catalog::Precision::tf32, catalog::Precision::fp32});
        t.method =
            pick<workload::Method>({workload::Method::pretrain, workload::Method::full_finetune,
                                    workload::Method::lora, workload::Method::qlora});
        if (t.method == workload::Method::lora || t.method == workload::Method::qlora) {
            t.lora = workload::Lora{};
        }
        t.optimizer = pick<workload::Optimizer>(
            {workload::Optimizer::adamw_fp32, workload::Optimizer::adamw_bf16,
             workload::Optimizer::adamw_8bit, workload::Optimizer::adafactor,
             workload::Optimizer::sgd, workload::Optimizer::muon});
        const Stack& stack = pick(stacks());
        t.stack = stack.name;
        t.attention = stack.attention;
        c.cluster = cluster(p.devices());
        return c;
    }

    Cluster cluster(int devices) {
        Cluster c;
        c.accelerator = pick(accelerators_);
        c.accelerators = devices;
        c.accelerators_per_node = c.accelerator->link == catalog::LinkKind::nvl72 ? 72 : 8;
        c.intra_link = c.accelerator->link;
        c.intra_bandwidth = c.accelerator->link_bandwidth.value_or(24 * kGBPerSecond);
        c.inter.fabric = pick<Fabric>({Fabric::efa, Fabric::infiniband, Fabric::tcp,
                                       Fabric::ethernet_rdma, Fabric::omni_path});
        c.inter.per_node = pick<double>({12.5, 50, 400}) * kGBPerSecond;
        return c;
    }

    std::mt19937 random_;
    std::vector<Model> models_;
    std::vector<const catalog::Accelerator*> accelerators_;
};

std::vector<double> terms_of(const StepBreakdown& s) {
    return {s.gemm / kSecond,          s.attention / kSecond,       s.memory_bound / kSecond,
            s.head_loss / kSecond,     s.recompute / kSecond,       s.launch / kSecond,
            s.tensor_comm / kSecond,   s.expert_comm / kSecond,     s.context_comm / kSecond,
            s.pipeline_comm / kSecond, s.pipeline_bubble / kSecond, s.data_comm / kSecond,
            s.optimizer / kSecond,     s.straggler / kSecond};
}

std::vector<double> terms_of(const MemoryBreakdown& m) {
    return {m.weights / kByte,     m.gradients / kByte,     m.optimizer / kByte,
            m.activations / kByte, m.logits / kByte,        m.gathered / kByte,
            m.workspace / kByte,   m.fragmentation / kByte, m.runtime / kByte};
}

constexpr int kCases = 20000;

TEST(Prediction, TermsAreFiniteNotNegativeAndSumToTheTotal) {
    Generator generator(1);
    for (int i = 0; i < kCases; ++i) {
        const Case c = generator.next();
        const Prediction p = Predictor(c.model, c.cluster).predict(c.training);
        double sum = 0;
        for (const double term : terms_of(p.step)) {
            ASSERT_TRUE(std::isfinite(term)) << c.text();
            ASSERT_GE(term, 0) << c.text();
            sum += term;
        }
        ASSERT_EQ(sum, p.step.total / kSecond) << c.text();
        double bytes = 0;
        for (const double term : terms_of(p.memory)) {
            ASSERT_TRUE(std::isfinite(term)) << c.text();
            ASSERT_GE(term, 0) << c.text();
            bytes += term;
        }
        ASSERT_NEAR(bytes / (p.memory.total / kByte), 1, 1e-12) << c.text();
    }
}

TEST(Prediction, UtilisationAndSharesStayBelowOne) {
    Generator generator(2);
    for (int i = 0; i < kCases; ++i) {
        const Case c = generator.next();
        const Prediction p = Predictor(c.model, c.cluster).predict(c.training);
        ASSERT_GT(p.mfu, 0) << c.text();
        ASSERT_LE(p.mfu, 1) << c.text();
        ASSERT_LE(p.model_flop, p.model_flop_full) << c.text();
        ASSERT_LE(p.model_flop_full, p.hardware_flop) << c.text();
        ASSERT_GE(p.communication_share, 0) << c.text();
        ASSERT_GE(p.bubble_share, 0) << c.text();
        ASSERT_LE(p.communication_share + p.bubble_share, 1) << c.text();
        const double tokens = double(c.training.global_batch) * c.training.sequence;
        ASSERT_NEAR(p.tokens_per_second / kTokensPerSecond * (p.step.total / kSecond) / tokens, 1,
                    1e-9);
    }
}

// The search prunes with it: a bound that is above the prediction loses the optimum.
TEST(Prediction, LowerBoundIsNeverAboveThePrediction) {
    Generator generator(3);
    for (int i = 0; i < kCases; ++i) {
        const Case c = generator.next();
        Predictor predictor(c.model, c.cluster);
        const Seconds bound = predictor.lower_bound(c.training);
        ASSERT_GT(bound, Seconds{}) << c.text();
        ASSERT_LE(bound, predictor.predict(c.training).step.total) << c.text();
    }
}

TEST(Prediction, MemoryAloneIsTheMemoryOfThePrediction) {
    Generator generator(4);
    for (int i = 0; i < 2000; ++i) {
        const Case c = generator.next();
        Predictor predictor(c.model, c.cluster);
        const MemoryBreakdown alone = predictor.memory(c.training);
        const MemoryBreakdown full = predictor.predict(c.training).memory;
        ASSERT_EQ(alone.total / kByte, full.total / kByte) << c.text();
        ASSERT_EQ(alone.stage, full.stage) << c.text();
    }
}

// What is remembered between calls must not change the answer.
TEST(Prediction, ReusedPredictorEqualsAFreshOne) {
    Generator generator(5);
    const Case first = generator.next();
    Predictor reused(first.model, first.cluster);
    int compared = 0;
    while (compared < 3000) {
        Case c = generator.next();
        c.model = first.model;
        c.cluster.accelerator = first.cluster.accelerator;
        c.cluster.accelerators_per_node = first.cluster.accelerators_per_node;
        c.cluster.intra_bandwidth = first.cluster.intra_bandwidth;
        c.cluster.inter = first.cluster.inter;
        if (!workload::is_legal_mapping(c.model, c.training)) continue;
        ++compared;
        reused.resize(c.cluster.accelerators);
        const Prediction again = reused.predict(c.training);
        const Prediction fresh = Predictor(c.model, c.cluster).predict(c.training);
        ASSERT_EQ(again.step.total / kSecond, fresh.step.total / kSecond) << c.text();
    }
}

Case llama_on_h100(int devices) {
    Case c;
    c.model = *workload::find_model("llama-3.1-8b");
    c.training = test::training(8192, 1, 512);
    c.training.parallel.data = devices;
    c.training.parallel.zero = Zero::weights;
    c.cluster =
        *cluster_of(embedded_catalog(), *embedded_catalog().instance("p5.48xlarge"), devices / 8);
    return c;
}

TEST(Prediction, TwiceTheDevicesIsFasterButNotTwice) {
    double last = 0;
    for (int devices = 8; devices <= 256; devices *= 2) {
        const Case c = llama_on_h100(devices);
        const double step = Predictor(c.model, c.cluster).predict(c.training).step.total / kSecond;
        if (last > 0) {
            EXPECT_LT(step, last) << devices;
            EXPECT_GT(step, last / 2) << devices;
        }
        last = step;
    }
}

TEST(Prediction, WithoutEfaIsSlower) {
    Case c = llama_on_h100(64);
    const Seconds efa = Predictor(c.model, c.cluster).predict(c.training).step.total;
    c.cluster.inter.fabric = Fabric::tcp;
    EXPECT_GT(Predictor(c.model, c.cluster).predict(c.training).step.total, efa);
}

TEST(Prediction, RecomputeCostsTimeAndSavesMemory) {
    Case c = llama_on_h100(64);
    const Prediction none = Predictor(c.model, c.cluster).predict(c.training);
    c.training.recompute = Recompute::full;
    const Prediction full = Predictor(c.model, c.cluster).predict(c.training);
    EXPECT_GT(full.step.total, none.step.total);
    EXPECT_LT(full.memory.activations, none.memory.activations);
    // A second forward pass: between a quarter and a half of forward plus backward.
    const double again =
        full.step.recompute / (none.step.gemm + none.step.attention + none.step.memory_bound);
    EXPECT_GT(again, 0.25);
    EXPECT_LT(again, 0.5);
}

TEST(Prediction, OffloadedLayerInputsCrossTheHostLinkTwice) {
    Case c = llama_on_h100(64);
    c.training.recompute = Recompute::full;
    Constants constants = default_constants();
    constants.global.host_link_gb_per_s = 10;
    const auto recompute = [&] {
        return Predictor(c.model, c.cluster, constants).predict(c.training).step.recompute /
               kSecond;
    };
    const double kept = recompute();
    c.training.offload_layer_inputs = true;
    const workload::Parallelism& p = c.training.parallel;
    const double tokens =
        double(c.training.global_batch) / p.data * c.training.sequence / p.context;
    const double share = p.sequence_parallel ? 1.0 / p.tensor : 1.0;
    const double bytes =
        tokens * c.model.hidden * share * 2 * (double(c.model.layers) / p.pipeline);
    EXPECT_NEAR(recompute() - kept, 2 * bytes / 10e9, 1e-6);
}

TEST(Prediction, StragglersGrowWithTheLogarithmOfTheDevices) {
    Constants c = default_constants();
    c.global.straggler = 0.01;
    const Case job = llama_on_h100(64);
    const StepBreakdown s = Predictor(job.model, job.cluster, c).predict(job.training).step;
    // The largest of 64 normal deviates is about sqrt(2 ln 64) = 2.884 standard deviations out.
    EXPECT_NEAR(s.straggler / (s.total - s.straggler), 0.01 * std::sqrt(2 * std::log(64.0)), 1e-9);
}

TEST(Predict, BrokenLawsComeBackWithTheFix) {
    Case c = llama_on_h100(64);
    c.training.parallel.tensor = 3;
    const auto r = predict(c.model, c.training, c.cluster);
    ASSERT_FALSE(r);
    EXPECT_EQ(r.error().kind, ErrorKind::bad_input);
    // TP 3 divides neither heads nor the product: both are told.
    ASSERT_GE(r.error().diagnostics.size(), 2U);
    for (const Diagnostic& d : r.error().diagnostics) EXPECT_FALSE(d.fix.empty()) << d.what;
}

TEST(Predict, LegalMappingIsPredicted) {
    const Case c = llama_on_h100(64);
    const auto r = predict(c.model, c.training, c.cluster);
    ASSERT_TRUE(r);
    EXPECT_GT(r->step.total, Seconds{});
}

TEST(ClusterOf, FollowsTheInstance) {
    const auto p4d =
        cluster_of(embedded_catalog(), *embedded_catalog().instance("p4d.24xlarge"), 4);
    ASSERT_TRUE(p4d);
    EXPECT_EQ(p4d->accelerators, 32);
    EXPECT_EQ(p4d->nodes(), 4);
    EXPECT_EQ(p4d->inter.fabric, Fabric::efa);
    EXPECT_NEAR(p4d->inter.per_node / kGBPerSecond, 50, 1e-9);  // 4 x 100 Gbit/s
    const auto p3 = cluster_of(embedded_catalog(), *embedded_catalog().instance("p3.16xlarge"), 2);
    ASSERT_TRUE(p3);
    EXPECT_EQ(p3->inter.fabric, Fabric::tcp);
    const auto one = cluster_of(embedded_catalog(), *embedded_catalog().instance("p3.2xlarge"), 1);
    ASSERT_TRUE(one);
    EXPECT_EQ(one->inter.fabric, Fabric::none);
}

TEST(ClusterOf, RefusesWhatCannotTrain) {
    catalog::Instance head;
    head.type = "c7i.large";
    const auto none = cluster_of(embedded_catalog(), head, 1);
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().diagnostics.front().what.find("c7i.large"), std::string::npos);
    catalog::Instance unknown = *embedded_catalog().instance("p4d.24xlarge");
    unknown.network.reset();
    EXPECT_TRUE(cluster_of(embedded_catalog(), unknown, 1));
    EXPECT_FALSE(cluster_of(embedded_catalog(), unknown, 2));
}

TEST(MergeNeuronCores, TwoCoresMakeAChip) {
    Training t = test::training(2048, 1, 64);
    t.parallel.tensor = 8;
    t.parallel.data = 8;
    // 64 cores are 32 chips: TP 8 over cores is TP 4 over chips.
    EXPECT_EQ(merge_neuron_cores(t, 32).parallel.tensor, 4);
    EXPECT_EQ(merge_neuron_cores(t, 32).parallel.devices(), 32);
    // Without TP a chip runs two replicas: half the DP, twice the micro-batch.
    t.parallel.tensor = 1;
    const Training merged = merge_neuron_cores(t, 4);
    EXPECT_EQ(merged.parallel.data, 4);
    EXPECT_EQ(merged.micro_batch, 2);
    // Already counted in chips: unchanged.
    EXPECT_EQ(merge_neuron_cores(t, 8).parallel.data, 8);
}

}  // namespace
}  // namespace trainyard::perf
