// What could go wrong: sentences with a weight; the report prints the three heaviest.

#include <algorithm>

#include "context.hpp"
#include "facts_price.hpp"
#include "trainyard/base/text.hpp"
#include "weighted.hpp"
#include "words.hpp"

namespace trainyard::plan {
namespace {

/// When the block ends, and what a run past it takes.
std::string block_risk(const Context& x) {
    const Offer& o = x.chosen->offer;
    const Candidate& c = x.chosen->candidate;
    const Seconds end = *o.block_days * kDay - x.assumptions.seconds("block.ends_early");
    const std::string s =
        "the Capacity Block is paid up front, cannot be cancelled and ends after " +
        format_duration(end);
    if (o.wall.high <= end)
        return s + ": a run past that (the range ends at " + format_duration(o.wall.high) +
               ") needs an extension";
    return s + ", before the slow end of the range (" + format_duration(o.wall.high) +
           "): the rest needs an extension, or on-demand quota (" +
           grouped(std::int64_t{c.nodes} * c.instance->vcpu) + " vCPU), which takes 2 to 5 weeks";
}

std::string quota_risk(const Context& x, bool late) {
    const Candidate& c = x.chosen->candidate;
    std::string s = describe_cluster(c) + " on demand needs quota (" +
                    grouped(std::int64_t{c.nodes} * c.instance->vcpu) +
                    " vCPU); an increase takes 2 to 5 weeks";
    if (!late) return s;
    s += ": with that wait the deadline is missed";
    const Option* block = block_in_time(x.options, x.limits);
    if (block == nullptr) return s + ", so use quota you have";
    return s + "; without quota of your own book " + describe_cluster(block->candidate) + ", " +
           purchase_words(block->offer) + " (" + money(block->offer.cost.expected) + " in " +
           format_duration(block->offer.wall.expected) + ")";
}

void capacity_risk(const Context& x, std::vector<Weighted>& out) {
    const Offer& o = x.chosen->offer;
    const Candidate& c = x.chosen->candidate;
    if (o.purchase == Purchase::owned) return;
    if (o.purchase == Purchase::spot || o.purchase == Purchase::mixed) {
        const bool gang = c.nodes > 1 && x.request.job.copies == 1;
        out.push_back(
            {90, "spot capacity: " + plural(c.nodes, "node") +
                     (gang ? " at once in one AZ may not be there; gangs often die whole"
                           : " may not be there when you want it, and can be taken back")});
    } else if (o.purchase == Purchase::capacity_block) {
        out.push_back({80, block_risk(x)});
    } else if (x.assumptions.quota(c.instance->family) != nullptr) {
        const bool late = quota_comes_late(*x.chosen, x.limits, x.assumptions);
        out.push_back({late ? 95 : 60, quota_risk(x, late)});
    }
}

void price_risk(const Context& x, std::vector<Weighted>& out) {
    const Offer& o = x.chosen->offer;
    if (o.stale && !is_own_price(o.rate_source)) {
        out.push_back(
            {65, "the price is " + price_age(o.rate_source, o.price_age_days) +
                     (o.rate_source.as_of.size() > 4 ? " (" + o.rate_source.as_of + ")" : "") +
                     ": refresh it with --prices before you commit"});
    }
}

void error_risk(const Context& x, std::vector<Weighted>& out) {
    const perf::ErrorBand& b = x.chosen->candidate.band;
    out.push_back({55, "time may miss the 80 % range (" + format_fixed((b.low - 1) * 100, 0) +
                           " % to +" + format_fixed((b.high - 1) * 100, 0) +
                           " %) one time in five; basis: " + b.basis});
}

void scaling_risk(const Context& x, std::vector<Weighted>& out) {
    const Candidate& c = x.chosen->candidate;
    const int data = c.training.parallel.data * c.training.parallel.context;
    if (data > x.assumptions.number("choice.dp_soft_limit") && c.jobs_per_node <= 1) {
        out.push_back(
            {70,
             std::to_string(data) +
                 " data-parallel ranks are above the rule of thumb of 64; see the computed knee in "
                 "--explain"});
    }
    const perf::MemoryBreakdown& m = c.prediction.memory;
    if (m.capacity > Bytes{} && m.total > 0.93 * m.capacity && c.training.micro_batch == 1) {
        out.push_back({68, "memory is tight: " + percent(m.total / m.capacity) +
                               " of the device; nothing smaller is left to "
                               "choose, so a longer sequence runs out"});
    }
    if (c.prediction.communication_share > 0.25) {
        out.push_back(
            {66, "communication is " + percent(c.prediction.communication_share) +
                     " of the step: a broken EFA set-up falls back to TCP and costs a multiple"});
    } else if (c.nodes > 1 && x.request.job.copies == 1) {
        out.push_back({52,
                       "without a working EFA path NCCL falls back to TCP: check \"NET/OFI\" in "
                       "the NCCL log with nccl-tests "
                       "before training"});
    }
}

void failure_risk(const Context& x, std::vector<Weighted>& out) {
    const RunRisk& r = x.chosen->offer.risk;
    if (r.interruptions < 0.5) return;
    out.push_back({58, "expect " + format_fixed(r.interruptions, r.interruptions < 10 ? 1 : 0) +
                           " interruptions (up to " +
                           format_fixed(r.interruptions_high, r.interruptions_high < 10 ? 1 : 0) +
                           "), each losing about " + format_duration(r.lost_per_interruption) +
                           ": test the resume before the run"});
}

void device_risk(const Context& x, std::vector<Weighted>& out) {
    const Candidate& c = x.chosen->candidate;
    for (const DeviceRule* rule : x.assumptions.device_rules(c.accelerator->architecture)) {
        if (rule->rule != "no-bf16" || c.training.precision != catalog::Precision::bf16)
            out.push_back({75, rule->text});
    }
    if (c.accelerator->vendor == "AWS") {
        out.push_back({92,
                       "Trainium: compile time, graph breaks and missing kernels; it is in the "
                       "plan only because you accept "
                       "friction"});
    }
    if (c.training.precision == catalog::Precision::fp4) {
        out.push_back({88,
                       "fp4 is young: the published recipe keeps some layers in bf16 (arXiv "
                       "2509.25149); compare the loss with bf16 on your data first"});
    }
    if (c.training.precision == catalog::Precision::fp8) {
        out.push_back({78,
                       "fp8 needs a recipe (delayed or block scaling) and a loss comparison with "
                       "bf16 on your data first"});
    }
    if (x.request.job.model.moe) {
        out.push_back({62,
                       "uneven routing makes the busiest expert the clock: watch load balance and "
                       "dropped tokens"});
    }
    if (!c.limit.empty()) {
        out.push_back({85,
                       "without DALI, pre-resized or FFCV data the CPUs decode too slowly and the "
                       "devices idle"});
    }
}

}  // namespace

std::vector<std::string> risks_of(const Context& x) {
    if (x.chosen == nullptr) return {};
    std::vector<Weighted> all;
    capacity_risk(x, all);
    price_risk(x, all);
    error_risk(x, all);
    scaling_risk(x, all);
    failure_risk(x, all);
    device_risk(x, all);
    return heaviest_first(std::move(all));
}

}  // namespace trainyard::plan
