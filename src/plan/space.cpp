#include "trainyard/plan/space.hpp"

#include <algorithm>
#include <cmath>

#include "trainyard/base/contract.hpp"

namespace trainyard::plan {

using workload::Parallelism;
using workload::Zero;

std::vector<int> node_counts(int max) {
    std::vector<int> counts;
    for (int odd : {1, 3, 5}) {
        for (long n = odd; n <= max; n *= 2) counts.push_back(static_cast<int>(n));
    }
    std::sort(counts.begin(), counts.end());
    return counts;
}

namespace {

/// Context parallelism is worth its traffic only where one sequence is long: each rank keeps at
/// least this many tokens.
constexpr int kTokensPerContextRank = 8192;

struct Axes {
    int tensor, pipeline, virtual_stages, context, expert, data;
};

void add_sharding(std::vector<Parallelism>& out, const Axes& x, int per_node,
                  workload::Method method) {
    Parallelism p;
    p.tensor = x.tensor;
    p.pipeline = x.pipeline;
    p.virtual_stages = x.virtual_stages;
    p.context = x.context;
    p.expert = x.expert;
    p.data = x.data;
    p.sequence_parallel = x.tensor > 1;
    p.zero = Zero::none;
    out.push_back(p);
    const int ranks = x.data * x.context;
    if (ranks == 1) return;
    const bool adapters = method == workload::Method::lora || method == workload::Method::qlora;
    if (!adapters) {
        p.zero = Zero::optimizer;
        out.push_back(p);
    }
    if (x.pipeline > 1)
        return;  // re-gathering weights for every micro-batch of a pipeline never pays
    p.zero = Zero::weights;
    out.push_back(p);
    const int local = std::max(1, per_node / x.tensor);
    if (x.context == 1 && local > 1 && x.data > local && x.data % local == 0) {
        p.shard_group = local;
        out.push_back(p);
    }
}

bool pipeline_fits(const workload::Model& m, int pipeline, int chunks) {
    if (pipeline == 1) return chunks == 1;
    if (pipeline * chunks > m.layers) return false;
    return chunks == 1 || m.layers % (pipeline * chunks) == 0;
}

std::vector<int> expert_degrees(const workload::Model& m, int ranks, int per_node) {
    std::vector<int> degrees{1};
    if (!m.moe) return degrees;
    for (int e = 2; e <= m.moe->experts && e <= ranks && e <= std::max(per_node, 8) * 8; e *= 2) {
        if (m.moe->experts % e == 0 && ranks % e == 0) degrees.push_back(e);
    }
    return degrees;
}

}  // namespace

std::vector<Parallelism> parallelisms(const workload::Model& m, workload::Method method,
                                      int sequence, int devices, int per_node) {
    std::vector<Parallelism> out;
    const int kv = m.mla ? m.heads : std::max(1, m.kv_heads);
    for (int t = 1; t <= per_node && t <= devices; t *= 2) {
        if (devices % t != 0 || m.heads % t != 0 || kv % t != 0) continue;
        const int after_tensor = devices / t;
        for (int p = 1; p <= after_tensor && p <= m.layers && p <= 64; p = p == 1 ? 2 : p + 1) {
            const bool shape = (p & (p - 1)) == 0 || m.layers % p == 0;
            if (after_tensor % p != 0 || !shape) continue;
            for (int v : {1, 2, 4}) {
                if (!pipeline_fits(m, p, v)) continue;
                const int after_pipeline = after_tensor / p;
                for (int c = 1;
                     c <= after_pipeline && (c == 1 || sequence / c >= kTokensPerContextRank);
                     c *= 2) {
                    if (after_pipeline % c != 0 || (c > 1 && sequence % (2 * c) != 0)) continue;
                    const int d = after_pipeline / c;
                    for (int e : expert_degrees(m, d * c, per_node))
                        add_sharding(out, {t, p, v, c, e, d}, per_node, method);
                }
            }
        }
    }
    return out;
}

int rounded_batch(const Work& work, int data, int micro_batch, double tolerance) {
    TRAINYARD_ASSERT(data > 0 && micro_batch > 0, "degrees are positive");
    const double unit = static_cast<double>(data) * micro_batch;
    const double exact = work.batch / unit;
    const double whole = work.batch_is_limit ? std::floor(exact + 1e-9) : std::floor(exact + 0.5);
    if (whole < 1) return 0;
    const double rounded = whole * unit;
    if (std::fabs(rounded / work.batch - 1) > tolerance || rounded > 1e9) return 0;
    return static_cast<int>(rounded);
}

std::vector<workload::Training> trainings(const workload::Model& model,
                                          const workload::Training& base, const Work& work,
                                          int devices, int per_node, double tolerance) {
    std::vector<workload::Training> out;
    for (const Parallelism& p :
         parallelisms(model, base.method, work.sequence, devices, per_node)) {
        for (int mbs = 1; mbs <= 64; mbs *= 2) {
            workload::Training t = base;
            t.parallel = p;
            t.micro_batch = mbs;
            t.global_batch = rounded_batch(work, p.data, mbs, tolerance);
            if (t.global_batch == 0) continue;
            for (auto r : {workload::Recompute::none, workload::Recompute::selective,
                           workload::Recompute::full}) {
                t.recompute = r;
                if (workload::is_legal_mapping(model, t)) out.push_back(t);
            }
        }
    }
    return out;
}

}  // namespace trainyard::plan
