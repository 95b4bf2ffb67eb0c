// Facts that only some jobs need: Trainium's price units, copies and the rental market, smaller
// cards with QLoRA, a speed-up the user measured.

#include <algorithm>
#include <cmath>

#include "context.hpp"
#include "facts_price.hpp"
#include "trainyard/base/text.hpp"
#include "words.hpp"

namespace trainyard::plan {

using catalog::PurchaseType;

namespace {

bool is_aws(const catalog::Price& p) { return p.provider.starts_with("AWS"); }

/// "H100-80" -> "H100".
std::string short_name(const std::string& id) { return id.substr(0, id.find('-')); }

FlopPerSecond rate_of(const catalog::Accelerator& a) {
    if (a.achievable_bf16) return *a.achievable_bf16;
    const auto peak = a.peak_for(catalog::Precision::bf16);
    return peak ? *peak : a.peak_for(catalog::Precision::fp16).value_or(FlopPerSecond{});
}

std::optional<OutsidePrice> cheapest_named(const catalog::Catalog& catalog, const std::string& name,
                                           const std::string& provider = {}) {
    std::optional<OutsidePrice> best;
    for (const catalog::Price& p : catalog.prices()) {
        if (!provider.empty() && p.provider != provider) continue;
        if (is_aws(p) || p.accelerators < 1 || p.accelerator.find(name) == std::string::npos)
            continue;
        if (p.purchase != PurchaseType::on_demand) continue;
        const UsdPerSecond each = p.rate / static_cast<double>(p.accelerators);
        if (!best || each < best->per_accelerator) best = OutsidePrice{p, each};
    }
    return best;
}

std::string who(const OutsidePrice& p) {
    return p.price.provider + " " + per_hour(p.per_accelerator) + " per " + p.price.accelerator +
           " (" + price_date(p.price.provenance) + ")";
}

void outside_fact(const Context& x, std::vector<Fact>& out) {
    const Candidate& c = x.chosen->candidate;
    if (x.request.job.copies > 1 || c.devices() > 1) return;
    const auto p = cheapest_outside(x.catalog, *c.accelerator);
    if (!p) return;
    // The PCIe card of the same name is slower: the time is of the card that the price is of.
    // Providers that name no variant ("L40S", "A100") are taken for ours, or for the common A100.
    const catalog::Accelerator* rented = x.catalog.accelerator(p->price.accelerator);
    if (rented == nullptr) {
        const bool same =
            p->price.accelerator.find(short_name(c.accelerator->id)) != std::string::npos;
        rented = same ? c.accelerator : x.catalog.accelerator("A100-80");
    }
    if (rented == nullptr) return;
    const double slower = rate_of(*c.accelerator) / rate_of(*rented);
    const Usd cost = slower * c.training_time() * p->per_accelerator;
    out.push_back({"outside AWS",
                   who(*p) + ": about " + format_usd(cost) + " for this run" +
                       ", if the data may leave AWS" +
                       (slower > 1.02 ? "; it takes " + times(slower) + " as long there" : "") +
                       "; marketplace hosts are less reliable"});
}

void copies_facts(const Context& x, std::vector<Fact>& out) {
    const workload::Job& job = x.request.job;
    const Candidate& c = x.chosen->candidate;
    const int parallel = std::min(job.copies, c.jobs_per_node * c.nodes);
    const double waves = std::ceil(static_cast<double>(job.copies) / parallel);
    out.push_back(
        {"copies",
         plural(job.copies, "independent run") + ", " + std::to_string(parallel) +
             " in parallel, " + format_fixed(waves, 0) +
             " after another; a job array with a checkpoint and automatic resume per run"});
    if (!job.accelerator_hours_each) return;
    const double hours = job.copies * *job.accelerator_hours_each;
    const Usd spot = hours * x.assumptions.number("guide.spot_a100") * kUsd;
    const Usd vast = hours * x.assumptions.number("guide.vast_a100") * kUsd;
    out.push_back({"guide's rates", format_count(hours) + " h x $1.875 = " + format_usd(spot) +
                                        " on P4d spot, x $0.75 = " + format_usd(vast) +
                                        " on Vast.ai (the guide prints $8K and $3.2K)"});
    std::optional<catalog::Price> spot_now;
    for (const std::string& region : regions_of(job)) {
        const auto p = x.catalog.price("p4d.24xlarge", PurchaseType::spot, region);
        if (p && (!spot_now || p->rate < spot_now->rate)) spot_now = p;
    }
    const auto outside = cheapest_named(x.catalog, "A100");
    if (!spot_now || !outside) return;
    const UsdPerSecond each = spot_now->rate / 8.0;
    out.push_back({"today's rates",
                   "P4d spot " + per_hour(each) + " per A100 (" + spot_now->region + ", " +
                       price_date(spot_now->provenance) +
                       ") = " + format_usd(hours * kHour * each) + "; " + who(*outside) + " = " +
                       format_usd(hours * kHour * outside->per_accelerator) + ": the gap is " +
                       percent(1 - outside->per_accelerator / each) + ", not 60 %"});
    const auto vast_now = cheapest_named(x.catalog, "A100", "Vast.ai");
    if (vast_now) {
        out.push_back({"Vast.ai today", who(*vast_now) + " = " +
                                            format_usd(hours * kHour * vast_now->per_accelerator)});
    }
    out.push_back({"elsewhere",
                   "Vast.ai-class hosts: check reliability and verified status, copy the base "
                   "weights to every "
                   "host, no regulated data"});
}

/// Price per peak PFLOP and hour, so that instances with different chip counts compare.
std::optional<double> per_pflop_hour(const Context& x, const char* type, std::string& text) {
    const catalog::Instance* i = x.catalog.instance(type);
    if (i == nullptr) return std::nullopt;
    const catalog::Accelerator* a = x.catalog.accelerator(i->accelerator);
    const auto p = x.catalog.price(type, PurchaseType::on_demand, "us-east-1");
    if (a == nullptr || !p) return std::nullopt;
    const auto peak = a->peak_for(catalog::Precision::bf16);
    if (!peak) return std::nullopt;
    text = std::string(type) + " " + per_hour(p->rate) + " for " + plural(i->accelerators, "chip");
    return p->rate / kUsdPerHour / (i->accelerators * (*peak / (1000 * kTFlopPerSecond)));
}

void trainium_facts(const Context& x, std::vector<Fact>& out) {
    if (!x.request.job.trainium_ok) return;
    std::string small;
    std::string large;
    std::string gpu;
    per_pflop_hour(x, "trn1.2xlarge", small);
    const auto trn = per_pflop_hour(x, "trn1.32xlarge", large);
    const auto p4d = per_pflop_hour(x, "p4d.24xlarge", gpu);
    if (!trn || !p4d) return;
    out.push_back({"Trainium", small + ", " + large + ": $" + format_fixed(*trn, 2) + " against $" +
                                   format_fixed(*p4d, 2) +
                                   " per peak PFLOP and hour on p4d: " + percent(1 - *trn / *p4d) +
                                   " cheaper before software efficiency, not 65 %"});
    const auto support = x.assumptions.neuron_support(x.request.job.model.family);
    out.push_back({"Neuron", support ? "model family supported for training (" + *support + ")"
                                     : "model family \"" + x.request.job.model.family +
                                           "\" is not on the supported list"});
    out.push_back({"bring-up",
                   "allow hours for the first compile (neuron_parallel_compile, static shapes) and "
                   "1 to 2 weeks of "
                   "bring-up; keep portable checkpoints and the GPU plan below as a fallback"});
}

void qlora_fact(const Context& x, std::vector<Fact>& out) {
    if (x.request.job.method != workload::Method::lora) return;
    Request smaller = x.request;
    smaller.job.method = workload::Method::qlora;
    for (const char* type : {"g5.xlarge", "g6.xlarge"}) {
        const catalog::Instance* i = x.catalog.instance(type);
        if (i == nullptr) continue;
        const bool lora_fits =
            std::any_of(x.options.begin(), x.options.end(), [&](const Option& o) {
                return o.candidate.accelerator->id == i->accelerator && o.candidate.devices() == 1;
            });
        const SearchResult r = search_type(smaller, x.catalog, x.assumptions, *i, {1});
        if (r.candidates.empty()) continue;
        const Candidate& c = r.candidates.front();
        const auto p =
            x.catalog.price(type, PurchaseType::on_demand, regions_of(x.request.job).front());
        std::string s = lora_fits
                            ? "LoRA just fits 24 GB by the model; QLoRA is the safe way there: "
                            : "24 GB cards need QLoRA: ";
        s += std::string(type) + " " + format_duration(c.training_time());
        if (p) s += ", " + format_usd(c.training_time() * p->rate) + " of compute";
        out.push_back({"24 GB cards", s});
        return;
    }
}

void observed_fact(const Context& x, std::vector<Fact>& out) {
    if (!x.request.observed) return;
    const Observed& seen = *x.request.observed;
    out.push_back({"observed", times(seen.speedup) + " on " + plural(seen.nodes, "node") + " = " +
                                   percent(seen.speedup / seen.nodes) + " efficiency"});
}

}  // namespace

std::optional<OutsidePrice> cheapest_outside(const catalog::Catalog& catalog,
                                             const catalog::Accelerator& like) {
    // The same device first: "H100" alone would also find the PCIe card.
    std::optional<OutsidePrice> best;
    for (const catalog::Price& p : catalog.prices()) {
        if (is_aws(p) || p.accelerators < 1 || p.accelerator != like.id ||
            p.purchase != PurchaseType::on_demand)
            continue;
        const UsdPerSecond each = p.rate / static_cast<double>(p.accelerators);
        if (!best || each < best->per_accelerator) best = OutsidePrice{p, each};
    }
    if (!best) best = cheapest_named(catalog, short_name(like.id));
    if (!best) best = cheapest_named(catalog, "A100");
    return best;
}

namespace {

/// The price row behind an offer: it says what kind of commitment the rate belongs to.
std::string commitment_kind(const Context& x, const Offer& o, int years) {
    const PurchaseType reserved =
        years == 1 ? PurchaseType::reserved_1y : PurchaseType::reserved_3y;
    const PurchaseType plan =
        years == 1 ? PurchaseType::savings_plan_1y : PurchaseType::savings_plan_3y;
    for (const PurchaseType kind : {reserved, plan}) {
        const auto p = x.catalog.price(x.chosen->candidate.instance->type, kind, o.region);
        if (!p || p->rate != o.rate) continue;
        if (is_own_price(p->provenance)) return kind == plan ? "Savings Plan" : "reserved";
        const std::string name = kind == plan ? "Savings Plan" : "reserved";
        return p->detail.empty() ? name : name + ", " + p->detail;
    }
    return "terms unknown";
}

/// What is due on the first day, as far as the terms say.
std::string paid_today(const std::string& kind, MicroUsd total) {
    if (kind.find("all upfront") != std::string::npos) return money(total) + " paid today";
    if (kind.find("partial upfront") != std::string::npos) return "about half of it paid today";
    if (kind.find("no upfront") != std::string::npos) return "nothing paid today, billed monthly";
    return "payment as your terms say";
}

/// What a commitment would cost and when it pays: break-even use = committed rate / on-demand rate.
/// A run of less than a month is no reason to commit for years.
void commitment_fact(const Context& x, std::vector<Fact>& out) {
    if (x.chosen->offer.wall.expected < kMonth) return;
    std::string s;
    for (const Purchase p : {Purchase::commitment_1y, Purchase::commitment_3y}) {
        const Option* o = same_cluster(x, *x.chosen, p);
        if (o == nullptr || !o->offer.commitment) continue;
        const Commitment& k = *o->offer.commitment;
        const std::string kind = commitment_kind(x, o->offer, k.years);
        if (!s.empty()) s += "; ";
        s += plural(k.years, "year") + " (" + kind + ", " + price_date(o->offer.rate_source) +
             ") at " + per_hour(o->offer.rate) + ": " + money(k.total) + " in all, " +
             paid_today(kind, k.total) +
             (k.break_even >= 1 ? ", never pays off"
                                : ", pays off above " + percent(k.break_even) + " use");
    }
    if (!s.empty()) out.push_back({"commitment", s});
}

/// Most of the run on spot, the tail that must be in time on capacity nobody takes back. Linear in
/// the steps: one more start is minutes.
void phases_fact(const Context& x, std::vector<Fact>& out) {
    const Option* spot = same_cluster(x, *x.chosen, Purchase::spot);
    const Option* firm = same_cluster(x, *x.chosen, Purchase::on_demand);
    if (spot == nullptr || firm == nullptr || x.request.job.copies > 1) return;
    const double share = x.assumptions.number("spot.phase_share");
    const Usd first = share * to_usd(spot->offer.cost.expected);
    const Usd last = (1 - share) * to_usd(firm->offer.cost.expected);
    const Seconds long_phase = share * spot->offer.wall.expected;
    const Seconds tail = (1 - share) * firm->offer.wall.expected;
    if (tail < kHour) return;
    out.push_back({"phases", "first " + percent(share) + " of the steps on spot (" +
                                 format_duration(long_phase) + ", " + format_usd(first) +
                                 "), the last " + percent(1 - share) + " on demand (" +
                                 format_duration(tail) + ", " + format_usd(last) + "): about " +
                                 format_usd(first + last) + " in " +
                                 format_duration(long_phase + tail) +
                                 ", and the end is on capacity that nobody takes back"});
}

}  // namespace

void block_fact(const Context& x, std::vector<Fact>& out) {
    Request own = x.request;
    own.team = {};
    std::optional<Option> best;
    const Candidate* before = nullptr;
    for (const Option& o : x.options) {
        // The offers of one candidate follow each other.
        const Candidate& c = o.candidate;
        const bool same =
            before != nullptr && before->instance == c.instance && before->nodes == c.nodes;
        before = &c;
        if (same) continue;
        const std::string service = service_for(c, own, x.catalog, x.assumptions, 0).service;
        for (Offer& f : offers(c, own, x.work, service, x.catalog, x.assumptions)) {
            if (f.purchase != Purchase::capacity_block || f.wall.expected > x.limits.deadline)
                continue;
            if (!best || f.cost.expected < best->offer.cost.expected)
                best = Option{c, std::move(f)};
        }
    }
    if (!best || best->offer.cost.expected >= x.chosen->offer.cost.expected) return;
    out.push_back(
        {"Capacity Block",
         "EC2 sells it, not SageMaker: without SageMaker " + describe_cluster(best->candidate) +
             ", " + purchase_words(best->offer) + ", is " + money(best->offer.cost.expected) +
             " in " + format_duration(best->offer.wall.expected) + ", " +
             format_usd(to_usd(x.chosen->offer.cost.expected) - to_usd(best->offer.cost.expected)) +
             " less (leave out --team and --managed)"});
}

void special_facts(const Context& x, std::vector<Fact>& out) {
    if (!x.request.have) {
        phases_fact(x, out);
        commitment_fact(x, out);
    }
    if (x.request.job.copies > 1) copies_facts(x, out);
    if (!x.request.have) outside_fact(x, out);
    trainium_facts(x, out);
    qlora_fact(x, out);
    observed_fact(x, out);
}

}  // namespace trainyard::plan
