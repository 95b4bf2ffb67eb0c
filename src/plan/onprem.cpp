#include "trainyard/plan/onprem.hpp"

#include <algorithm>

#include "facts_price.hpp"
#include "text_layout.hpp"
#include "trainyard/base/text.hpp"
#include "words.hpp"

namespace trainyard::plan {

using catalog::PurchaseType;

namespace {

constexpr double kLongYears = 4;

std::vector<OwnedItem> items_over(const workload::OnPrem& q, double years) {
    const double hours = years * (kYear / kHour);
    const double kwh = q.kilowatt * q.pue * hours;
    return {
        {"hardware", "the quote", to_cents(q.capex)},
        {"power and cooling",
         format_fixed(q.kilowatt, 1) + " kW x PUE " + format_fixed(q.pue, 2) + " x " +
             format_count(hours) + " h",
         to_cents(kwh * q.per_kilowatt_hour)},
        {"staff",
         format_fixed(q.staff, 2) + " FTE x " + format_usd(q.staff_cost_per_year) + " a year",
         to_cents(q.staff * years * q.staff_cost_per_year)},
        {"maintenance", percent(q.maintenance_per_year) + " of the hardware a year",
         to_cents(q.maintenance_per_year * years * q.capex)},
    };
}

MicroUsd sum(const std::vector<OwnedItem>& items) {
    MicroUsd s;
    for (const OwnedItem& i : items) s = s + i.amount;
    return s;
}

std::optional<catalog::Price> cheapest(const catalog::Catalog& catalog, const std::string& type,
                                       PurchaseType p, const std::vector<std::string>& regions) {
    std::optional<catalog::Price> best;
    for (const std::string& r : regions) {
        const auto found = catalog.price(type, p, r);
        if (found && (!best || found->rate < best->rate)) best = found;
    }
    return best;
}

void add_break_even(OwnedAnswer& a, const workload::OnPrem& q, const catalog::Catalog& catalog,
                    const std::vector<std::string>& regions, std::string name, PurchaseType p,
                    bool term) {
    const auto price = cheapest(catalog, a.reference, p, regions);
    if (!price) return;
    const auto at = [&](double years) {
        return to_usd(sum(items_over(q, years))) / (price->rate * (years * kYear));
    };
    a.break_even.push_back(
        {std::move(name), price->rate, price->provenance, at(q.years), at(kLongYears), term});
}

OwnedScenario scenario(const OwnedAnswer& a, const workload::OnPrem& q, double utilisation,
                       double years) {
    OwnedScenario s;
    s.utilisation = utilisation;
    s.years = years;
    s.total = sum(items_over(q, years));
    s.per_used_hour = to_usd(s.total) / (years * (kYear / kHour) * utilisation);
    const BreakEven* cheapest_flexible = nullptr;
    bool beats_all = true;
    for (const BreakEven& b : a.break_even) {
        const double limit = years >= kLongYears ? b.longer : b.utilisation;
        if (!b.needs_term && (cheapest_flexible == nullptr || b.rate < cheapest_flexible->rate))
            cheapest_flexible = &b;
        beats_all = beats_all && utilisation > limit;
    }
    const bool beats_flexible =
        cheapest_flexible != nullptr &&
        utilisation >
            (years >= kLongYears ? cheapest_flexible->longer : cheapest_flexible->utilisation);
    s.own = beats_all || (beats_flexible && utilisation > 0.8);
    const std::string head = percent(utilisation) + " for " + format_fixed(years, 0) + " years: ";
    if (beats_all) {
        s.verdict = head + "buy; owning beats every cloud price, committed ones included";
    } else if (s.own) {
        s.verdict = head + "buy, unless a 3-year commitment is signed instead";
    } else if (beats_flexible) {
        s.verdict =
            head +
            "close: owning beats flexible prices but not a commitment; rent unless use is certain";
    } else {
        s.verdict = head +
                    "cloud; owning beats only the plain on-demand price, if any: rent by Capacity "
                    "Block, spot or commitment";
    }
    return s;
}

}  // namespace

Result<OwnedAnswer> compare_onprem(const workload::OnPrem& q,
                                   const std::vector<std::string>& regions,
                                   const catalog::Catalog& catalog) {
    OwnedAnswer a;
    a.reference = q.reference;
    a.years = q.years;
    a.items = items_over(q, q.years);
    a.total = sum(a.items);
    a.per_wall_hour = to_usd(a.total) / (q.years * (kYear / kHour));
    add_break_even(a, q, catalog, regions, "on demand", PurchaseType::on_demand, false);
    add_break_even(a, q, catalog, regions, "Capacity Block", PurchaseType::capacity_block, false);
    add_break_even(a, q, catalog, regions, "1-year commitment", PurchaseType::reserved_1y, true);
    add_break_even(a, q, catalog, regions, "3-year commitment", PurchaseType::reserved_3y, true);
    if (a.break_even.empty()) {
        Diagnostic d;
        d.what = "on_prem: no price is known for the reference " + q.reference;
        d.fix = "name an instance type with a price, for example p5.48xlarge";
        return bad_input(std::move(d));
    }
    for (double u : q.utilisation) a.scenarios.push_back(scenario(a, q, u, q.years));
    const double top = *std::max_element(q.utilisation.begin(), q.utilisation.end());
    if (q.years < kLongYears) a.scenarios.push_back(scenario(a, q, top, kLongYears));
    a.missing = {
        "not in the quote: spares and failures, delivery time, a second node and its InfiniBand or "
        "RoCE fabric, "
        "security, cost of capital, resale value",
        "obsolescence: a new generation about every two years, and AWS cuts prices (p5.48xlarge "
        "fell from $98.32 to "
        "$55.04 in June 2025)",
        "hybrid: own the constant base, burst to AWS",
    };
    double low = 10;
    double high = 0;
    for (const BreakEven& b : a.break_even) {
        low = std::min(low, b.utilisation);
        high = std::max(high, b.utilisation);
    }
    a.verdict = "Owning costs $" + format_fixed(a.per_wall_hour / kUsd, 2) +
                " per wall-clock hour; it breaks even at " + percent(low) + " to " + percent(high) +
                " use, depending on which cloud price you would pay";
    return a;
}

std::string onprem_text(const OwnedAnswer& a) {
    std::string out = wrap(a.verdict, 100, 2) + "\n\nOwned, over " + format_fixed(a.years, 0) +
                      " years (replaces " + a.reference + ")\n";
    for (const OwnedItem& i : a.items) {
        out += "  " + pad_right(i.name, 20) + pad_right(i.detail, 42) +
               pad_left(format_usd_cents(to_usd(i.amount)), 16) + "\n";
    }
    out += "  " + pad_right("total", 62) + pad_left(format_usd_cents(to_usd(a.total)), 16) + "\n";
    out += "\nBreak-even use = owned cost / (hours x cloud price)\n";
    out += "  " + pad_right("cloud price", 22) + pad_left("$/h", 8) + pad_left("as of", 17) +
           pad_left("over " + format_fixed(a.years, 0) + " y", 12) + pad_left("over 4 y", 12) +
           "\n";
    for (const BreakEven& b : a.break_even) {
        out += "  " + pad_right(b.purchase, 22) +
               pad_left(format_fixed(b.rate / kUsdPerHour, 2), 8) +
               pad_left(price_date(b.provenance), 17) + pad_left(percent(b.utilisation), 12) +
               pad_left(percent(b.longer), 12) + "\n";
    }
    out += "\nYour cases\n";
    for (const OwnedScenario& s : a.scenarios) {
        out += "  " +
               wrap("$" + format_fixed(s.per_used_hour / kUsd, 2) + " per used hour: " + s.verdict,
                    96, 4) +
               "\n";
    }
    out += "\n" +
           wrap(
               "The common rule \"own above 80 % use\" holds only against committed prices; the "
               "table above is the rule "
               "for yours.",
               100, 0) +
           "\n";
    for (const std::string& m : a.missing) out += "  - " + wrap(m, 96, 4) + "\n";
    return out;
}

doc::Node onprem_json(const OwnedAnswer& a) {
    doc::Node root = doc::Node::map();
    root.set("schema", "trainyard.onprem").set("schema_version", 1);
    root.set("verdict", a.verdict).set("reference", a.reference).set("years", a.years);
    root.set("total_usd", to_usd(a.total) / kUsd).set("usd_per_wall_hour", a.per_wall_hour / kUsd);
    doc::Node items = doc::Node::list();
    for (const OwnedItem& i : a.items) {
        doc::Node n = doc::Node::map();
        n.set("name", i.name).set("detail", i.detail).set("amount_usd", to_usd(i.amount) / kUsd);
        items.append(std::move(n));
    }
    root.set("items", std::move(items));
    doc::Node even = doc::Node::list();
    for (const BreakEven& b : a.break_even) {
        doc::Node n = doc::Node::map();
        n.set("purchase", b.purchase)
            .set("usd_per_hour", b.rate / kUsdPerHour)
            .set("break_even_utilisation", b.utilisation);
        n.set("break_even_utilisation_4y", b.longer)
            .set("source", b.provenance.source)
            .set("as_of", b.provenance.as_of);
        even.append(std::move(n));
    }
    root.set("break_even", std::move(even));
    doc::Node cases = doc::Node::list();
    for (const OwnedScenario& s : a.scenarios) {
        doc::Node n = doc::Node::map();
        n.set("utilisation", s.utilisation)
            .set("years", s.years)
            .set("total_usd", to_usd(s.total) / kUsd);
        n.set("usd_per_used_hour", s.per_used_hour / kUsd)
            .set("own", s.own)
            .set("verdict", s.verdict);
        cases.append(std::move(n));
    }
    root.set("scenarios", std::move(cases));
    return root;
}

}  // namespace trainyard::plan
