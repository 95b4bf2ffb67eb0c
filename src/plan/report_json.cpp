// The plan as data. Keys are documented in docs/reference/plan-json.md; units are in the key names,
// SI and US dollars.

#include "facts_price.hpp"
#include "facts_state.hpp"
#include "model_json.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/plan/report.hpp"

namespace trainyard::plan {
namespace {

using doc::Node;

Node provenance(const catalog::Provenance& p) {
    static const char* const kNames[] = {
        "guide_claim", "vendor_list", "vendor_measured", "third_party_measured",
        "we_measured", "modelled",    "assumed"};
    Node n = Node::map();
    n.set("source", p.source)
        .set("as_of", p.as_of)
        .set("status", kNames[static_cast<int>(p.status)]);
    return n;
}

Node time_node(const TimeRange& r) {
    Node n = Node::map();
    n.set("low_s", r.low / kSecond)
        .set("expected_s", r.expected / kSecond)
        .set("high_s", r.high / kSecond);
    return n;
}
/// One division, so that whole cents print as such: 6335.56, not 6335.5599999999995.
double usd(MicroUsd m) { return static_cast<double>(m.value) / 1e6; }
Node money_node(const MoneyRange& r) {
    Node n = Node::map();
    n.set("low_usd", usd(r.low)).set("expected_usd", usd(r.expected)).set("high_usd", usd(r.high));
    return n;
}

Node training(const workload::Training& t) {
    const workload::Parallelism& p = t.parallel;
    Node n = Node::map();
    n.set("data", p.data)
        .set("tensor", p.tensor)
        .set("pipeline", p.pipeline)
        .set("virtual_stages", p.virtual_stages);
    n.set("context", p.context)
        .set("expert", p.expert)
        .set("zero", to_string(p.zero))
        .set("shard_group", p.shard_group);
    n.set("micro_batch", t.micro_batch)
        .set("global_batch", t.global_batch)
        .set("sequence", t.sequence);
    n.set("recompute", to_string(t.recompute)).set("precision", catalog::to_string(t.precision));
    n.set("optimizer", to_string(t.optimizer)).set("method", to_string(t.method));
    n.set("sequence_parallel", p.sequence_parallel);
    if (p.expert_tensor != 1) n.set("expert_tensor", p.expert_tensor);
    if (t.lora) n.set("lora_rank", t.lora->rank);
    if (t.offload_layer_inputs) n.set("offload_layer_inputs", true);
    if (!t.stack.empty()) n.set("stack", t.stack);
    return n;
}

Node step(const perf::StepBreakdown& s) {
    Node n = Node::map();
    n.set("gemm_s", s.gemm / kSecond)
        .set("attention_s", s.attention / kSecond)
        .set("memory_bound_s", s.memory_bound / kSecond);
    n.set("head_loss_s", s.head_loss / kSecond)
        .set("recompute_s", s.recompute / kSecond)
        .set("launch_s", s.launch / kSecond);
    n.set("tensor_comm_s", s.tensor_comm / kSecond).set("expert_comm_s", s.expert_comm / kSecond);
    n.set("context_comm_s", s.context_comm / kSecond)
        .set("pipeline_comm_s", s.pipeline_comm / kSecond);
    n.set("pipeline_bubble_s", s.pipeline_bubble / kSecond)
        .set("data_comm_s", s.data_comm / kSecond);
    n.set("optimizer_s", s.optimizer / kSecond)
        .set("straggler_s", s.straggler / kSecond)
        .set("total_s", s.total / kSecond);
    return n;
}

Node memory(const perf::MemoryBreakdown& m) {
    Node n = Node::map();
    n.set("weights_bytes", m.weights / kByte).set("gradients_bytes", m.gradients / kByte);
    n.set("optimizer_bytes", m.optimizer / kByte).set("activations_bytes", m.activations / kByte);
    n.set("logits_bytes", m.logits / kByte).set("gathered_bytes", m.gathered / kByte);
    n.set("workspace_bytes", m.workspace / kByte)
        .set("fragmentation_bytes", m.fragmentation / kByte);
    n.set("runtime_bytes", m.runtime / kByte)
        .set("total_bytes", m.total / kByte)
        .set("capacity_bytes", m.capacity / kByte);
    return n;
}

Node bill(const Bill& b) {
    Node items = Node::list();
    for (const BillItem& i : b.items) {
        Node n = Node::map();
        n.set("name", i.name)
            .set("detail", bill_detail(i))
            .set("amount_usd", usd(i.amount))
            .set("provenance", provenance(i.provenance));
        if (!i.instance.empty()) n.set("instance", i.instance);
        items.append(std::move(n));
    }
    Node n = Node::map();
    n.set("items", std::move(items)).set("total_usd", usd(b.total()));
    return n;
}

Node risk(const RunRisk& r) {
    Node n = Node::map();
    n.set("interruptions", r.interruptions).set("interruptions_high", r.interruptions_high);
    n.set("mean_between_s", r.mean_between / kSecond)
        .set("save_s", r.save / kSecond)
        .set("interval_s", r.interval / kSecond);
    n.set("lost_per_interruption_s", r.lost_per_interruption / kSecond);
    n.set("wait_per_interruption_s", r.wait_per_interruption / kSecond);
    if (r.band_high > 0) {
        n.set("band_low_per_instance_month", r.band_low)
            .set("band_high_per_instance_month", r.band_high)
            .set("band_as_of", r.band_as_of);
    }
    return n;
}

Node offer(const Offer& o) {
    Node n = Node::map();
    n.set("purchase", to_string(o.purchase))
        .set("region", o.region)
        .set("usd_per_instance_hour", o.rate / kUsdPerHour);
    n.set("rate_provenance", provenance(o.rate_source))
        .set("price_age_days", o.price_age_days)
        .set("stale", o.stale);
    n.set("time", time_node(o.wall)).set("cost", money_node(o.cost)).set("risk", risk(o.risk));
    n.set("checkpoint_bytes", o.needs.checkpoint / kByte)
        .set("dataset_bytes", o.needs.dataset / kByte);
    n.set("data_rate_bytes_per_s", o.needs.data_rate / (kByte / kSecond));
    n.set("data_place", o.needs.on_nvme ? "local NVMe" : o.needs.lustre ? "FSx for Lustre" : "S3");
    if (o.needs.lustre) n.set("lustre_bytes", *o.needs.lustre / kByte);
    if (o.played > 0) n.set("simulated_runs", static_cast<std::int64_t>(o.played));
    if (o.block_days) n.set("block_days", *o.block_days);
    if (o.base_nodes > 0) n.set("base_nodes", o.base_nodes);
    if (o.commitment) {
        Node c = Node::map();
        c.set("years", o.commitment->years).set("total_usd", usd(o.commitment->total));
        c.set("break_even_utilisation", o.commitment->break_even)
            .set("amortised_usd", usd(o.commitment->amortised));
        n.set("commitment", std::move(c));
    }
    return n;
}

Node option(const Option& x) {
    const Candidate& c = x.candidate;
    Node n = Node::map();
    n.set("instance", c.instance->type).set("nodes", c.nodes).set("accelerator", c.accelerator->id);
    n.set("accelerators", c.nodes * c.instance->accelerators).set("jobs_per_node", c.jobs_per_node);
    n.set("mapping", describe_mapping(c.training)).set("training", training(c.training));
    n.set("steps", c.steps)
        .set("step_time_s", c.step / kSecond)
        .set("training_time_s", c.training_time() / kSecond);
    n.set("tokens_per_s", c.prediction.tokens_per_second / kTokensPerSecond)
        .set("mfu", c.prediction.mfu)
        .set("mfu_causal", mfu_causal(c.prediction));
    n.set("communication_share", c.prediction.communication_share)
        .set("bubble_share", c.prediction.bubble_share);
    n.set("memory_bytes", c.prediction.memory.total / kByte);
    n.set("band_low", c.band.low).set("band_high", c.band.high).set("band_basis", c.band.basis);
    if (c.correction != 1) n.set("correction", c.correction);
    n.set("offer", offer(x.offer));
    return n;
}

Node strings(const std::vector<std::string>& all) {
    Node n = Node::list();
    for (const std::string& s : all) n.append(Node::string(s));
    return n;
}

Node shortfall(const Shortfall& s) {
    Node n = Node::map();
    n.set("cost_factor", s.cost_factor)
        .set("time_factor", s.time_factor)
        .set("cheapest_usd", usd(s.cheapest));
    n.set("flop_needed", s.flop_needed).set("flop_affordable", s.flop_affordable);
    n.set("tokens_affordable", s.tokens_affordable).set("accelerator_hours", s.accelerator_hours);
    if (s.devices_needed) n.set("devices_needed", *s.devices_needed);
    n.set("cheapest_is_late", s.cheapest_is_late);
    if (s.spot) n.set("spot", option(*s.spot));
    n.set("text", strings(s.text));
    return n;
}

Node scaling(const Scaling& s) {
    Node points = Node::list();
    for (const ScalingPoint& p : s.points) {
        Node n = Node::map();
        n.set("nodes", p.nodes).set("devices", p.devices).set("step_time_s", p.step / kSecond);
        n.set("global_batch", p.global_batch)
            .set("tokens_per_s", p.tokens_per_second / kTokensPerSecond);
        n.set("efficiency", p.efficiency)
            .set("communication_share", p.communication_share)
            .set("mapping", p.mapping);
        points.append(std::move(n));
    }
    Node n = Node::map();
    n.set("points", std::move(points))
        .set("knee_devices", s.knee_devices)
        .set("data_parallel_rule", s.dp_warning);
    return n;
}

void add_chosen(Node& root, const Plan& p) {
    if (!p.chosen) return;
    Node c = option(*p.chosen);
    c.set("step", step(p.chosen->candidate.prediction.step))
        .set("memory", memory(p.chosen->candidate.prediction.memory));
    c.set("bill", bill(p.chosen->offer.bill));
    if (p.run) c.set("run", run_json(*p.run));
    root.set("chosen", std::move(c));
    Node service = Node::map();
    service.set("name", p.service.service)
        .set("rule", p.service.rule)
        .set("because", p.service.because)
        .set("source", p.service.source);
    root.set("service", std::move(service));
}

Node front(const std::vector<Option>& options) {
    Node list = Node::list();
    for (const Option& o : options) {
        Node n = Node::map();
        n.set("instance", o.candidate.instance->type)
            .set("nodes", o.candidate.nodes)
            .set("purchase", to_string(o.offer.purchase));
        n.set("expected_s", o.offer.wall.expected / kSecond)
            .set("expected_usd", usd(o.offer.cost.expected));
        list.append(std::move(n));
    }
    return list;
}

void add_lists(Node& root, const Plan& p) {
    Node rows = Node::list();
    for (const Row& r : p.rows) {
        Node n = option(r.option);
        n.set("chosen", p.chosen.has_value() && r.lost.empty()).set("lost", r.lost);
        rows.append(std::move(n));
    }
    root.set("alternatives", std::move(rows));
    root.set("pareto_front", front(p.front)).set("pareto_front_guaranteed", front(p.firm_front));
    Node facts = Node::list();
    for (const Fact& f : p.facts) {
        Node n = Node::map();
        n.set("key", f.key).set("text", f.text);
        facts.append(std::move(n));
    }
    root.set("facts", std::move(facts));
    Node rejected = Node::list();
    for (const Rejection& r : p.rejections) {
        Node n = Node::map();
        n.set("instance", r.instance).set("why", r.text);
        rejected.append(std::move(n));
    }
    root.set("rejected_types", std::move(rejected));
}

}  // namespace

Node report_json(const Plan& p) {
    Node root = Node::map();
    root.set("schema", "trainyard.plan").set("schema_version", 1);
    if (!p.name.empty()) root.set("name", p.name);
    root.set("outcome", to_string(p.outcome)).set("verdict", p.verdict).set("job", p.job);
    root.set("model", model_json(p.model)).set("resume", to_string(p.resume));
    if (p.copies > 1) root.set("copies", p.copies);
    Node work = Node::map();
    work.set("params", p.work.params)
        .set("active_params", p.work.active_params)
        .set("tokens", p.work.tokens());
    work.set("sequence", p.work.sequence)
        .set("global_batch_sequences",
             p.chosen ? p.chosen->candidate.training.global_batch : p.work.batch)
        .set("wished_batch_sequences", p.work.batch)
        .set("batch_source", p.work.batch_source);
    root.set("work", std::move(work));
    if (p.deadline) root.set("deadline_s", *p.deadline / kSecond);
    if (p.budget) root.set("budget_usd", *p.budget / kUsd);
    if (p.have) {
        Node have = Node::map();
        have.set("instance", p.have->instance)
            .set("nodes", p.have->nodes)
            .set("usd_per_instance_hour", p.have->rate / kUsdPerHour);
        root.set("have", std::move(have));
    }
    add_chosen(root, p);
    add_lists(root, p);
    root.set("reasons", strings(p.reasons))
        .set("risks", strings(p.risks))
        .set("next", p.next.empty() ? "" : p.next.front());
    root.set("next_commands", strings(p.next));
    if (p.shortfall) root.set("shortfall", shortfall(*p.shortfall));
    if (p.scaling) root.set("scaling", scaling(*p.scaling));
    if (p.diagnosis) {
        Node n = Node::map();
        n.set("speedup_with_fabric", p.diagnosis->with_fabric)
            .set("speedup_over_tcp", p.diagnosis->without_fabric);
        n.set("verdict", p.diagnosis->verdict).set("checks", strings(p.diagnosis->checks));
        root.set("diagnosis", std::move(n));
    }
    Node answers = Node::list();
    for (const WhyNot& w : p.why_not) {
        Node n = Node::map();
        n.set("instance", w.instance).set("answer", w.answer);
        answers.append(std::move(n));
    }
    root.set("why_not", std::move(answers));
    Node stats = Node::map();
    stats.set("mappings", std::int64_t{p.stats.mappings})
        .set("memory_checks", std::int64_t{p.stats.memory_checks});
    stats.set("predictions", std::int64_t{p.stats.predictions})
        .set("cut_by_memory", std::int64_t{p.stats.cut_by_memory});
    stats.set("cut_by_bound", std::int64_t{p.stats.cut_by_bound});
    root.set("search", std::move(stats));
    root.set("assumptions", strings(p.assumptions)).set("warnings", strings(p.warnings));
    return root;
}

}  // namespace trainyard::plan
