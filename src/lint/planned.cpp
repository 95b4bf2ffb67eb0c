#include "planned.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

Error refused(const SourceText& plan, const Location& where, std::string what) {
    Location at = where;
    at.file = plan.path;
    return bad_input(Diagnostic{Severity::error, at, std::move(what),
                                "--plan takes what trainyard plan --json printed",
                                "trainyard plan … --json > plan.json"});
}

std::optional<double> number(const Node* node) {
    if (node == nullptr || !node->is_numeric() || node->as_number() < 0) return std::nullopt;
    return node->as_number();
}

std::optional<Count> stage_of(const Node* zero) {
    const Said word = said(zero);
    if (word.is("none")) return Count{0, word.where};
    const auto n =
        word.text.starts_with("zero-") ? whole_number(word.text.substr(5)) : std::nullopt;
    return n ? std::optional(Count{*n, word.where}) : std::nullopt;
}

void read_training(const Node* t, Planned& p) {
    p.data = count(t, {"data"});
    p.tensor = count(t, {"tensor"});
    p.pipeline = count(t, {"pipeline"});
    p.context = count(t, {"context"});
    p.expert = count(t, {"expert"});
    p.micro_batch = count(t, {"micro_batch"});
    p.global_batch = count(t, {"global_batch"});
    p.sequence = count(t, {"sequence"});
    p.zero = stage_of(get(t, "zero"));
}

void read_money(const Node& root, const Node* offer, Planned& p) {
    const Node* cost = get(offer, {"cost", "expected_usd"});
    if (const auto v = number(cost)) {
        p.cost = *v * kUsd;
        p.cost_at = cost->where;
    }
    const Node* budget = get(&root, "budget_usd");
    if (const auto v = number(budget)) {
        p.budget = *v * kUsd;
        p.budget_at = budget->where;
    }
    if (const auto v = number(get(offer, "usd_per_instance_hour"))) p.rate = *v * kUsdPerHour;
}

}  // namespace

Finding& against_plan(Found& found, const Said& said, const Location& planned, std::string what) {
    Finding& f = found.at(said, std::move(what));
    f.related.push_back({planned, "the plan"});
    return f;
}

void other_than_planned(Found& found, std::string_view name, const Count& stated,
                        const Count& planned) {
    against_plan(found, Said{std::to_string(stated.value), stated.where}, planned.where,
                 fmt::format("{} {}, but the plan says {}", name, stated.value, planned.value))
        .fix = fmt::format("{} {}", name, planned.value);
}

bool Planned::has_type(const std::vector<Said>& types) const {
    return std::any_of(types.begin(), types.end(),
                       [&](const Said& t) { return t.text == type.text; });
}

Result<Planned> read_planned(const SourceText& plan, const catalog::Catalog& catalog) {
    auto root = doc::parse_json(plan.text, plan.path);
    if (!root) return root.error();
    if (!said(&*root, {"schema"}).is("trainyard.plan")) {
        return refused(plan, root->where, "this is no plan of trainyard");
    }
    Planned p;
    p.root = *std::move(root);
    const Node* chosen = get(&p.root, "chosen");
    p.type = said(chosen, {"instance"});
    p.nodes = count(chosen, {"nodes"});
    if (!p.type || !p.nodes || p.nodes->value < 1) {
        return refused(plan, p.root.where, "this plan recommends no machines");
    }
    p.instance = catalog.instance(p.type.text);
    const Node* offer = get(chosen, "offer");
    p.purchase = said(offer, {"purchase"});
    p.region = said(offer, {"region"});
    read_training(get(chosen, "training"), p);
    const Node* expected = get(offer, {"time", "expected_s"});
    if (const auto v = number(expected)) {
        p.expected = *v * kSecond;
        p.expected_at = expected->where;
    }
    read_money(p.root, offer, p);
    const auto copies = count(&p.root, {"copies"});
    const auto shared = count(chosen, {"jobs_per_node"});
    p.is_gang = (!copies || copies->value == 1) && (!shared || shared->value == 1);
    return p;
}

}  // namespace trainyard::lint
