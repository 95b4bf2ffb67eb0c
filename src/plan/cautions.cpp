#include "cautions.hpp"

#include <cmath>

#include "trainyard/base/text.hpp"
#include "words.hpp"

namespace trainyard::plan {
namespace {

/// Rotary positions have no table, but the model saw none beyond its own length.
void long_sequence(const Context& x, std::vector<std::string>& out) {
    const workload::Model& m = x.request.job.model;
    if (m.opaque_params || m.learned_positions || m.max_positions <= 0) return;
    if (x.work.sequence <= m.max_positions) return;
    out.push_back("a sequence of " + grouped(x.work.sequence) + " is longer than the " +
                  grouped(m.max_positions) + " positions of " + m.name +
                  "'s config: time and memory are right, but the model needs position scaling "
                  "(YaRN, arXiv 2309.00071) or training to use them");
}

/// The user's batch in tokens against what a whole number of sequences and ranks makes of it.
void rounded_batch_size(const Context& x, std::vector<std::string>& out) {
    const auto& wished = x.request.job.global_batch_tokens;
    if (!wished || x.chosen == nullptr || x.request.job.model.opaque_params) return;
    const double used =
        static_cast<double>(x.chosen->candidate.training.global_batch) * x.work.sequence;
    if (std::fabs(used / *wished - 1) < 0.005) return;
    std::string s = "the global batch is " + format_count(used) + " tokens, not " +
                    format_count(*wished) + ": ";
    if (*wished < x.work.sequence) {
        s += "a step sees at least one whole sequence of " + grouped(x.work.sequence) +
             "; a shorter one with --seq";
    } else if (x.work.sequences * x.work.sequence < *wished) {
        s += "the whole run has no more";
    } else {
        s += "whole sequences over the data-parallel ranks";
    }
    out.push_back(s);
}

void slow_precision(const Context& x, std::vector<std::string>& out) {
    const workload::Job& job = x.request.job;
    if (job.precision != catalog::Precision::fp32 || x.chosen == nullptr) return;
    const catalog::Accelerator& a = *x.chosen->candidate.accelerator;
    const auto wide = a.peak_for(catalog::Precision::fp32);
    const auto narrow = a.peak_for(catalog::Precision::bf16);
    if (!wide || !narrow) return;
    std::string s = "fp32 products run at 1/" + format_fixed(*narrow / *wide, 0) +
                    " of this device's bf16 rate";
    if (job.method == workload::Method::qlora) {
        s += "; QLoRA unpacks its 4-bit weights to 32 bit for them, and nothing is gained over "
             "bf16 (arXiv 2305.14314, section 3)";
    } else {
        s += ": bf16 with an fp32 master copy is the usual choice";
    }
    out.push_back(s);
}

/// Many runs of one type at once: nobody promises so many instances.
void many_instances(const Context& x, std::vector<std::string>& out) {
    if (x.chosen == nullptr || x.request.job.copies <= 1) return;
    const int nodes = x.chosen->candidate.nodes;
    const double most = x.assumptions.number("block.max_total");
    if (nodes <= most) return;
    out.push_back(grouped(nodes) + " instances of one type at once: AWS sells at most " +
                  format_fixed(most, 0) +
                  " in Capacity Blocks and promises none on demand; split the runs over types "
                  "and regions, or give them more time with --deadline");
}

void long_term(const Context& x, std::vector<std::string>& out) {
    if (x.chosen == nullptr || !x.chosen->offer.commitment) return;
    const Commitment& k = *x.chosen->offer.commitment;
    out.push_back("this plan signs for " + plural(k.years, "year") + ": all of " + money(k.total) +
                  " is due whether the job needs it or not");
}

void long_run(const Context& x, std::vector<std::string>& out) {
    if (x.chosen == nullptr || x.chosen->offer.wall.expected <= kYear) return;
    out.push_back("the run takes " + format_duration(x.chosen->offer.wall.expected) +
                  ": hardware and prices will not stay what they are for so long; --deadline asks "
                  "for a shorter one");
}

}  // namespace

std::vector<std::string> cautions_of(const Context& x) {
    std::vector<std::string> out;
    long_sequence(x, out);
    rounded_batch_size(x, out);
    slow_precision(x, out);
    many_instances(x, out);
    long_term(x, out);
    long_run(x, out);
    return out;
}

}  // namespace trainyard::plan
