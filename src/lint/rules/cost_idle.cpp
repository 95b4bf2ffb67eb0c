// Accelerated nodes that never go away.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::cost_idle {

namespace {

/// ParallelCluster keeps nodes for ever with ScaledownIdletime: -1.
void check_scale_down(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::parallelcluster)) {
        const auto idle = count(&d->root, {"Scheduling", "SlurmSettings", "ScaledownIdletime"});
        if (!idle || idle->value >= 0) continue;
        for (const Pool& p : c.pools) {
            const Said type = facts::accelerated(c, p.types);
            const bool is_fixed = p.min && p.max && p.min->value == p.max->value;
            if (p.document != d || !type || is_fixed) continue;
            Finding& f =
                found.at(Said{std::to_string(idle->value), idle->where},
                         fmt::format("idle nodes are never stopped, {} among them", type.text));
            f.fix = "ScaledownIdletime: 10 (minutes)";
            f.waste = price_of(c, type.text, 1);
            break;
        }
    }
}

void find(const Case& c, Found& found) {
    check_scale_down(c, found);
    for (const Pool& p : c.pools) {
        if (!p.min || p.min->value <= 0 || p.reservation || p.purchase.is("capacity-block")) {
            continue;
        }
        const Said type = facts::accelerated(c, p.types);
        if (!type) continue;
        const bool is_group = p.form == Pool::Form::eksctl || p.form == Pool::Form::node_group ||
                              p.form == Pool::Form::parallelcluster;
        if (!is_group) continue;
        const std::string price = price_words(c, type.text, p.min->value);
        Finding& f = found.at(
            Said{std::to_string(p.min->value), p.min->where},
            fmt::format("\"{}\" always keeps {} running{}", p.name,
                        price.empty() ? fmt::format("{}x {}", p.min->value, type.text) : price,
                        p.purchase.is("spot") ? " (on-demand price)" : ""));
        f.waste = price_of(c, type.text, p.min->value);
        f.edits.push_back({p.min->where, std::to_string(p.min->value), "0"});
        const bool is_static = p.max && p.max->value == p.min->value;
        if (is_static) f.severity = Severity::note;  // a fixed size is a choice
    }
}

}  // namespace

Rule rule() {
    return {.id = "COST-IDLE",
            .severity = Severity::warning,
            .title = "Accelerated nodes that never scale to zero",
            .applies = "eksctl, Terraform node groups, ParallelCluster",
            .why = "the group keeps nodes running when no job needs them",
            .fix = "minimum size 0, and let the scheduler start nodes",
            .source = "data/catalog/prices.csv; modelplaneai/modelplane#54",
            .find = find};
}

}  // namespace trainyard::lint::cost_idle
