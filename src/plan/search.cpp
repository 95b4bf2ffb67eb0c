#include "trainyard/plan/search.hpp"

#include <algorithm>
#include <cmath>

#include "best_mapping.hpp"
#include "copies.hpp"
#include "eligible.hpp"
#include "opaque.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/plan/space.hpp"

namespace trainyard::plan {

Work work_of(const workload::Job& job, const Assumptions& a) {
    Work w;
    if (job.model.opaque_params) {
        w.params = w.active_params = *job.model.opaque_params;
        w.sequence = 1;
        w.sequences = job.samples.value_or(job.tokens / kToken);
        w.batch = 8 * a.number("opaque.batch_per_device");
        w.batch_source = a.row("opaque.batch_per_device").provenance.source;
        return w;
    }
    const workload::ParameterCount count = workload::count_parameters(job.model);
    w.params = static_cast<double>(count.total);
    w.active_params = static_cast<double>(count.active);
    const int longest = job.model.max_positions > 0 ? job.model.max_positions : 4096;
    w.sequence = job.sequence > 0 ? job.sequence : std::min(4096, longest);
    // Images of a vision model have no tokens: each is one sequence of patches.
    const bool by_samples = job.samples && job.tokens <= Tokens{};
    w.sequences = by_samples ? std::max(1.0, *job.samples)
                             : std::max(1.0, std::ceil(job.tokens / kToken / w.sequence));
    if (job.global_batch_tokens) {
        w.batch = std::max(1.0, std::floor(*job.global_batch_tokens / w.sequence + 0.5));
        w.batch_is_limit = true;
        w.batch_source = "yours";
    } else {
        const BatchRule& rule = a.batch(job.method, w.params);
        w.batch =
            rule.in_tokens ? std::max(1.0, std::round(rule.amount / w.sequence)) : rule.amount;
        w.batch_source = rule.provenance.source;
    }
    w.batch = std::min(w.batch, w.sequences);
    return w;
}

workload::Training base_training(const workload::Job& job, const Work& work) {
    workload::Training t;
    t.method = job.method;
    t.optimizer = job.optimizer.value_or(workload::Optimizer::adamw_fp32);
    t.precision = job.precision.value_or(catalog::Precision::bf16);
    t.lora = job.lora;
    const bool adapters =
        job.method == workload::Method::lora || job.method == workload::Method::qlora;
    if (adapters && !t.lora) t.lora = workload::Lora{};
    t.sequence = work.sequence;
    t.global_batch = std::max(1, static_cast<int>(std::min(work.batch, 1e9)));
    if (job.stack) t.stack = *job.stack;
    return t;
}

namespace {

struct TypeSearch {
    const Request* request;
    const catalog::Catalog* catalog;
    const Assumptions* assumptions;
    const Work* work;
    Pruning pruning;
    SearchResult* out;
};

Rejection too_big(const Eligible& e, const BestMapping& best, const perf::Cluster& cluster,
                  double headroom) {
    if (!best.batch_legal) {
        return {e.instance->type, Lost::batch,
                "no mapping divides the global batch over its devices", 0};
    }
    const Bytes need = best.least_memory;
    const Bytes have = cluster.accelerator->memory;
    return {e.instance->type, Lost::memory,
            "needs " + format_bytes(need) + " on each device in the leanest mapping, has " +
                format_bytes(have) + " and a plan keeps " + format_percent(headroom) + " free",
            need / kGiB};
}

Candidate candidate_of(const Eligible& e, int nodes, const perf::Cluster& cluster,
                       const BestMapping& best, perf::Predictor& predictor, const TypeSearch& s) {
    Candidate c;
    c.instance = e.instance;
    c.accelerator = e.accelerator;
    c.nodes = nodes;
    c.inter = cluster.inter;
    c.training = best.training;
    c.prediction = predictor.predict(best.training);
    const auto peak = e.accelerator->peak_for(best.training.precision);
    if (s.request->job.mfu && peak)
        c.prediction = with_mfu(c.prediction, *peak, c.devices(), *s.request->job.mfu);
    c.step = c.prediction.step.total;
    c.steps = steps_of(*s.work, best.training.global_batch);
    c.band = perf::error_band(*e.accelerator, s.request->job.model, c.training.stack);
    apply_calibration(c, s.request->job.model, s.request->calibrations);
    return c;
}

/// Fewest nodes whose lower bound meets the deadline: nothing smaller can, so sizes are searched
/// around it.
int nodes_needed(perf::Predictor& predictor, const workload::Training& base, const TypeSearch& s,
                 int per_node) {
    workload::Training t = base;
    t.parallel = {};
    t.parallel.data = per_node;
    const Seconds one = steps_of(*s.work, t.global_batch) * predictor.lower_bound(t);
    const workload::Job& job = s.request->job;
    const Seconds deadline = job.deadline.value_or(s.assumptions->number("choice.patience") * kDay);
    const double needed = std::ceil(one / deadline);
    return static_cast<int>(std::clamp(needed, 1.0, 1e6));
}

/// A Neuron run that is over before its first compile would be is no plan.
void drop_shorter_than_compile(const Eligible& e, const TypeSearch& s) {
    if (e.accelerator->vendor != "AWS") return;
    const Seconds compile = s.assumptions->seconds("startup.neuron_compile");
    const auto gone = std::erase_if(s.out->candidates, [&](const Candidate& c) {
        return c.instance == e.instance && c.training_time() < compile;
    });
    const bool any = std::any_of(s.out->candidates.begin(), s.out->candidates.end(),
                                 [&](const Candidate& c) { return c.instance == e.instance; });
    if (gone == 0 || any) return;
    s.out->rejections.push_back(
        {e.instance->type, Lost::friction,
         "the run is shorter than the first Neuron compile (" + format_duration(compile) + ")", 0});
}

/// No size up to here fits the memory: stop looking.
constexpr int kHopelessNodes = 128;

/// Larger clusters can be cheaper (no recompute, a smaller share of state), so a late deadline must
/// not hide them: every size up to here is looked at.
constexpr int kAlwaysSearched = 32;

void search_transformer(const Eligible& e, const std::vector<int>* forced, int max_nodes,
                        const TypeSearch& s) {
    const int per_node = e.instance->accelerators;
    auto cluster = perf::cluster_of(*s.catalog, *e.instance, 1);
    if (!cluster) {
        s.out->rejections.push_back(
            {e.instance->type, Lost::unknown_facts, "a bandwidth the model needs is unknown", 0});
        return;
    }
    auto wide = perf::cluster_of(*s.catalog, *e.instance, 2);
    if (wide) {
        wide->accelerators = per_node;
        cluster = wide;
    }
    if (s.request->fabric == FabricWish::tcp)
        cluster->inter = tcp_fallback(cluster->inter, *e.instance);
    perf::Predictor predictor(s.request->job.model, *cluster);
    workload::Training base = base_training(s.request->job, *s.work);
    base.precision = e.precision;
    const bool wide_ok = wide.has_value() && (spans_nodes(*e.instance) || forced != nullptr);
    const int needed = nodes_needed(predictor, base, s, per_node);
    std::vector<int> sizes = forced != nullptr ? *forced : node_counts(wide_ok ? max_nodes : 1);
    if (!wide_ok) std::erase_if(sizes, [](int n) { return n > 1; });
    bool fitted = false;
    BestMapping last;
    for (int nodes : sizes) {
        if (forced == nullptr && fitted && nodes > std::max(kAlwaysSearched, 4 * needed)) break;
        if (!fitted && nodes > std::max(kHopelessNodes, needed)) break;
        cluster->accelerators = nodes * per_node;
        predictor.resize(nodes * per_node);
        const MappingQuery q{&s.request->job.model,
                             base,
                             s.work,
                             nodes * per_node,
                             per_node,
                             s.assumptions->number("choice.batch_tolerance"),
                             s.assumptions->number("memory.headroom"),
                             s.pruning};
        const BestMapping best = best_mapping(q, predictor, s.out->stats);
        if (!best.found) {
            if (!fitted) last = best;
            continue;
        }
        fitted = true;
        s.out->candidates.push_back(candidate_of(e, nodes, *cluster, best, predictor, s));
    }
    drop_shorter_than_compile(e, s);
    if (!fitted)
        s.out->rejections.push_back(
            too_big(e, last, *cluster, s.assumptions->number("memory.headroom")));
}

void search_opaque(const Eligible& e, const std::vector<int>* forced, const TypeSearch& s) {
    const std::vector<int> sizes = forced != nullptr ? *forced : std::vector<int>{1, 2};
    bool any = false;
    for (int nodes : sizes) {
        if (nodes > 1 && !spans_nodes(*e.instance)) continue;
        const auto cluster = perf::cluster_of(*s.catalog, *e.instance, nodes);
        if (!cluster) continue;
        auto c = opaque_candidate(e, nodes, s.request->job, *s.work, *cluster, *s.assumptions);
        if (!c) continue;
        any = true;
        s.out->candidates.push_back(std::move(*c));
    }
    if (!any)
        s.out->rejections.push_back({e.instance->type, Lost::memory, "one batch does not fit", 0});
}

void search_one(const Eligible& e, const std::vector<int>* forced, int max_nodes,
                const TypeSearch& s) {
    if (s.request->job.model.opaque_params) {
        search_opaque(e, forced, s);
    } else if (s.request->job.copies > 1) {
        search_copies(e, *s.request, *s.work, *s.catalog, *s.assumptions, *s.out);
    } else {
        search_transformer(e, forced, max_nodes, s);
    }
}

}  // namespace

SearchResult search(const Request& request, const catalog::Catalog& catalog, const Assumptions& a,
                    const SearchLimits& limits) {
    SearchResult out;
    const Work work = work_of(request.job, a);
    const TypeSearch s{&request, &catalog, &a, &work, limits.pruning, &out};
    for (const Eligible& e : eligible_types(request, catalog, a, out.rejections)) {
        search_one(e, nullptr, limits.max_nodes, s);
    }
    return out;
}

SearchResult search_type(const Request& request, const catalog::Catalog& catalog,
                         const Assumptions& a, const catalog::Instance& instance,
                         const std::vector<int>& nodes, Pruning pruning) {
    SearchResult out;
    const Work work = work_of(request.job, a);
    const TypeSearch s{&request, &catalog, &a, &work, pruning, &out};
    Admission admission = admit(instance, request, catalog, a, Rules::only_facts);
    if (admission.rejection) out.rejections.push_back(std::move(*admission.rejection));
    if (admission.eligible)
        search_one(*admission.eligible, &nodes, nodes.empty() ? 1 : nodes.back(), s);
    return out;
}

}  // namespace trainyard::plan
