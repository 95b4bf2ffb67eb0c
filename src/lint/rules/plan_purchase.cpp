// Capacity bought in another way than the plan's.

#include <fmt/format.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"
#include "planned.hpp"

namespace trainyard::lint::plan_purchase {

namespace {

/// A pool whose absent purchase is on demand: a launch template's is the fleet's business.
bool has_default(const Pool& p) {
    return p.form == Pool::Form::parallelcluster || p.form == Pool::Form::karpenter ||
           p.form == Pool::Form::eksctl || p.form == Pool::Form::node_group;
}

bool may_be(const Pool& p, std::string_view word) {
    return p.purchase.is(word) || std::any_of(p.purchases.begin(), p.purchases.end(),
                                              [&](const Said& s) { return s.is(word); });
}

Said place_of(const Pool& p) {
    if (p.purchase) return p.purchase;
    return p.types.empty() ? Said{p.name, p.where} : p.types.front();
}

/// What on-demand costs more than the plan's rate, on all nodes.
std::optional<UsdPerSecond> surplus(const Case& c, std::string_view type) {
    const auto price = c.price(type);
    if (!price || !c.plan->rate || *price <= *c.plan->rate) return std::nullopt;
    return static_cast<double>(c.plan->nodes->value) * (*price - *c.plan->rate);
}

void want_spot(const Case& c, const Said& at, Found& found) {
    Finding& f = against_plan(found, at, c.plan->purchase.where,
                              "this is bought on demand, but the plan is for spot");
    f.severity = Severity::warning;
    f.why = "on-demand costs more than the spot price that the plan counts with";
    f.fix = "capacity type spot";
    f.waste = surplus(c, c.plan->type.text);
}

void judge_pool(const Case& c, const Pool& p, Found& found) {
    const std::string& planned = c.plan->purchase.text;
    const bool is_spot = may_be(p, "spot");
    const bool is_only_spot = is_spot && !may_be(p, "on-demand") && !may_be(p, "reserved");
    if (planned == "spot" && !is_spot && (p.purchase || has_default(p))) {
        want_spot(c, place_of(p), found);
    } else if (is_only_spot && planned != "spot" && planned != "mixed") {
        against_plan(found, p.purchase, c.plan->purchase.where,
                     fmt::format("this is spot, but the plan is for {} capacity", planned))
            .fix = planned == "Capacity Block" ? "the Capacity Block's reservation" : "on-demand";
    } else if (planned == "Capacity Block" && has_default(p) && !p.reservation &&
               !may_be(p, "capacity-block") && !may_be(p, "reserved")) {
        against_plan(found, place_of(p), c.plan->purchase.where,
                     "no reservation is named here, but the plan buys a Capacity Block")
            .fix = "the Capacity Block's reservation, and its capacity type";
    }
}

/// Other pools of the same plan: base nodes beside spot, a pool for another service.
bool is_elsewhere(const Case& c, const Pool& self) {
    return std::any_of(c.pools.begin(), c.pools.end(), [&](const Pool& p) {
        if (&p == &self) return false;
        return (c.plan->buys("spot") && may_be(p, "spot")) ||
               (c.plan->buys("Capacity Block") && (p.reservation || may_be(p, "capacity-block")));
    });
}

void find(const Case& c, Found& found) {
    if (c.plan == nullptr || !c.plan->purchase) return;
    for (const Pool& p : c.pools) {
        if (c.plan->has_type(p.types) && !is_elsewhere(c, p)) judge_pool(c, p, found);
    }
    for (const Training& t : c.trainings) {
        if (t.is_open || facts::bare_type(t.type.text) != c.plan->type.text) continue;
        if (c.plan->buys("spot") && !t.is_spot()) want_spot(c, t.type, found);
        if (t.is_spot() && !c.plan->buys("spot")) {
            against_plan(found, t.spot, c.plan->purchase.where,
                         fmt::format("managed spot training, but the plan is for {} capacity",
                                     c.plan->purchase.text))
                .fix = "no managed spot training";
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "PLAN-PURCHASE",
            .severity = Severity::error,
            .title = "Capacity is bought in another way than the plan's",
            .applies = "node pools and SageMaker jobs, with --plan",
            .why =
                "the plan counts without interruptions: spot nodes are taken away, and the run "
                "ends later and elsewhere than it says",
            .fix = "take the plan's purchase, or plan again",
            .source = "docs/reference/check.md, --plan",
            .find = find};
}

}  // namespace trainyard::lint::plan_purchase
