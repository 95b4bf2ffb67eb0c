#include <utility>

#include "anchors_report.hpp"

namespace trainyard::cli {

namespace {

doc::Node side_node(const Side& s) {
    const workload::Training& t = s.training;
    const workload::Parallelism& p = t.parallel;
    doc::Node n = doc::Node::map();
    n.set("accelerator", s.cluster.accelerator->id).set("devices", s.cluster.accelerators);
    n.set("nodes", s.cluster.nodes());
    n.set("inter_node_bytes_per_s", s.cluster.inter.per_node / (kByte / kSecond));
    n.set("tensor", p.tensor).set("pipeline", p.pipeline).set("virtual_stages", p.virtual_stages);
    n.set("data", p.data)
        .set("zero", workload::to_string(p.zero))
        .set("shard_group", p.shard_group);
    n.set("sequence_parallel", p.sequence_parallel).set("micro_batch", t.micro_batch);
    n.set("global_batch", t.global_batch).set("recompute", workload::to_string(t.recompute));
    n.set("step_s", s.prediction.step.total / kSecond);
    n.set("tokens_per_s", s.prediction.tokens_per_second / kTokensPerSecond)
        .set("mfu", s.prediction.mfu);
    n.set("communication_share", s.prediction.communication_share);
    n.set("memory_bytes", s.prediction.memory.total / kByte);
    return n;
}

doc::Node scenario_node(const ScenarioResult& r, Measure m) {
    const Scenario& s = *r.scenario;
    doc::Node n = doc::Node::map();
    n.set("name", s.name).set("scaling", to_string(s.scaling)).set("sequences", s.sequences);
    n.set("base_instance", s.base_instance)
        .set("instance", s.instance)
        .set("wire", to_string(s.wire));
    n.set("stack", s.stack).set("mappings", to_string(s.mappings)).set("fits", r.known());
    if (r.base) n.set("base", side_node(*r.base));
    if (r.side) n.set("cluster", side_node(*r.side));
    if (!r.known()) return n;
    n.set("value", r.value(m))
        .set("low", r.in_measure(m, r.low))
        .set("high", r.in_measure(m, r.high));
    n.set("efficiency", r.efficiency).set("speedup", r.speedup()).set("work_share", r.working());
    doc::Node losses = doc::Node::map();
    for (const Loss& l : r.losses) losses.set(std::string(l.term), l.share);
    n.set("losses", std::move(losses));
    return n;
}

std::string_view measure_text(Measure m) {
    switch (m) {
        case Measure::efficiency:
            return "efficiency";
        case Measure::speedup:
            return "speedup";
        case Measure::ratio:
            return "ratio";
    }
    return "";
}

doc::Node anchor_node(const AnchorResult& r) {
    const Anchor& a = *r.anchor;
    doc::Node n = doc::Node::map();
    n.set("id", a.id)
        .set("guide_line", a.guide_line)
        .set("claim", a.claim)
        .set("measure", measure_text(a.measure));
    n.set("claimed", a.claimed()).set("claim_status", "guide_claim");
    n.set("model", a.model).set("sequence", a.sequence).set("assumed", a.assumed);
    if (r.answer().known()) n.set("computed", r.answer().value(a.measure));
    n.set("computed_status", "modelled");
    doc::Node why = doc::Node::list();
    for (const std::string& line : explanation(r)) why.append(doc::Node::string(line));
    n.set("explanation", std::move(why));
    doc::Node facts = doc::Node::list();
    for (const Fact& f : a.facts) {
        doc::Node fact = doc::Node::map();
        fact.set("text", f.text)
            .set("source", f.source)
            .set("as_of", f.as_of)
            .set("status", f.status);
        facts.append(std::move(fact));
    }
    n.set("facts", std::move(facts));
    doc::Node scenarios = doc::Node::list();
    for (const ScenarioResult& s : r.scenarios) scenarios.append(scenario_node(s, a.measure));
    n.set("scenarios", std::move(scenarios));
    return n;
}

}  // namespace

doc::Node anchors_json(const std::vector<AnchorResult>& all) {
    doc::Node root = doc::Node::map();
    root.set("schema", "trainyard.anchors").set("schema_version", 1);
    doc::Node anchors = doc::Node::list();
    for (const AnchorResult& r : all) anchors.append(anchor_node(r));
    root.set("anchors", std::move(anchors));
    doc::Node notes = doc::Node::list();
    for (const std::string& line : contradictions(all)) notes.append(doc::Node::string(line));
    root.set("contradictions", std::move(notes));
    return root;
}

}  // namespace trainyard::cli
