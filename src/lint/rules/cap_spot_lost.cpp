// A Terraform plan that turns spot into on-demand.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::cap_spot_lost {

namespace {

const doc::Node* first(const doc::Node* body, std::string_view name) {
    const auto all = each(get(body, name));
    return all.empty() ? nullptr : all.front();
}

/// How the resource is bought: the word that says spot, if one does.
Said spot_of(const doc::Node* body) {
    Said market = said(first(body, "instance_market_options"), {"market_type"});
    if (market.is("spot")) return market;
    Said capacity = said(body, {"capacity_type"});
    return capacity.is("SPOT") ? capacity : Said{};
}

void judge(const Case& c, const doc::Node& change, Found& found) {
    const doc::Node* before = get(&change, {"change", "before"});
    const doc::Node* after = get(&change, {"change", "after"});
    const Said was = spot_of(before);
    if (!was || after == nullptr || spot_of(after)) return;
    // What the apply still has to compute may be spot.
    const doc::Node* unknown = get(&change, {"change", "after_unknown"});
    if (is_true(get(unknown, "instance_market_options")) ||
        is_true(get(unknown, "capacity_type"))) {
        return;
    }
    const Said address = said(&change, {"address"});
    Said type = said(after, {"instance_type"});
    if (!type) {
        const auto types = all_said(get(after, "instance_types"));
        if (!types.empty()) type = types.front();
    }
    const Said now = said(after, {"capacity_type"});
    Finding& f = found.at(now       ? now
                          : type    ? type
                          : address ? address
                                    : was,
                          fmt::format("{} was spot and becomes on-demand{}", address.text,
                                      type ? ": " + type.text : ""));
    f.related.push_back({was.where, "what it was"});
    f.waste = spot_saving(c, type.text, 1);
}

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::terraform_plan)) {
        for (const doc::Node* change : each(get(&d->root, "resource_changes"))) {
            judge(c, *change, found);
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "CAP-SPOT-LOST",
            .severity = Severity::warning,
            .title = "This apply turns spot capacity into on-demand",
            .applies = "Terraform plans (terraform show -json)",
            .why =
                "a default or a module's new version dropped the spot setting: from the next "
                "start on the nodes cost the on-demand price",
            .fix = "set instance_market_options or capacity_type again",
            .source = "Terraform JSON output format, resource_changes; data/catalog/prices.csv",
            .find = find};
}

}  // namespace trainyard::lint::cap_spot_lost
