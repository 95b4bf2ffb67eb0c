// From an option of a plan to a run that can be simulated.

#include "trainyard/plan/plan.hpp"

#include <algorithm>
#include <cmath>

#include "spot_price.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/spot/fit.hpp"

namespace trainyard::plan {
namespace {

using catalog::PurchaseType;

spot::Pool pool_of(std::string name, spot::Purchase purchase, UsdPerSecond price) {
    spot::Pool p;
    p.name = std::move(name);
    p.purchase = purchase;
    p.price = price;
    return p;
}

/// The band of the type in this region, and the top band where AWS publishes none.
spot::PoolProcess process_of(const Offer& o, const std::string& type, int nodes,
                             const catalog::Catalog& catalog, const Assumptions& a) {
    const auto band = catalog.interruption(type, o.region);
    double low = 0.20;
    double high = a.number("spot.top_band_high");
    catalog::Provenance source = a.row("spot.top_band_high").provenance;
    if (band) {
        low = band->low_per_month;
        source = band->provenance;
        if (band->high_per_month > low && band->high_per_month < 0.5) high = band->high_per_month;
    }
    spot::PoolProcess p = spot::process_from_band(low, high, type + ", " + o.region, nodes);
    p.source = {"interruption band " + format_percent(low) + " to " + format_percent(high) +
                    " per month: " + source.source,
                source.as_of, "modelled"};
    return p;
}

void add_guaranteed(const Option& option, UsdPerSecond rate, double uplift,
                    std::vector<spot::Pool>& pools) {
    const Offer& o = option.offer;
    const std::string& type = option.candidate.instance->type;
    if (o.purchase == Purchase::capacity_block || (o.purchase == Purchase::mixed && o.block_days)) {
        spot::Pool p =
            pool_of(type + " Capacity Block", spot::Purchase::capacity_block, uplift * rate);
        p.limit = o.base_nodes > 0 ? o.base_nodes : option.candidate.nodes;
        p.window = *o.block_days * kDay;
        pools.push_back(std::move(p));
    }
    if (o.commitment) {
        pools.push_back(
            pool_of(type + " " + std::to_string(o.commitment->years) + "-year commitment",
                    spot::Purchase::reserved, uplift * rate));
    }
}

spot::Checkpoints checkpoints_of(const Option& option, const Assumptions& a, bool independent) {
    const Candidate& c = option.candidate;
    const double writers = independent ? 1 : c.nodes;
    const Bytes size = static_cast<double>(independent ? std::max(1, c.jobs_per_node) : 1) *
                       option.offer.needs.checkpoint;
    const Seconds upload =
        size / (a.number("checkpoint.s3_gb_per_s_node") * kGBPerSecond * writers);
    spot::Checkpoints k;
    k.blocking = size / (a.number("checkpoint.gb_per_s_node") * kGBPerSecond * writers);
    k.persist = k.blocking + upload;
    k.on_notice = k.persist;
    k.restore_s3 = size / (a.number("startup.load_gb_per_s") * kGBPerSecond * writers);
    k.restore_peer = k.restore_s3;
    return k;
}

struct Speeds {
    int min_nodes = 1;
    std::vector<double> relative;  ///< empty: the curve does not reach the full size
};

/// Speed with n nodes against all of them, at a fixed global batch: the scaling curve where it has
/// a point, a straight line through its neighbours elsewhere. Below the smallest size of the curve
/// nothing runs.
Speeds speeds(const Scaling& scaling, int nodes) {
    std::vector<std::pair<int, double>> known;
    TokensPerSecond full;
    for (const ScalingPoint& p : scaling.points) {
        if (p.nodes == nodes) full = p.tokens_per_second;
    }
    if (full <= TokensPerSecond{}) return {nodes, {}};
    for (const ScalingPoint& p : scaling.points) {
        if (p.nodes <= nodes)
            known.emplace_back(p.nodes, std::min(1.0, p.tokens_per_second / full));
    }
    std::sort(known.begin(), known.end());
    Speeds out{known.front().first, std::vector<double>(static_cast<std::size_t>(nodes), 1.0)};
    std::pair<int, double> before = {0, 0.0};
    for (const auto& [n, v] : known) {
        for (int k = before.first + 1; k <= n; ++k) {
            const double share = static_cast<double>(k - before.first) / (n - before.first);
            out.relative[static_cast<std::size_t>(k - 1)] =
                before.second + (v - before.second) * share;
        }
        before = {n, v};
    }
    return out;
}

/// Compute, the start and restarts are played; every other item is added as it stands.
Usd other_items(const Bill& bill) {
    MicroUsd sum;
    for (const BillItem& i : bill.items) {
        if (i.name != "compute" && i.name != "start-up" && i.name != "restarts")
            sum = sum + i.amount;
    }
    return to_usd(sum);
}

void set_size(const Option& option, const Request& request, const Scaling* scaling,
              spot::RunSpec& s) {
    const Candidate& c = option.candidate;
    s.nodes = request.job.copies > 1 ? 1 : c.nodes;
    s.min_nodes = s.nodes;
    if (request.job.resume != workload::Resume::elastic || s.nodes == 1) return;
    // Without a curve the half is the smallest size tried: a model that fits N nodes with little
    // room does not fit one.
    Speeds known{std::max(1, s.nodes / 2), {}};
    if (scaling != nullptr) known = speeds(*scaling, s.nodes);
    s.min_nodes = known.min_nodes;
    s.speed = std::move(known.relative);
}

std::string policy_of(const Offer& offer, const Candidate& c) {
    if (offer.purchase == Purchase::spot) return "spot_only";
    if (offer.purchase == Purchase::on_demand) return "on_demand";
    if (offer.purchase != Purchase::mixed) return "reserved";
    const double share = 1.0 - static_cast<double>(offer.base_nodes) / c.nodes;
    return "share:" + format_fixed(share, 2);
}

}  // namespace

Run make_run(const Option& option, const Request& request, const std::string& service,
             const catalog::Catalog& catalog, const Assumptions& a, const Scaling* scaling) {
    const Candidate& c = option.candidate;
    const Offer& o = option.offer;
    const double uplift = service_uplift(service, *c.instance, catalog);
    spot::RunSpec s;
    s.name = describe_cluster(c) + ", " + o.region;
    s.work = c.training_time();
    s.step_time = {std::min(1.0, c.band.low), std::max(1.0, c.band.high)};
    set_size(option, request, scaling, s);
    s.start = {a.seconds("startup.boot"), a.seconds("startup.image_pull"),
               a.seconds("startup.framework")};
    s.reshard = a.seconds("startup.framework");
    s.checkpoints = checkpoints_of(option, a, request.job.copies > 1);
    s.failures_per_node_hour =
        c.instance->accelerators / a.number("failure.mtbf_accelerator_hours");
    s.deadline = request.job.deadline;
    s.budget = request.job.budget;
    s.other = other_items(o.bill);
    s.rules.block_ends_early = a.seconds("block.ends_early");
    const auto cheap = spot_price(catalog, c.instance->type, o.region);
    const bool may = request.job.spot == workload::SpotPolicy::allowed &&
                     request.job.resume != workload::Resume::none;
    if (cheap && may) {
        s.pools.push_back(pool_of(c.instance->type + " spot", spot::Purchase::spot,
                                  uplift * cheap->expected.rate));
        s.pools.back().process = process_of(o, c.instance->type, s.nodes, catalog, a);
    }
    if (const auto firm = catalog.price(c.instance->type, PurchaseType::on_demand, o.region)) {
        s.pools.push_back(pool_of(c.instance->type + " on demand", spot::Purchase::on_demand,
                                  uplift * firm->rate));
    }
    add_guaranteed(option, o.rate, uplift, s.pools);
    return {std::move(s), policy_of(o, c)};
}

}  // namespace trainyard::plan
