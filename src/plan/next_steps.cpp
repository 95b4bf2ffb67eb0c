#include "next_steps.hpp"

#include <algorithm>
#include <cmath>

#include "trainyard/base/text.hpp"

namespace trainyard::plan {
namespace {

/// An option of `trainyard plan` and its new value; an empty value drops it.
struct Change {
    std::string option;
    std::string value;
};
using Changes = std::vector<Change>;

/// The command that buys what the plan chose.
std::string capacity_command(const Option& chosen, const Assumptions& a) {
    const Candidate& c = chosen.candidate;
    const Offer& o = chosen.offer;
    if (o.purchase == Purchase::capacity_block) {
        return "aws ec2 describe-capacity-block-offerings --instance-type " + c.instance->type +
               " --instance-count " + std::to_string(c.nodes) + " --capacity-duration-hours " +
               std::to_string(*o.block_days * 24) + " --region " + o.region;
    }
    if (o.purchase == Purchase::spot) {
        return "aws ec2 get-spot-placement-scores --instance-types " + c.instance->type +
               " --target-capacity " + std::to_string(c.nodes) +
               " --single-availability-zone --region-names " + o.region;
    }
    const QuotaRule* q = a.quota(c.instance->family);
    if (q == nullptr)
        return "aws service-quotas list-service-quotas --service-code ec2 --region " + o.region;
    return "aws service-quotas get-service-quota --service-code ec2 --quota-code " +
           q->on_demand_code + " --region " + o.region;
}

/// As a shell reads it back.
std::string shell_word(const std::string& s) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_./:=,@%+-").find(c) != std::string_view::npos;
    };
    if (!s.empty() && std::all_of(s.begin(), s.end(), plain)) return s;
    std::string out = "'";
    for (const char c : s) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

/// What the user typed, with some options replaced.
std::string again(const Invocation& typed, const Changes& changes) {
    std::string s = "trainyard plan " + shell_word(typed.job.empty() ? "job.yaml" : typed.job);
    for (const auto& [name, value] : typed.options) {
        const bool changed = std::any_of(changes.begin(), changes.end(),
                                         [&](const Change& c) { return c.option == name; });
        if (changed) continue;
        s += " --" + name + (value.empty() ? "" : " " + shell_word(value));
    }
    for (const Change& c : changes) {
        if (!c.value.empty()) s += " --" + c.option + " " + shell_word(c.value);
    }
    return s;
}

/// `value` with three digits, rounded away from (up) or towards zero.
double three_digits(double value, bool up) {
    if (value <= 0) return 0;
    const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
    return (up ? std::ceil(value / unit) : std::floor(value / unit)) * unit;
}

std::string dollars(double usd) {
    const double up = three_digits(usd, true);
    return up < 1000 ? format_fixed(std::ceil(up), 0) : format_count(up);
}

std::string duration(Seconds t) {
    return t < 2 * kDay ? format_fixed(std::ceil(t / kHour), 0) + "h"
                        : format_fixed(std::ceil(t / kDay), 0) + "d";
}

class Steps {
  public:
    Steps(const Request& request, const Found& found, const catalog::Catalog& catalog,
          const Assumptions& a)
        : request_(request), found_(found), catalog_(catalog), a_(a) {}

    std::vector<std::string> after_refusal() {
        if (request_.have) {
            rent();
            if (!found_.mine.empty()) raise_limits();
        } else if (found_.mine.empty()) {
            relax();
        } else {
            raise_limits();
            less_work();
            dare_spot();
        }
        if (out_.empty()) out_.emplace_back("trainyard catalog --sort memory-per-gpu");
        return std::move(out_);
    }

  private:
    /// By how much an option breaks a limit at the upper end of its range; 1 if it does not.
    double over(const Option& o) const {
        const auto& budget = found_.limits.budget;
        return budget ? std::max(1.0, to_usd(o.offer.cost.high) / *budget) : 1.0;
    }
    double late(const Option& o) const {
        return std::max(1.0, o.offer.wall.high / found_.limits.deadline);
    }

    /// The option that asks least by `measure`, among those that can be bought at once; of all, if
    /// none can.
    template <typename Measure>
    const Option* least(Measure measure) const {
        const Option* best = nullptr;
        for (const bool only_sold : {true, false}) {
            for (const Option& o : found_.mine) {
                const bool sold = o.candidate.nodes <= a_.number("block.max_total");
                if (o.offer.commitment || !is_safe(o, found_.limits, a_) || (only_sold && !sold))
                    continue;
                if (best == nullptr || measure(o) < measure(*best)) best = &o;
            }
            if (best != nullptr) break;
        }
        return best;
    }

    bool works(const Request& changed) const {
        const Outcome o = find_options(changed, catalog_, a_).choice.outcome;
        return o == Outcome::feasible || o == Outcome::tight;
    }

    void offer(const Changes& changes) { out_.push_back(again(request_.typed, changes)); }

    void rent() {
        Request changed = request_;
        changed.have.reset();
        if (works(changed)) offer({{"have", ""}, {"have-price", ""}});
    }

    void raise_limits() {
        const Option* o = least([this](const Option& x) { return over(x) * late(x); });
        if (o == nullptr) return;
        // The search looks at other sizes under other limits: a little more room is tried.
        for (double room = 1; room < 1.6; room *= 1.15) {
            Changes changes;
            Request changed = request_;
            if (late(*o) > 1) {
                const Seconds t = room * o->offer.wall.high;
                if (t > workload::kLongestDeadline) return;
                changes.push_back({"deadline", duration(t)});
                changed.job.deadline = parse_duration(changes.back().value);
            }
            if (over(*o) > 1) {
                const double usd = room * (to_usd(o->offer.cost.high) / kUsd);
                if (usd * kUsd > workload::kMostBudget) return;
                changes.push_back({"budget", dollars(usd)});
                changed.job.budget = parse_usd(changes.back().value);
            }
            if (changes.empty()) return;
            if (works(changed)) return offer(changes);
        }
    }

    /// The budget that the cheapest way in time on spot takes, where it is less than the other.
    void dare_spot() {
        const auto& budget = found_.limits.budget;
        const Option* best = nullptr;
        for (const Option& o : found_.mine) {
            const bool sold = o.candidate.nodes <= a_.number("block.max_total");
            if (is_guaranteed(o.offer.purchase) || !sold || late(o) > 1) continue;
            if (best == nullptr || o.offer.cost.high < best->offer.cost.high) best = &o;
        }
        if (best == nullptr || !budget || over(*best) <= 1) return;
        for (double room = 1; room < 1.6; room *= 1.15) {
            Request changed = request_;
            const std::string value = dollars(room * (to_usd(best->offer.cost.high) / kUsd));
            changed.job.budget = parse_usd(value);
            if (works(changed)) return offer({{"budget", value}});
        }
    }

    /// The same limits with fewer tokens, samples or runs.
    void less_work() {
        const workload::Job& job = request_.job;
        const Option* o = least([this](const Option& x) { return std::max(over(x), late(x)); });
        if (o == nullptr || job.accelerator_hours_each) return;
        const bool runs = job.copies > 1;
        const bool tokens = job.tokens > Tokens{};
        const double all = runs ? job.copies : (tokens ? job.tokens / kToken : *job.samples);
        double amount = all / std::max(over(*o), late(*o));
        for (int tries = 0; tries < 4; ++tries, amount *= 0.7) {
            const double round = runs ? std::floor(amount) : three_digits(amount, false);
            if (round < 1) return;
            Request changed = request_;
            Changes changes{{"epochs", ""}, {"tokens", ""}, {"samples", ""}};
            if (runs) {
                changed.job.copies = static_cast<int>(round);
                changes = {{"copies", format_fixed(round, 0)}};
            } else if (tokens && !job.samples) {
                changed.job.tokens = round * kToken;
                changes[1].value = format_count(round);
            } else {
                changed.job.samples = round;
                if (tokens) changed.job.tokens = round / *job.samples * job.tokens;
                changes[2].value = format_count(round);
            }
            if (works(changed)) return offer(changes);
        }
    }

    /// Nothing can run it as asked: one wish after another is given up.
    void relax() {
        const workload::Job& job = request_.job;
        const auto fits = [this](Request& changed) {
            changed.job.deadline.reset();
            changed.job.budget.reset();
            return !find_options(changed, catalog_, a_).mine.empty();
        };
        const auto attempt = [&](const Changes& changes, auto change) {
            if (!out_.empty()) return;
            Request changed = request_;
            change(changed);
            if (fits(changed)) offer(changes);
        };
        const int longest = job.model.max_positions;
        if (job.model.learned_positions && found_.work.sequence > longest)
            attempt({{"seq", std::to_string(longest)}},
                    [&](Request& r) { r.job.sequence = longest; });
        if (job.instance) other_type();
        if (!request_.accelerators.empty())
            attempt({{"accelerator", ""}}, [](Request& r) { r.accelerators.clear(); });
        if (job.precision)
            attempt({{"precision", "bf16"}},
                    [](Request& r) { r.job.precision = catalog::Precision::bf16; });
        if (job.method == workload::Method::pretrain ||
            job.method == workload::Method::full_finetune)
            attempt({{"method", "lora"}},
                    [](Request& r) { r.job.method = workload::Method::lora; });
        attempt({{"method", "qlora"}}, [](Request& r) { r.job.method = workload::Method::qlora; });
    }

    /// The type that the refusal names: the cheapest other one.
    void other_type() {
        const Option* best = nullptr;
        for (const Option& o : found_.options) {
            if (o.offer.commitment || !is_safe(o, found_.limits, a_)) continue;
            if (best == nullptr || o.offer.cost.expected < best->offer.cost.expected) best = &o;
        }
        if (best == nullptr || !out_.empty()) return;
        const int nodes = best->candidate.nodes;
        offer({{"instance", best->candidate.instance->type},
               {"nodes", nodes > 1 || request_.job.nodes ? std::to_string(nodes) : ""}});
    }

    const Request& request_;
    const Found& found_;
    const catalog::Catalog& catalog_;
    const Assumptions& a_;
    std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> next_steps(const Plan& p, const Request& request, const Found& found,
                                    const catalog::Catalog& catalog, const Assumptions& a) {
    const bool refused =
        !p.chosen || p.outcome == Outcome::over_budget || p.outcome == Outcome::too_slow;
    if (refused) return Steps(request, found, catalog, a).after_refusal();
    if (request.have) return {again(request.typed, {{"have", ""}, {"have-price", ""}})};
    std::vector<std::string> next = {capacity_command(*p.chosen, a)};
    // Without quota the plan would be late: the way that needs none.
    const Option* block = quota_comes_late(*p.chosen, found.limits, a)
                              ? block_in_time(found.mine, found.limits)
                              : nullptr;
    if (block != nullptr) next.push_back(capacity_command(*block, a));
    return next;
}

}  // namespace trainyard::plan
