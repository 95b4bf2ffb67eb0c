#include <fmt/format.h>

#include <utility>

#include "simulate_report.hpp"
#include "simulate_words.hpp"
#include "version.hpp"

namespace trainyard::cli {

namespace {

using doc::Node;
using spot::Summary;

double seconds(Seconds t) { return t / kSecond; }
double usd(Usd u) { return u / kUsd; }

/// Seconds or dollars: P10, P50, P90, mean.
Node quantiles(const spot::Quantiles& q, double unit) {
    Node n = Node::map();
    n.set("p10", q.p10 * unit).set("p50", q.p50 * unit).set("p90", q.p90 * unit);
    return std::move(n.set("mean", q.mean * unit));
}

Node histogram(const std::vector<spot::HistogramBin>& bins, double unit) {
    Node list = Node::list();
    for (const spot::HistogramBin& b : bins) {
        if (b.count == 0) continue;
        Node n = Node::map();
        n.set("from", b.from * unit).set("to", b.to * unit);
        n.set("runs", static_cast<std::int64_t>(b.count));
        list.append(std::move(n));
    }
    return list;
}

Node time_split(const spot::TimeSplit& t) {
    Node n = Node::map();
    n.set("useful", seconds(t.useful)).set("slower", seconds(t.slower));
    n.set("lost", seconds(t.lost)).set("checkpoint", seconds(t.checkpoint));
    n.set("restart", seconds(t.restart)).set("reshard", seconds(t.reshard));
    n.set("waiting", seconds(t.waiting)).set("wall", seconds(t.wall()));
    return n;
}

Node money_split(const spot::MoneySplit& m) {
    Node n = Node::map();
    n.set("spot", usd(m.spot)).set("on_demand", usd(m.on_demand)).set("reserved", usd(m.reserved));
    n.set("transfer", usd(m.transfer)).set("other", usd(m.other)).set("total", usd(m.total()));
    return std::move(n.set("not_billed", usd(m.forgiven)));
}

Node kept(double share, std::uint64_t runs) {
    const ShareRange range = share_range(share, runs);
    Node n = Node::map();
    n.set("share", share).set("low_95", range.low).set("high_95", range.high);
    return n;
}

/// What every row of a comparison has.
Node summary(const Summary& s) {
    Node n = Node::map();
    n.set("policy", s.policy).set("runs", static_cast<std::int64_t>(s.runs));
    n.set("time_s", quantiles(s.hours, kHour / kSecond)).set("cost_usd", quantiles(s.usd, 1));
    n.set("cost_standard_error_usd", usd_standard_error(s));
    n.set("on_time", kept(s.meets_deadline, s.runs));
    n.set("in_budget", kept(s.meets_budget, s.runs)).set("finished", kept(s.finished, s.runs));
    n.set("certainty", to_string(certainty_of(s))).set("goodput", goodput_of(s));
    n.set("mean_time_s", time_split(s.mean_time)).set("mean_cost_usd", money_split(s.mean_money));
    n.set("mean_interruptions", s.mean_interruptions).set("mean_failures", s.mean_failures);
    n.set("mean_goodput_of_runs", s.goodput).set("on_demand_share", s.on_demand_share);
    n.set("checkpoint_interval_s", seconds(s.interval));
    n.set("unseed", fmt::format("{:016x}", s.unseed));
    return n;
}

Node variants(const std::vector<Variant>& all, const Summary& main) {
    Node list = Node::list();
    for (const Variant& v : all) {
        Node n = Node::map();
        n.set("id", v.id).set("change", v.text);
        n.set("cost_difference_usd", v.summary.usd.mean - main.usd.mean);
        n.set("time_difference_s", (v.summary.hours.mean - main.hours.mean) * (kHour / kSecond));
        n.set("summary", summary(v.summary));
        list.append(std::move(n));
    }
    return list;
}

Node cadences(const Study& study) {
    Node list = Node::list();
    for (const CadenceRow& row : study.cadences) {
        Node n = Node::map();
        n.set("cadence", row.name);
        if (row.summary) {
            n.set("summary", summary(*row.summary));
        } else {
            n.set("refused", row.refused);
        }
        list.append(std::move(n));
    }
    return list;
}

Node curve(const Study& study) {
    Node list = Node::list();
    for (const CurvePoint& p : study.curve) {
        Node n = Node::map();
        n.set("interval_s", seconds(p.interval)).set("mean_time_s", p.hours_mean * kHour / kSecond);
        n.set("mean_cost_usd", p.usd_mean).set("goodput", p.goodput);
        list.append(std::move(n));
    }
    return list;
}

Node sampled(const SampledRun& sample) {
    Node n = Node::map();
    n.set("run", static_cast<std::int64_t>(sample.run));
    n.set("ending", to_string(sample.result.ending));
    n.set("time_s", time_split(sample.result.time))
        .set("cost_usd", money_split(sample.result.money));
    n.set("interruptions", sample.result.interruptions);
    Node events = Node::list();
    for (const spot::TimelineEvent& e : sample.events) {
        Node event = Node::map();
        event.set("at_s", seconds(e.at)).set("what", e.what).set("nodes", e.nodes);
        event.set("done_s", seconds(e.done)).set("spent_usd", usd(e.spent));
        events.append(std::move(event));
    }
    return std::move(n.set("events", std::move(events)));
}

Node strings(const std::vector<std::string>& words) {
    Node list = Node::list();
    for (const std::string& w : words) list.append(Node::string(w));
    return list;
}

Node assumptions(const SimulateRequest& r) {
    Node list = Node::list();
    for (const Assumption& a : assumptions_of(r)) {
        Node n = Node::map();
        n.set("text", a.text).set("source", a.source);
        n.set("as_of", a.as_of).set("status", a.status);
        list.append(std::move(n));
    }
    return list;
}

/// The run as played: the plan's "run" with the command line's options on top.
Node played(const SimulateRequest& r) {
    const spot::RunSpec& spec = r.input.run.spec;
    Node n = plan::run_json(r.input.run);
    n.set("cadence", cadence_of(spec.checkpoints).name);
    n.set("restore_from", to_string(spec.checkpoints.restore_from));
    Node rules = Node::map();
    rules.set("per_second", spec.rules.per_second);
    rules.set("first_hour_free", spec.rules.first_hour_free);
    rules.set("notice_s", seconds(spec.rules.notice));
    rules.set("notice_missing_share", spec.rules.notice_missing);
    rules.set("rebalance", spec.rules.rebalance);
    rules.set("rebalance_precision", spec.rules.rebalance_precision);
    rules.set("rebalance_recall", spec.rules.rebalance_recall);
    rules.set("block_ends_early_s", seconds(spec.rules.block_ends_early));
    rules.set("on_demand_refused_share", spec.rules.on_demand_refused);
    n.set("rules", std::move(rules));
    Node traces = Node::list();
    for (const spot::PoolTrace& t : r.traces) {
        Node trace = Node::map();
        trace.set("pool", t.pool).set("zone", t.zone).set("file", t.file);
        trace.set("length_s", seconds(t.end)).set("nodes", t.capacity);
        traces.append(std::move(trace));
    }
    n.set("traces", std::move(traces)).set("trace_from_start", spec.trace_from_start);
    return n;
}

}  // namespace

doc::Node simulate_json(const SimulateRequest& r, const Study& study, const Io& io) {
    const Summary& s = study.main;
    Node root = Node::map();
    root.set("schema", "trainyard.simulate").set("schema_version", 1);
    root.set("generator", fmt::format("trainyard {}", kVersion)).set("date", io.today);
    root.set("job", r.input.job).set("plan_verdict", r.input.verdict);
    root.set("verdict", verdict_words(r, study)).set("certainty", to_string(certainty_of(s)));
    const Advice advice = advice_for(r, study);
    root.set("advice", strings(advice.lines)).set("next", advice.next);
    root.set("partial", study.partial);
    root.set("seed", fmt::format("{}", r.seed)).set("unseed", fmt::format("{:016x}", s.unseed));
    Node planned = Node::map();
    planned.set("time_s", seconds(r.input.planned)).set("cost_usd", usd(r.input.planned_cost));
    root.set("planned", std::move(planned));
    root.set("summary", summary(s));
    root.set("time_histogram_s", histogram(s.hours_histogram, kHour / kSecond));
    root.set("cost_histogram_usd", histogram(s.usd_histogram, 1));
    Node policies = Node::list();
    for (const Summary& p : study.policies) policies.append(summary(p));
    root.set("policies", std::move(policies));
    Node same = Node::map();
    for (const auto& [name, as] : study.policies_same) same.set(name, as);
    root.set("policies_same", std::move(same));
    if (study.bound) {
        Node bound = Node::map();
        bound.set("runs", static_cast<std::int64_t>(study.bound->runs));
        bound.set("feasible", study.bound->feasible).set("mean_usd", study.bound->usd.mean);
        root.set("clairvoyant", std::move(bound));
    }
    if (study.best_on_traces)
        root.set("best_policy_on_median_trace", variants({*study.best_on_traces}, s).items()[0]);
    root.set("policies_refused", strings(study.policies_refused));
    root.set("cadences", cadences(study)).set("cadence_curve", curve(study));
    root.set("rules", variants(study.rules, s)).set("what_ifs", variants(study.what_ifs, s));
    if (study.sample) root.set("sampled_run", sampled(*study.sample));
    root.set("run", played(r)).set("assumptions", assumptions(r));
    return root;
}

}  // namespace trainyard::cli
