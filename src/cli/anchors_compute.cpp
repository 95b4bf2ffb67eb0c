#include "anchors_compute.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trainyard/perf/stack.hpp"
#include "trainyard/plan/assumptions.hpp"

namespace trainyard::cli {

namespace {

constexpr int kDegrees[] = {1, 2, 4, 8};
constexpr int kChunks[] = {1, 2, 4};
constexpr int kLargestMicroBatch = 32;
constexpr workload::Recompute kRecomputes[] = {
    workload::Recompute::none, workload::Recompute::selective, workload::Recompute::full};

struct Sharding {
    workload::Zero zero;
    bool inside_node;
};
constexpr Sharding kShardings[] = {{workload::Zero::none, false},
                                   {workload::Zero::optimizer, false},
                                   {workload::Zero::weights, false},
                                   {workload::Zero::weights, true}};

int global_batch(const Scenario& s, int devices) {
    return s.scaling == Scaling::strong ? s.sequences : s.sequences * devices;
}

/// The degrees alone: TP x PP x chunks x DP.
std::vector<workload::Parallelism> degrees(const Scenario& s, int devices, int per_node) {
    std::vector<workload::Parallelism> all;
    for (int tensor : kDegrees) {
        for (int pipeline : kDegrees) {
            if (devices % (tensor * pipeline) != 0 || tensor > per_node) continue;
            if (s.mappings == MappingSet::sharded && tensor * pipeline > 1) continue;
            for (int chunks : kChunks) {
                if (chunks > 1 && pipeline == 1) continue;
                workload::Parallelism p;
                p.tensor = tensor;
                p.sequence_parallel = tensor > 1;
                p.pipeline = pipeline;
                p.virtual_stages = chunks;
                p.data = devices / tensor / pipeline;
                all.push_back(p);
            }
        }
    }
    return all;
}

/// False where the sharding says nothing new.
bool shard(workload::Parallelism& p, Sharding s, int per_node) {
    p.zero = s.zero;
    if (s.zero == workload::Zero::none) return true;
    if (p.data == 1) return false;
    if (!s.inside_node) return true;
    const int local = per_node / p.tensor;
    p.shard_group = local;
    return p.pipeline == 1 && local > 1 && p.data > local && p.data % local == 0;
}

Result<perf::Cluster> cluster_for(const catalog::Catalog& catalog, const std::string& type,
                                  int devices, Wire wire) {
    const catalog::Instance* i = catalog.instance(type);
    if (i == nullptr) {
        return bad_input(Diagnostic{Severity::error,
                                    {},
                                    "the catalog has no instance type \"" + type + "\"",
                                    "the guide's anchors are computed on it",
                                    "add it to the --catalog tables"});
    }
    const int per_node = std::max(1, i->accelerators);
    auto cluster = perf::cluster_of(catalog, *i, (devices + per_node - 1) / per_node);
    if (!cluster) return cluster;
    cluster->accelerators = devices;
    if (wire != Wire::efa && cluster->nodes() > 1) {
        if (wire == Wire::tcp_one) cluster->inter = perf::first_card_tcp(*cluster, *i);
        cluster->inter.fabric = perf::Fabric::tcp;
    }
    return cluster;
}

/// The planner's rule: a share of the memory stays free.
bool fits(const perf::MemoryBreakdown& m) {
    static const double headroom = plan::Assumptions::embedded().number("memory.headroom");
    return m.total <= (1 - headroom) * m.capacity;
}

/// The fastest mapping of the set that fits; nothing if none does.
std::optional<Side> fastest(const workload::Model& model, const Anchor& a, const Scenario& s,
                            const perf::Cluster& cluster) {
    perf::Predictor predictor(model, cluster);
    std::optional<Side> best;
    const auto all =
        stated_mappings(model, a.sequence, s, cluster.accelerators, cluster.accelerators_per_node);
    for (const workload::Training& t : all) {
        if (!fits(predictor.memory(t))) continue;
        perf::Prediction p = predictor.predict(t);
        if (best && p.step.total >= best->prediction.step.total) continue;
        best = Side{cluster, t, std::move(p)};
    }
    return best;
}

/// Whole nodes above one, until the job fits; nothing up to `limit` devices.
Result<std::optional<Side>> smallest_that_fits(const workload::Model& model, const Anchor& a,
                                               const Scenario& s, const catalog::Catalog& catalog,
                                               int limit) {
    const catalog::Instance* i = catalog.instance(s.base_instance);
    const int per_node = i != nullptr ? std::max(1, i->accelerators) : 1;
    for (int devices = 1; devices <= limit;
         devices = devices < per_node ? devices * 2 : devices + per_node) {
        auto cluster = cluster_for(catalog, s.base_instance, devices, Wire::efa);
        if (!cluster) return cluster.error();
        if (auto side = fastest(model, a, s, *cluster)) return side;
    }
    return std::optional<Side>{};
}

struct Term {
    std::string_view name;
    Seconds perf::StepBreakdown::* member;
};
constexpr Term kTerms[] = {{"matrix products", &perf::StepBreakdown::gemm},
                           {"attention", &perf::StepBreakdown::attention},
                           {"memory-bound", &perf::StepBreakdown::memory_bound},
                           {"logits and loss", &perf::StepBreakdown::head_loss},
                           {"recompute", &perf::StepBreakdown::recompute},
                           {"host launch", &perf::StepBreakdown::launch},
                           {"tensor traffic", &perf::StepBreakdown::tensor_comm},
                           {"expert traffic", &perf::StepBreakdown::expert_comm},
                           {"context traffic", &perf::StepBreakdown::context_comm},
                           {"pipeline sends", &perf::StepBreakdown::pipeline_comm},
                           {"pipeline bubble", &perf::StepBreakdown::pipeline_bubble},
                           {"data traffic", &perf::StepBreakdown::data_comm},
                           {"optimizer", &perf::StepBreakdown::optimizer},
                           {"stragglers", &perf::StepBreakdown::straggler}};

/// Device-seconds per sequence of a duration of the step.
double device_seconds(const Side& s, Seconds t) {
    return t / kSecond * s.devices() / s.training.global_batch;
}

std::vector<Loss> losses_between(const Side& base, const Side& side) {
    const double all = device_seconds(base, base.prediction.step.total);
    std::vector<Loss> losses;
    for (const Term& term : kTerms) {
        const double more = device_seconds(side, side.prediction.step.*term.member) -
                            device_seconds(base, base.prediction.step.*term.member);
        losses.push_back({term.name, more / all});
    }
    std::sort(losses.begin(), losses.end(), [](const Loss& x, const Loss& y) {
        return x.share != y.share ? x.share > y.share : x.term < y.term;
    });
    return losses;
}

}  // namespace

double ScenarioResult::speedup() const {
    return known() ? side->prediction.tokens_per_second / base->prediction.tokens_per_second : 0;
}

double ScenarioResult::in_measure(Measure m, double of_efficiency) const {
    if (m == Measure::efficiency || !known()) return of_efficiency;
    return of_efficiency * side->devices() / base->devices();
}

double ScenarioResult::working() const {
    if (!known()) return 0;
    const perf::Prediction& p = side->prediction;
    return 1 - p.communication_share - p.bubble_share - p.step.straggler / p.step.total;
}

namespace {

/// The known scenario with the least distance |log(value / claim)| among those that `accept` takes.
template <typename Accept>
const ScenarioResult* nearest_of(const AnchorResult& r, Accept accept) {
    const ScenarioResult* best = nullptr;
    double least = std::numeric_limits<double>::max();
    for (const ScenarioResult& s : r.scenarios) {
        if (!s.known()) continue;
        const double distance = std::log(s.value(r.anchor->measure) / r.anchor->claimed());
        if (!accept(distance) || std::fabs(distance) >= least) continue;
        least = std::fabs(distance);
        best = &s;
    }
    return best;
}

}  // namespace

const ScenarioResult* AnchorResult::nearest() const {
    return nearest_of(*this, [](double) { return true; });
}
const ScenarioResult* AnchorResult::nearest_above() const {
    return nearest_of(*this, [](double distance) { return distance > 0; });
}
const ScenarioResult* AnchorResult::nearest_below() const {
    return nearest_of(*this, [](double distance) { return distance <= 0; });
}

std::vector<workload::Training> stated_mappings(const workload::Model& model, int sequence,
                                                const Scenario& s, int devices, int per_node) {
    std::vector<workload::Training> all;
    workload::Training t;
    t.stack = s.stack;
    t.sequence = sequence;
    t.global_batch = global_batch(s, devices);
    if (const perf::Stack* stack = perf::find_stack(s.stack)) t.attention = stack->attention;
    for (const workload::Parallelism& p : degrees(s, devices, per_node)) {
        for (const Sharding& sharding : kShardings) {
            t.parallel = p;
            if (!shard(t.parallel, sharding, per_node)) continue;
            for (int micro_batch = 1; micro_batch <= kLargestMicroBatch; ++micro_batch) {
                t.micro_batch = micro_batch;
                for (workload::Recompute r : kRecomputes) {
                    t.recompute = r;
                    if (workload::is_legal_mapping(model, t)) all.push_back(t);
                }
            }
        }
    }
    return all;
}

Result<ScenarioResult> compute(const Anchor& a, const Scenario& s,
                               const catalog::Catalog& catalog) {
    const auto model = workload::find_model(a.model);
    if (!model) return model.error();
    ScenarioResult r;
    r.scenario = &s;
    const auto cluster = cluster_for(catalog, s.instance, s.devices, s.wire);
    if (!cluster) return cluster.error();
    r.side = fastest(*model, a, s, *cluster);
    if (s.base_devices == 0) {
        auto base = smallest_that_fits(*model, a, s, catalog, s.devices);
        if (!base) return base.error();
        r.base = std::move(*base);
    } else {
        const auto small = cluster_for(catalog, s.base_instance, s.base_devices, s.wire);
        if (!small) return small.error();
        r.base = fastest(*model, a, s, *small);
    }
    if (!r.known()) return r;
    r.efficiency = r.speedup() * r.base->devices() / r.side->devices();
    const perf::ErrorBand band = perf::error_band(r.side->cluster.accelerator->id);
    r.low = r.efficiency / band.high;
    r.high = r.efficiency / band.low;
    r.losses = losses_between(*r.base, *r.side);
    return r;
}

Result<std::vector<AnchorResult>> compute_all(const std::vector<Anchor>& anchors,
                                              const catalog::Catalog& catalog) {
    std::vector<AnchorResult> all;
    for (const Anchor& a : anchors) {
        AnchorResult r;
        r.anchor = &a;
        for (const Scenario& s : a.scenarios) {
            auto one = compute(a, s, catalog);
            if (!one) return one.error();
            r.scenarios.push_back(std::move(*one));
        }
        all.push_back(std::move(r));
    }
    return all;
}

}  // namespace trainyard::cli
