// Why this plan: sentences with a weight; the report prints the three heaviest.

#include <algorithm>

#include "context.hpp"
#include "facts_state.hpp"
#include "trainyard/base/text.hpp"
#include "weighted.hpp"
#include "words.hpp"

namespace trainyard::plan {
namespace {

/// What the cheapest way is measured against: in time, as safe as the chosen one, no commitment.
bool compares(const Context& x, const Option& o) {
    if (is_guaranteed(x.chosen->offer.purchase) && !is_guaranteed(o.offer.purchase)) return false;
    return is_safe(o, x.limits, x.assumptions) && !o.offer.commitment &&
           o.offer.wall.expected <= x.limits.deadline;
}

std::string option_words(const Option& o) {
    return describe_cluster(o.candidate) + " " + purchase_words(o.offer) + ", " +
           money(o.offer.cost.expected) + " in " + format_duration(o.offer.wall.expected);
}

/// Something cheaper is in time too: what the difference buys.
std::string dearer_words(const Context& x, const Option& least) {
    const Option& mine = *x.chosen;
    const double ratio =
        to_usd(mine.offer.cost.expected) / std::max(to_usd(least.offer.cost.expected), 0.01 * kUsd);
    std::string s = ratio < 1.005 ? "costs the same as the cheapest way ("
                                  : "costs " + more(ratio) + " more than the cheapest way (";
    s += option_words(least) + ")";
    const Seconds sooner = least.offer.wall.expected - mine.offer.wall.expected;
    if (x.limits.value_per_day && sooner > Seconds{}) {
        const Usd worth = sooner / kDay * *x.limits.value_per_day;
        return s + " and ends " + format_duration(sooner) + " sooner: at " +
               format_usd(*x.limits.value_per_day) + " a day that is worth " + format_usd(worth);
    }
    const int fewer = least.candidate.nodes - mine.candidate.nodes;
    std::string gain;
    if (sooner > Seconds{}) gain = "ends " + format_duration(sooner) + " sooner";
    if (fewer > 0)
        gain += (gain.empty() ? "takes " : " and takes ") + plural(fewer, "node") + " less";
    return gain.empty() ? s : s + " and " + gain;
}

void cheapest_reason(const Context& x, std::vector<Weighted>& out) {
    const Option* next = nullptr;  // of another type
    const Option* least = nullptr;
    for (const Option& o : x.options) {
        if (!compares(x, o)) continue;
        const bool other = o.candidate.instance != x.chosen->candidate.instance;
        if (least == nullptr || o.offer.cost.expected < least->offer.cost.expected) least = &o;
        if (other && (next == nullptr || o.offer.cost.expected < next->offer.cost.expected))
            next = &o;
    }
    if (least != nullptr && least->offer.cost.expected < x.chosen->offer.cost.expected) {
        out.push_back({80, dearer_words(x, *least)});
        return;
    }
    if (next == nullptr) return;
    const bool firm = is_guaranteed(x.chosen->offer.purchase);
    const bool managed =
        service_for(x.chosen->candidate, x.request, x.catalog, x.assumptions, 0).service ==
        "SageMaker";
    const double ratio = to_usd(next->offer.cost.expected) /
                         std::max(to_usd(x.chosen->offer.cost.expected), 0.01 * kUsd);
    out.push_back({80, std::string(!firm     ? "cheapest way, on spot"
                                   : managed ? "cheapest way that SageMaker sells"
                                             : "cheapest way on guaranteed capacity") +
                           ": the best other type, " + option_words(*next) + ", costs " +
                           (ratio >= 3 ? times(ratio) + " as much" : more(ratio) + " more")});
}

/// What renting would take, for those who have machines.
void rental_reason(const Context& x, std::vector<Weighted>& out) {
    const Option& own = *x.chosen;
    if (own.candidate.nodes < x.request.have->nodes) {
        out.push_back(
            {92, "more of your machines would bring less than " +
                     percent(x.assumptions.number("choice.near_equal_time")) + " of speed: " +
                     plural(x.request.have->nodes - own.candidate.nodes, "node") + " stay free"});
    }
    if (x.elsewhere == nullptr) return;
    out.push_back({90, "renting " + describe_cluster(x.elsewhere->candidate) + " (" +
                           purchase_words(x.elsewhere->offer) + ") would take " +
                           format_duration(x.elsewhere->offer.wall.expected) + " and cost " +
                           money(x.elsewhere->offer.cost.expected) + "; yours takes " +
                           format_duration(own.offer.wall.expected) + " and costs " +
                           money(own.offer.cost.expected)});
}

void margin_reason(const Context& x, std::vector<Weighted>& out) {
    const Offer& o = x.chosen->offer;
    std::string s;
    if (x.limits.deadline_given) {
        const Seconds slack = x.limits.deadline - o.wall.high;
        if (slack >= Seconds{})
            s = "even the slow end of the range ends " + format_duration(slack) +
                " before the deadline";
    }
    if (x.limits.budget) {
        const Usd left = *x.limits.budget - to_usd(o.cost.high);
        if (left >= Usd{})
            s += std::string(s.empty() ? "" : " and ") + "leaves " + format_usd(left) +
                 " of the budget";
    }
    if (!s.empty()) out.push_back({70, s});
}

void fewer_devices_reason(const Context& x, std::vector<Weighted>& out) {
    if (x.requested == nullptr || x.requested->candidate.nodes <= x.chosen->candidate.nodes) return;
    const Candidate& big = x.requested->candidate;
    const Candidate& small = x.chosen->candidate;
    const double speedup = small.training_time() / big.training_time();
    const double devices = static_cast<double>(big.devices()) / small.devices();
    const Usd saved =
        to_usd(x.requested->offer.cost.expected) - to_usd(x.chosen->offer.cost.expected);
    out.push_back({100, std::to_string(big.devices()) + " devices are only " + times(speedup) +
                            " as fast as " + std::to_string(small.devices()) + " (" +
                            percent(speedup / devices) +
                            " efficiency): at this batch each device has too little work per step, "
                            "and communication (" +
                            percent(big.prediction.communication_share) +
                            ") and overhead dominate; fewer saves " + format_usd(saved)});
}

void elsewhere_reason(const Context& x, std::vector<Weighted>& out) {
    if (x.elsewhere == nullptr) return;
    const Usd saved =
        to_usd(x.chosen->offer.cost.expected) - to_usd(x.elsewhere->offer.cost.expected);
    if (saved <= Usd{}) return;
    out.push_back(
        {90, "free to change the type? " + describe_cluster(x.elsewhere->candidate) + " (" +
                 std::string(x.elsewhere->candidate.devices() == 1 ? "a single GPU, " : "") +
                 purchase_words(x.elsewhere->offer) + ") takes " +
                 format_duration(x.elsewhere->offer.wall.expected) + " and saves " +
                 format_usd(saved)});
}

/// From here on one sequence decides the memory (tokens).
constexpr int kLongSequence = 32768;

void mapping_reason(const Context& x, std::vector<Weighted>& out) {
    const Candidate& c = x.chosen->candidate;
    const workload::Parallelism& p = c.training.parallel;
    const Bytes state = training_state(x, *x.chosen).total();
    const bool alone = state <= c.prediction.memory.capacity;
    const bool adapters = x.request.job.method == workload::Method::lora ||
                          x.request.job.method == workload::Method::qlora;
    if (x.request.job.copies > 1) return;
    if (c.devices() == 1 && !adapters) {
        out.push_back({75,
                       "one device holds the model and the time allows it: nothing to communicate, "
                       "nothing to scale"});
    } else if (adapters && c.devices() == 1) {
        out.push_back({75, "frozen base weights and small adapters fit one device (" +
                               format_bytes(c.prediction.memory.total) +
                               "): no parallelism needed"});
    } else if (p.context > 1) {
        out.push_back({85, "context parallelism " + std::to_string(p.context) +
                               " because activations of one sequence of " +
                               std::to_string(c.training.sequence) +
                               " tokens dominate memory; micro-batch " +
                               std::to_string(c.training.micro_batch)});
    } else if (c.training.sequence >= kLongSequence && p.tensor > 1) {
        const perf::MemoryBreakdown& m = c.prediction.memory;
        out.push_back({85, "activations and logits of one sequence of " +
                               std::to_string(c.training.sequence) + " tokens take " +
                               format_bytes(m.activations + m.logits + m.workspace) + " of " +
                               format_bytes(m.total) + " per device even when split by TP " +
                               std::to_string(p.tensor) +
                               "; context parallelism splits them too; micro-batch " +
                               std::to_string(c.training.micro_batch)});
    } else if (p.expert > 1) {
        out.push_back({85, "expert parallelism " + std::to_string(p.expert) +
                               " inside the node keeps the all-to-all on NVLink"});
    } else if (p.zero == workload::Zero::weights || p.tensor > 1 || p.pipeline > 1) {
        out.push_back({60, describe_mapping(c.training) + " because the state (" + gb(state) +
                               (alone ? ") and the activations do not fit one device"
                                      : ") does not fit one device") +
                               ", and it is the fastest legal mapping that fits"});
    }
}

void speed_reason(const Context& x, std::vector<Weighted>& out) {
    const Candidate& c = x.chosen->candidate;
    if (!c.limit.empty()) {
        out.push_back(
            {95, "the " + c.limit + " is the ceiling: more or faster devices would wait for data"});
        return;
    }
    if (c.prediction.mfu <= 0) return;
    out.push_back({50, "keeps the devices busy: MFU " + percent(c.prediction.mfu) +
                           ", communication " + percent(c.prediction.communication_share) +
                           " of the step"});
}

void work_reason(const Context& x, std::vector<Weighted>& out) {
    if (x.request.job.model.moe) {
        const Candidate& c = x.chosen->candidate;
        out.push_back({65, "mixture of experts: MFU " + percent(c.prediction.mfu) +
                               " is lower than a dense model's, because experts see small batches "
                               "and tokens travel"});
    }
    if (x.request.job.copies > 1) {
        out.push_back({75,
                       "runs are independent, so cost hardly depends on the node count: the fewest "
                       "nodes that meet the "
                       "deadline"});
    }
}

}  // namespace

std::vector<std::string> reasons_of(const Context& x) {
    std::vector<Weighted> all;
    if (x.chosen == nullptr) return {};
    if (x.request.have) {
        rental_reason(x, all);
    } else {
        cheapest_reason(x, all);
    }
    margin_reason(x, all);
    fewer_devices_reason(x, all);
    if (!x.request.have) elsewhere_reason(x, all);
    mapping_reason(x, all);
    speed_reason(x, all);
    work_reason(x, all);
    return heaviest_first(std::move(all));
}

}  // namespace trainyard::plan
