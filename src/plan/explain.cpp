#include "trainyard/plan/explain.hpp"

#include <algorithm>
#include <cmath>

#include "best_mapping.hpp"
#include "context.hpp"
#include "eligible.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/plan/choose.hpp"
#include "trainyard/plan/space.hpp"
#include "words.hpp"

namespace trainyard::plan {

Scaling scaling_of(const Request& request, const catalog::Catalog& catalog, const Assumptions& a,
                   const Candidate& chosen) {
    Scaling s;
    const bool wide = spans_nodes(*chosen.instance);
    const std::vector<int> sizes = node_counts(wide ? std::max(16, chosen.nodes * 4) : 1);
    const SearchResult r = search_type(request, catalog, a, *chosen.instance, sizes);
    if (r.candidates.empty()) return s;
    const Candidate& first = r.candidates.front();
    const auto each = [](const Candidate& c) {
        return c.prediction.tokens_per_second / kTokensPerSecond / c.devices();
    };
    for (const Candidate& c : r.candidates) {
        ScalingPoint p;
        p.nodes = c.nodes;
        p.devices = c.devices();
        p.data_parallel = c.training.parallel.data * c.training.parallel.context;
        p.step = c.step;
        p.global_batch = c.training.global_batch;
        p.tokens_per_second = c.prediction.tokens_per_second;
        p.efficiency = each(c) / each(first);
        p.communication_share = c.prediction.communication_share;
        p.mapping = describe_mapping(c.training);
        if (p.efficiency >= a.number("choice.knee_efficiency"))
            s.knee_devices = std::max(s.knee_devices, p.devices);
        s.points.push_back(std::move(p));
    }
    const int soft = static_cast<int>(a.number("choice.dp_soft_limit"));
    const int used = chosen.training.parallel.data * chosen.training.parallel.context;
    s.dp_warning = "rule of thumb: data parallelism is good to about " + std::to_string(soft) +
                   " ranks; this plan uses " + std::to_string(used) +
                   "; computed knee at this batch: " + std::to_string(s.knee_devices) +
                   " devices (" + percent(a.number("choice.knee_efficiency")) + " efficiency)";
    const bool above = std::any_of(s.points.begin(), s.points.end(),
                                   [](const ScalingPoint& p) { return p.efficiency > 1.005; });
    if (above) {
        s.dp_warning +=
            "; above 100 %: with the state over more devices there is room for less "
            "recomputation or a larger micro-batch";
    }
    return s;
}

namespace {

/// What forbids or costs something on this device, in words.
std::string device_words(const catalog::Accelerator& acc, const workload::Job& job,
                         const Assumptions& a) {
    std::string s;
    for (const DeviceRule* rule : a.device_rules(acc.architecture)) {
        const bool precision_rule = rule->rule == "no-bf16";
        if (precision_rule &&
            job.precision.value_or(catalog::Precision::bf16) != catalog::Precision::bf16)
            continue;
        s += (s.empty() ? "" : "; ") + rule->text;
    }
    return s;
}

std::optional<Option> best_option(const SearchResult& r, const Request& request, const Work& work,
                                  const catalog::Catalog& catalog, const Assumptions& a) {
    std::vector<Option> options;
    for (const Candidate& c : r.candidates) {
        const ServiceChoice service = service_for(c, request, catalog, a, 0);
        for (Offer& o : offers(c, request, work, service.service, catalog, a))
            options.push_back({c, std::move(o)});
    }
    const Choice choice = choose(options, limits_of(request, a), a);
    if (choice.index) return options[*choice.index];
    const auto least =
        std::min_element(options.begin(), options.end(), [](const Option& x, const Option& y) {
            return x.offer.cost.expected < y.offer.cost.expected;
        });
    if (least == options.end()) return std::nullopt;
    return *least;
}

std::string spot_words(const Option& o, const Request& request, const Work& work,
                       const catalog::Catalog& catalog, const Assumptions& a) {
    for (const Offer& s : offers(o.candidate, request, work, "EC2", catalog, a)) {
        if (s.purchase != Purchase::spot) continue;
        return ". Spot: " + per_hour(s.rate) + " (" + s.rate_source.as_of + "), " +
               percent(s.risk.band_low) + " to " + percent(s.risk.band_high) +
               " of instances lost per month" +
               (s.risk.band_low >= 0.2 ? ": volatile, only for jobs that restart often" : "");
    }
    return "";
}

std::string describe(const Option& o) {
    return describe_cluster(o.candidate) + " " + purchase_words(o.offer) + " would take " +
           format_duration(o.offer.wall.expected) + " and " +
           format_usd(to_usd(o.offer.cost.expected)) + " (" +
           describe_mapping(o.candidate.training) + ", " +
           std::string(catalog::to_string(o.candidate.training.precision)) + ")";
}

}  // namespace

WhyNot why_not(const std::string& type, const Request& request, const Work& work,
               const catalog::Catalog& catalog, const Assumptions& a,
               const std::optional<Option>& chosen) {
    WhyNot w;
    w.instance = type;
    const catalog::Instance* i = catalog.instance(type);
    if (i == nullptr) {
        w.answer = "no such instance type in the catalog";
        return w;
    }
    if (chosen && chosen->candidate.instance->type == type) {
        w.answer = "it is the chosen type: " + describe(*chosen) +
                   spot_words(*chosen, request, work, catalog, a);
        w.best = chosen;
        return w;
    }
    const Admission rules = admit(*i, request, catalog, a, Rules::all);
    Request lenient = request;
    lenient.job.precision.reset();
    if (request.job.precision == catalog::Precision::fp8)
        lenient.job.precision = request.job.precision;
    const std::vector<int> sizes =
        node_counts(std::max(64, chosen ? chosen->candidate.nodes * 4 : 1));
    SearchResult r =
        search_type(lenient, catalog, a, *i, spans_nodes(*i) ? sizes : std::vector<int>{1});
    // Too large for one node of a type without a fast network: over TCP it may still run.
    const bool alone = request.job.copies > 1 || request.job.model.opaque_params;
    if (r.candidates.empty() && !spans_nodes(*i) && !alone)
        r = search_type(lenient, catalog, a, *i, sizes);
    const catalog::Accelerator* acc = catalog.accelerator(i->accelerator);
    std::string kept_out = rules.rejection ? rules.rejection->text : "";
    const std::string device = acc != nullptr ? device_words(*acc, request.job, a) : "";
    if (!device.empty() && kept_out != device) {
        kept_out = kept_out.empty() || device.find(kept_out) != std::string::npos
                       ? device
                       : kept_out + "; " + device;
    }
    w.best = best_option(r, lenient, work, catalog, a);
    if (!w.best) {
        const std::string no_fit = r.candidates.empty() && !r.rejections.empty()
                                       ? r.rejections.front().text
                                       : "no price known in the allowed regions";
        w.answer = kept_out.empty() ? no_fit : kept_out + "; and " + no_fit;
        return w;
    }
    w.answer = (kept_out.empty() ? "" : kept_out + ". ") + describe(*w.best);
    if (chosen) {
        const Limits l = limits_of(request, a);
        const bool cheaper = w.best->offer.cost.expected < chosen->offer.cost.expected;
        std::string lost = why_lost(*w.best, *chosen, l, a);
        if (cheaper && rules.rejection) {
            lost = format_usd(to_usd(chosen->offer.cost.expected) -
                              to_usd(w.best->offer.cost.expected)) +
                   " cheaper, and out for the reason above";
        }
        w.answer += ": " + lost + " (chosen: " + money(chosen->offer.cost.expected) + " in " +
                    format_duration(chosen->offer.wall.expected) + ")";
    }
    w.answer += spot_words(*w.best, lenient, work, catalog, a);
    return w;
}

namespace {

/// Time per sequence on `nodes`, with the fabric replaced if `tcp`.
std::optional<Seconds> time_on(const Request& request, const catalog::Catalog& catalog,
                               const Work& work, const catalog::Instance& i, int nodes, bool tcp) {
    auto cluster = perf::cluster_of(catalog, i, nodes);
    if (!cluster) return std::nullopt;
    if (tcp) cluster->inter = tcp_fallback(cluster->inter, i);
    perf::Predictor predictor(request.job.model, *cluster);
    MappingQuery q;
    q.model = &request.job.model;
    q.base = base_training(request.job, work);
    q.work = &work;
    q.devices = nodes * i.accelerators;
    q.per_node = i.accelerators;
    q.batch_tolerance = 0.25;  // the batch of a run that exists is what it is
    // The user's own mapping is plain FSDP: the question is what the wire does to it, not what a
    // better mapping would.
    std::optional<Seconds> best;
    for (const workload::Training& t :
         trainings(request.job.model, q.base, work, q.devices, q.per_node, q.batch_tolerance)) {
        const workload::Parallelism& p = t.parallel;
        const bool plain = p.tensor == 1 && p.pipeline == 1 && p.context == 1 && p.expert == 1 &&
                           p.shard_group == 0;
        if (!plain || p.zero != workload::Zero::weights) continue;
        // The run exists, so it fitted somehow: the leanest form counts even where the memory model
        // doubts it.
        const bool leanest = t.micro_batch == 1 && t.recompute == workload::Recompute::full;
        if (!leanest && !predictor.memory(t).fits()) continue;
        const Seconds each = predictor.predict(t).step.total / t.global_batch;
        if (!best || each < *best) best = each;
    }
    return best;
}

}  // namespace

std::optional<Diagnosis> diagnose(const Request& request, const catalog::Catalog& catalog,
                                  const Assumptions& a) {
    if (!request.observed) return std::nullopt;
    const Observed& seen = *request.observed;
    const catalog::Instance* i = catalog.instance(seen.instance);
    if (i == nullptr) return std::nullopt;
    const Work work = work_of(request.job, a);
    const auto one = time_on(request, catalog, work, *i, 1, false);
    const auto fabric = time_on(request, catalog, work, *i, seen.nodes, false);
    const auto tcp = time_on(request, catalog, work, *i, seen.nodes, true);
    if (!one || !fabric || !tcp) return std::nullopt;
    Diagnosis d;
    d.with_fabric = *one / *fabric;
    d.without_fabric = *one / *tcp;
    const bool like_tcp = std::fabs(std::log(seen.speedup / d.without_fabric)) <
                          std::fabs(std::log(seen.speedup / d.with_fabric));
    const std::string n = std::to_string(seen.nodes);
    d.verdict =
        times(seen.speedup) + " on " + n + " nodes, expected " + times(d.with_fabric) +
        " with EFA (at most " + n + ") and " + times(d.without_fabric) + " over TCP: " +
        (like_tcp ? "a TCP fallback" : "EFA works; look at the mapping and the input pipeline");
    if (!like_tcp) return d;
    // NOLINTBEGIN(bugprone-suspicious-missing-comma): long sentences go over two lines
    d.checks = {
        "NCCL log: \"NET/Socket\" means TCP; a good run prints \"NET/OFI Selected Provider is "
        "efa\"",
        "security group: allow ALL traffic to and from itself, inbound and outbound; a UDP port "
        "range is not EFA",
        "one subnet in one AZ: EFA does not cross zones",
        plural(i->efa_interfaces, "EFA interface") + " per node, enabled on the compute resource",
        "image with libfabric and aws-ofi-nccl",
        "a cluster placement group (recommended, but not with a Capacity Block or reservation that "
        "brings its own)",
        "verify with nccl-tests all_reduce before training; then expect about " +
            times(d.with_fabric),
    };
    // NOLINTEND(bugprone-suspicious-missing-comma)
    return d;
}

}  // namespace trainyard::plan
