// The facts block of a plan: one line per decision a builder of the cluster needs.

#include <algorithm>
#include <cmath>

#include "best_mapping.hpp"
#include "context.hpp"
#include "facts_price.hpp"
#include "facts_state.hpp"
#include "opaque.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/perf/stack.hpp"
#include "words.hpp"

namespace trainyard::plan {

using workload::Method;

WorkFlop work_flop(const Context& x, const Candidate& c) {
    const double runs = x.request.job.copies > 1 ? x.request.job.copies : 1;
    // c.steps of independent runs holds the waves, one run after another on the same device.
    const double steps =
        x.request.job.copies > 1 ? steps_of(x.work, c.training.global_batch) : c.steps;
    return {runs * steps * c.prediction.model_flop,
            6 * runs * x.work.active_params * x.work.tokens() * kFlop};
}

const Option* same_cluster(const Context& x, const Option& like, Purchase purchase) {
    for (const Option& o : x.options) {
        const bool same = o.candidate.instance == like.candidate.instance &&
                          o.candidate.nodes == like.candidate.nodes;
        if (same && o.offer.purchase == purchase) return &o;
    }
    return nullptr;
}

namespace {

std::string flop_text(Flop f) {
    const double e = std::floor(std::log10(std::max(f / kFlop, 1.0)));
    return format_fixed(f / kFlop / std::pow(10, e), 1) + "e" + format_fixed(e, 0) + " FLOP";
}

bool is_opaque(const Context& x) { return x.request.job.model.opaque_params.has_value(); }
bool is_measured(const Context& x) {
    return x.request.job.copies > 1 && x.request.job.accelerator_hours_each;
}

std::string work_fact(const Context& x, const Candidate& c) {
    const workload::Job& job = x.request.job;
    if (is_measured(x)) {
        return plural(job.copies, "run") + " x " + format_fixed(*job.accelerator_hours_each, 1) +
               " h on one accelerator = " + format_count(job.copies * *job.accelerator_hours_each) +
               " accelerator-hours (your measurement)";
    }
    if (is_opaque(x)) {
        return format_count(x.work.sequences) +
               " samples x 3 forward passes = " + flop_text(c.steps * c.prediction.model_flop) +
               "; 6 N T does not apply to convolutions";
    }
    const WorkFlop w = work_flop(x, c);
    std::string s =
        flop_text(w.total) + " of model arithmetic; 6 N T alone says " + flop_text(w.six_n_t);
    const double ratio = w.total / w.six_n_t;
    if (ratio > 1.5) {
        s += ", " + times(ratio) + " too little: attention FLOPs exceed it at " +
             std::to_string(x.work.sequence) + " tokens";
    }
    return s;
}

void model_facts(const Context& x, std::vector<Fact>& out) {
    const workload::Job& job = x.request.job;
    for (const std::string& a : job.model.assumptions) out.push_back({"assumed", a});
    if (job.model.moe) {
        out.push_back(
            {"experts",
             "active " + format_count(x.work.active_params) + " of total " +
                 format_count(x.work.params) +
                 " parameters: compute follows the active, memory the total; MFU is lower than a "
                 "dense model's, as experts see small batches"});
    }
    const bool full = job.method == Method::pretrain || job.method == Method::full_finetune;
    if (!full || is_opaque(x) || is_measured(x)) return;
    if (std::string s = one_device_fact(x, *x.chosen); !s.empty())
        out.push_back({"one device?", std::move(s)});
}

std::string mapping_fact(const Candidate& c, int layers) {
    const workload::Training& t = c.training;
    std::string s = describe_mapping(t);
    if (c.jobs_per_node > 1) return s + " per run, " + plural(c.jobs_per_node, "run") + " per node";
    s += " · micro-batch " + std::to_string(t.micro_batch) + " · global batch " +
         std::to_string(t.global_batch);
    s += t.sequence > 1 ? " x " + std::to_string(t.sequence) + " tokens" : " samples";
    s += " · recompute " + std::string(to_string(t.recompute)) + " · " +
         std::string(catalog::to_string(t.precision));
    if (c.devices() == 1) s += " · no distributed training needed";
    if (layers % t.parallel.pipeline != 0) {
        s += " · uneven stages (" + std::to_string(layers) + " layers over " +
             std::to_string(t.parallel.pipeline) + ")";
    }
    if (t.parallel.tensor > 1) s += " · TP inside the node";
    // merge_neuron_cores (perf) reads it back: half of that TP.
    if (c.accelerator->id == "Trn1") {
        s += " · counted in chips; a run file of predict counts NeuronCores, two a chip: TP " +
             std::to_string(2 * t.parallel.tensor);
    }
    return s;
}

std::string batch_fact(const Context& x, const Candidate& c) {
    const double tokens = static_cast<double>(c.training.global_batch) * x.work.sequence;
    std::string s = format_count(tokens) + " tokens";
    if (x.work.batch_is_limit) return s + " per step, as you fixed it";
    return s + " per step by default (" + x.work.batch_source + ")";
}

std::string memory_fact(const Context& x, const Candidate& c) {
    const perf::MemoryBreakdown& m = c.prediction.memory;
    std::string s = format_fixed(m.total / kGiB, 1) + " of " + format_fixed(m.capacity / kGiB, 1) +
                    " GiB per device, mostly " + std::string(m.largest());
    const bool sharded = c.training.parallel.zero != workload::Zero::none ||
                         c.training.parallel.tensor > 1 || c.training.parallel.pipeline > 1;
    if (!is_opaque(x) && !is_measured(x) && sharded) {
        const TrainingState state = training_state(x, *x.chosen);
        s += "; state unsharded " + state_words(state);
        if (state.frozen > Bytes{})
            s += " (frozen weights " + gb(state.frozen) + ", adapters " + gb(state.trained) + ")";
        s += ", sharded " + gb(m.weights + m.gradients + m.optimizer) + " per device";
    }
    if (!is_opaque(x) && x.work.sequence >= 32768) {
        const double logits = static_cast<double>(x.work.sequence) * x.request.job.model.vocab * 2;
        s += "; logits of one sequence would be " + gb(logits * kByte) +
             ": use a chunked or sharded cross-entropy";
    }
    return s;
}

std::string software_fact(const Candidate& c) {
    const std::string& asked = c.training.stack;
    const perf::Stack& stack = perf::default_stack_of(*c.accelerator);
    if (!asked.empty() && asked != stack.name) return asked + " stack, as you said";
    const std::string s = stack.name + (asked.empty() ? " stack assumed" : " stack, as you said");
    if (c.accelerator->vendor == "AWS") return s + " (AWS's own); another with --stack NAME";
    return s + ": fused kernels, traffic hidden behind compute. An everyday stack is slower: " +
           "--stack NAME, for example pytorch-fsdp";
}

std::string speed_fact(const Candidate& c, const workload::Job& job) {
    const perf::Prediction& p = c.prediction;
    // Images have patches, not tokens.
    const bool images = job.samples && job.model.vocab == 0;
    const std::string rate =
        images ? format_count(c.training.global_batch / (c.step / kSecond)) + " images/s"
               : format_count(p.tokens_per_second / kTokensPerSecond) + " tokens/s";
    std::string s = "step " + format_duration(c.step) + ", " + rate + ", MFU " + percent(p.mfu) +
                    " (full score matrix counted, as Megatron and PaLM do" +
                    (job.model.causal ? "; causal half: " + percent(mfu_causal(p)) : "") +
                    "), communication " + percent(p.communication_share) + ", bubble " +
                    percent(p.bubble_share);
    if (c.correction != 1)
        s += "; corrected by your own runs, " + format_fixed(c.correction, 3) + " times our model";
    if (job.mfu)
        s += "; your MFU of " + percent(*job.mfu) +
             " stands for the compute time, the rest of the step is the model's";
    return s;
}

std::string network_fact(const Candidate& c) {
    if (c.nodes == 1) return "single node: no EFA, no placement group, nothing between nodes";
    if (c.jobs_per_node > 1 || c.steps <= 0)
        return "runs are independent: no EFA, no placement group";
    const catalog::Instance& i = *c.instance;
    const bool efa = c.inter.fabric == perf::Fabric::efa;
    std::string s =
        efa ? "EFA, " + plural(i.efa_interfaces, "interface") + " per node" : "no EFA: TCP";
    s += ", " + format_fixed(c.inter.per_node / kGBPerSecond, 0) +
         " GB/s per node; all nodes in the same AZ; ";
    return s + "security group open to itself both ways";
}

std::string placement_fact(const Offer& o) {
    if (o.purchase == Purchase::capacity_block)
        return "none of your own: the Capacity Block places the nodes together";
    return "one cluster placement group (not with a Capacity Block or a reservation that brings "
           "its own)";
}

std::string data_fact(const Context& x, const Candidate& c, const DataNeeds& n) {
    const bool nvme = n.on_nvme;
    if (is_opaque(x)) {
        const InputPipeline p = input_pipeline(c, x.request.job, x.assumptions);
        const double reached = std::min(p.device_samples_per_s, p.fed_samples_per_s);
        const Bytes each = sample_size(x.request.job, x.work, x.assumptions);
        std::string s = "devices eat " + format_count(p.device_samples_per_s) +
                        " images/s, plain CPU decode gives " + format_count(p.cpu_samples_per_s) +
                        "; planned " + format_count(reached) +
                        " images/s = " + format_fixed(reached * each / kGB, 2) +
                        " GB/s with DALI or pre-resized data";
        if (n.lustre) return s + ": FSx for Lustre, " + gb(*n.lustre);
        return s + (nvme ? "; stage " + gb(n.dataset) + " from S3 to local NVMe, not EBS"
                         : "; stream shards from S3, not EBS");
    }
    const double rate = n.data_rate / (kMB / kSecond);
    std::string s =
        gb(n.dataset) + " read at " +
        (rate < 1 ? format_fixed(rate * 1000, 0) + " kB/s" : format_fixed(rate, 1) + " MB/s");
    return s + (nvme ? ": stage from S3 to local NVMe" : ": stream from S3") +
           ", FSx for Lustre not needed";
}

std::string checkpoint_fact(const Context& x, const Candidate& c, const Offer& o) {
    std::string s = gb(o.needs.checkpoint);
    const bool adapters =
        x.request.job.method == Method::lora || x.request.job.method == Method::qlora;
    if (adapters) {
        const int rank = c.training.lora ? c.training.lora->rank : workload::Lora{}.rank;
        s += " (adapters only: small; rank " + std::to_string(rank) + " on " +
             workload::adapted_modules(x.request.job.model) + ")";
    } else {
        s += " full state";
    }
    s += ", save " + format_duration(o.risk.save) + ", every " + format_duration(o.risk.interval) +
         (o.risk.interval_capped ? " (our cap; Daly's optimum is longer)" : " (Daly)");
    if (c.nodes > 1 && x.request.job.copies == 1) s += ", async and sharded to NVMe then S3";
    const Seconds five = 300 * kSecond;
    if (o.risk.save > 0.1 * five) {
        s += "; a synchronous 5-minute cadence would cost " +
             percent(o.risk.save / (five + o.risk.save)) + " of the time";
    }
    return s;
}

std::string capacity_fact(const Context& x, const Candidate& c, const Offer& o) {
    const int vcpu = c.nodes * c.instance->vcpu;
    const QuotaRule* q = x.assumptions.quota(c.instance->family);
    const bool spot = !is_guaranteed(o.purchase);
    std::string s;
    if (o.block_days) {
        s += "Capacity Block: " + plural(*o.block_days, "whole day") +
             ", paid up front, ends 30 min early, at most " +
             format_fixed(x.assumptions.number("block.max_instances"), 0) +
             " instances, bookable 8 weeks ahead; or ";
    }
    if (q == nullptr) return s + "no quota rule known for this family";
    s += "quota " + grouped(vcpu) + " vCPU of \"" + (spot ? q->spot_name : q->on_demand_name) +
         "\" (" + (spot ? q->spot_code : q->on_demand_code) + ")";
    const std::string exact = c.nodes == 1
                                  ? ""
                                  : " = " + std::to_string(c.nodes) + " x " +
                                        std::to_string(c.instance->vcpu) + " = " + grouped(vcpu);
    return s + exact +
           ", an increase takes 2 to 5 weeks; the chance to get it this week is unknown (AWS "
           "publishes none)";
}

std::string startup_fact(const Context& x, const Candidate& c, const Offer& o) {
    const Seconds start = startup_time(c, o.needs, x.assumptions);
    const double share = start / o.wall.expected;
    std::string s = format_duration(start) + " before the first step (boot, image pull, load";
    if (c.accelerator->vendor == "AWS") s += ", Neuron compile";
    s += "), " + percent(share) + " of the run";
    if (share > 0.25)
        s += ": start-up and image time dominate, so spot or a faster card hardly helps";
    return s;
}

std::string spot_fact(const Context& x) {
    const workload::Job& job = x.request.job;
    if (job.mission_critical) return "no spot: the job is mission critical";
    if (job.spot == workload::SpotPolicy::forbidden)
        return "no spot: you ruled it out, the deadline stands";
    const Option* spot = same_cluster(x, *x.chosen, Purchase::spot);
    if (job.resume == workload::Resume::none) {
        const Candidate& c = x.chosen->candidate;
        // Expected time of an uninterruptible run of length W under hazard h: (e^(hW) - 1) / h.
        const double h = c.nodes * -std::log1p(-0.2) / (kMonth / kHour);
        const double w = c.training_time() / kHour;
        return "refused: without checkpoint and resume the run would need an expected " +
               format_count(std::expm1(std::min(h * w, 60.0)) / h) +
               " h at 20 % interruptions per node and month";
    }
    if (spot == nullptr) return "no spot price known for this type";
    const Offer& o = spot->offer;
    std::string s =
        (o.played > 0 ? "mean of " + std::to_string(o.played) + " simulated runs " : "expected ") +
        money(o.cost.expected) + " at " + per_hour(o.rate) + " (" + price_date(o.rate_source) +
        ", " + o.region + "); " + percent(o.risk.band_low) + " to " + percent(o.risk.band_high) +
        " of instances lost per month each: " +
        (o.risk.interruptions < 0.05 ? "almost no interruption expected"
                                     : format_fixed(o.risk.interruptions, 1) + " interruptions");
    if (spot->candidate.nodes > 1 && job.copies == 1) {
        s +=
            "; the risk is getting " + std::to_string(spot->candidate.nodes) + " at once in one AZ";
    }
    return s;
}

}  // namespace

std::vector<Fact> facts_of(const Context& x, const ServiceChoice& service) {
    std::vector<Fact> out;
    if (x.chosen == nullptr) return out;
    const Candidate& c = x.chosen->candidate;
    const Offer& o = x.chosen->offer;
    out.push_back({"work", work_fact(x, c)});
    model_facts(x, out);
    out.push_back({"mapping", mapping_fact(c, x.request.job.model.layers)});
    if (!is_measured(x)) {
        if (!is_opaque(x)) out.push_back({"batch", batch_fact(x, c)});
        out.push_back({"memory", memory_fact(x, c)});
        if (!is_opaque(x)) out.push_back({"software", software_fact(c)});
        if (!is_opaque(x)) out.push_back({"speed", speed_fact(c, x.request.job)});
        if (!is_opaque(x) && c.training.parallel.data * c.training.parallel.context > 1) {
            out.push_back({"traffic", traffic_fact(x, *x.chosen)});
        }
    }
    out.push_back({"network", x.request.job.copies > 1
                                  ? "independent runs: no EFA, no placement group, no multi-node"
                                  : network_fact(c)});
    const bool own = x.request.have.has_value();
    if (c.nodes > 1 && x.request.job.copies == 1 && !own)
        out.push_back({"placement", placement_fact(o)});
    if (o.needs.dataset > Bytes{} && !is_measured(x))
        out.push_back({"data", data_fact(x, c, o.needs)});
    out.push_back({"checkpoint", checkpoint_fact(x, c, o)});
    out.push_back({"start-up", startup_fact(x, c, o)});
    if (own) {
        out.push_back({"capacity", "yours: nothing to book, no quota"});
    } else {
        out.push_back({"capacity", capacity_fact(x, c, o)});
        out.push_back({"spot", spot_fact(x)});
    }
    special_facts(x, out);
    out.push_back({"service", service.service + ": " + service.because});
    if (service.service == "SageMaker") block_fact(x, out);
    return out;
}

}  // namespace trainyard::plan
