#include "best_mapping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "trainyard/base/contract.hpp"
#include "trainyard/plan/space.hpp"

namespace trainyard::plan {

using workload::Recompute;
using workload::Training;

double steps_of(const Work& work, int global_batch) {
    TRAINYARD_ASSERT(global_batch > 0, "a step sees at least one sequence");
    return std::ceil(work.sequences / global_batch - 1e-9);
}

bool fits_plan(const perf::MemoryBreakdown& m, double headroom) {
    return m.fits_with_headroom() && m.total <= (1 - headroom) * m.capacity;
}

namespace {

constexpr int kLargestMicroBatch = 128;
constexpr Recompute kRecomputes[] = {Recompute::none, Recompute::selective, Recompute::full};

class Walk {
  public:
    Walk(const MappingQuery& q, perf::Predictor& predictor, SearchStats& stats)
        : q_(q), predictor_(predictor), stats_(stats) {
        best_.least_memory = std::numeric_limits<double>::max() * kByte;
    }

    BestMapping run() {
        for (const workload::Parallelism& p :
             parallelisms(*q_.model, q_.base.method, q_.work->sequence, q_.devices, q_.per_node)) {
            for (int micro_batch = 1; micro_batch <= kLargestMicroBatch; micro_batch *= 2) {
                if (static_cast<double>(p.data) * micro_batch > q_.work->batch * 1.5) break;
                if (!visit(p, micro_batch)) break;
            }
        }
        take_simplest();
        return best_;
    }

  private:
    /// False when a larger micro-batch cannot fit either: memory only grows with it.
    bool visit(const workload::Parallelism& p, int micro_batch) {
        Training t = q_.base;
        t.parallel = p;
        t.micro_batch = micro_batch;
        t.global_batch = rounded_batch(*q_.work, p.data, micro_batch, q_.batch_tolerance);
        if (t.global_batch == 0 || !workload::is_legal_mapping(*q_.model, t)) return true;
        best_.batch_legal = true;
        bool any = false;
        for (Recompute r : kRecomputes) {
            t.recompute = r;
            ++stats_.mappings;
            ++stats_.memory_checks;
            const perf::MemoryBreakdown memory = predictor_.memory(t);
            best_.least_memory = std::min(best_.least_memory, memory.total);
            if (!fits_plan(memory, q_.memory_headroom)) {
                ++stats_.cut_by_memory;
                continue;
            }
            any = true;
            weigh(t);
            // More recomputation is more work with the same traffic: once one mode fits, the next
            // can't be faster.
            if (q_.pruning == Pruning::on) break;
        }
        return any || q_.pruning == Pruning::off;
    }

    void weigh(const Training& t) {
        const double steps = steps_of(*q_.work, t.global_batch);
        if (q_.pruning == Pruning::on && best_.found &&
            steps * predictor_.lower_bound(t) >= best_.total * (1 + kTie)) {
            ++stats_.cut_by_bound;
            return;
        }
        ++stats_.predictions;
        const Seconds total = steps * predictor_.predict(t).step.total;
        if (best_.found && total > best_.total * (1 + kTie)) return;
        if (!best_.found || total < best_.total) best_.total = total;
        best_.found = true;
        near_.push_back({total, t});
    }

    void take_simplest() {
        const Near* pick = nullptr;
        for (const Near& n : near_) {
            if (n.total > best_.total * (1 + kTie)) continue;
            if (pick == nullptr || simpler(n, *pick)) pick = &n;
        }
        if (pick == nullptr) return;
        best_.training = pick->training;
        best_.total = pick->total;
    }

    struct Near {
        Seconds total;
        Training training;
    };
    static bool simpler(const Near& a, const Near& b) {
        const int ca = complexity(a.training);
        const int cb = complexity(b.training);
        return ca != cb ? ca < cb : a.total < b.total;
    }

    const MappingQuery& q_;
    perf::Predictor& predictor_;
    SearchStats& stats_;
    BestMapping best_;
    std::vector<Near> near_;
};

}  // namespace

BestMapping best_mapping(const MappingQuery& q, perf::Predictor& predictor, SearchStats& stats) {
    return Walk(q, predictor, stats).run();
}

}  // namespace trainyard::plan
