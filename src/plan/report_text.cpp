// The plan on a terminal: verdict, alternatives, the plan itself, three reasons, three risks, the
// bill, what to do next.

#include <algorithm>
#include <cmath>

#include "facts_price.hpp"
#include "text_layout.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/plan/report.hpp"
#include "words.hpp"

namespace trainyard::plan {
namespace {

constexpr std::size_t kWidth = 100;

class Page {
  public:
    Page(const Plan& p, const ReportStyle& style) : p_(p), style_(style) {}

    std::string build() {
        line(bold(wrap(p_.verdict, kWidth, 2)));
        line(dim(wrap((p_.name.empty() ? "" : p_.name + ": ") + p_.job, kWidth, 2)));
        diagnosis();
        table();
        facts();
        list("Why", p_.reasons, 3);
        list("Risks", p_.risks, 3);
        shortfall();
        bill();
        why_not();
        if (style_.explain) explain();
        warnings();
        for (std::size_t i = 0; i < p_.next.size(); ++i)
            line((i == 0 ? "\n" + bold("Next") + "  " : "or    ") + p_.next[i]);
        return std::move(out_);
    }

  private:
    void line(const std::string& s) { out_ += s + "\n"; }
    std::string bold(const std::string& s) const {
        return style_.colour ? "\x1b[1m" + s + "\x1b[0m" : s;
    }
    std::string dim(const std::string& s) const {
        return style_.colour ? "\x1b[2m" + s + "\x1b[0m" : s;
    }

    /// Width of the widest cell and two blanks.
    template <typename Cell>
    std::size_t column(std::string_view title, Cell cell) const {
        std::size_t widest = display_width(title);
        for (const Row& r : p_.rows) widest = std::max(widest, display_width(cell(r.option)));
        return widest + 2;
    }

    void table() {
        if (p_.rows.empty()) return;
        const auto name = [](const Option& o) { return describe_cluster(o.candidate); };
        const auto buy = [](const Option& o) { return purchase_words(o.offer); };
        const auto time = [](const Option& o) { return format_duration(o.offer.wall.expected); };
        const auto cost = [](const Option& o) { return money_short(o.offer.cost.expected); };
        const std::size_t names = column("cluster", name);
        const std::size_t buys = column("buy", buy);
        const std::size_t times = column("time", time);
        const std::size_t costs = column("cost", cost);
        const std::size_t why = 2 + names + buys + times + costs + 2;
        const std::size_t rest = kWidth > why + 20 ? kWidth - why : 20;
        line("\n  " + bold(pad_right("cluster", names) + pad_right("buy", buys) +
                           pad_left("time", times) + pad_left("cost", costs) + "  why it lost"));
        for (const Row& r : p_.rows) {
            const bool won = p_.chosen && r.lost.empty();
            const Option& o = r.option;
            std::string s = won ? "> " : "  ";
            s += pad_right(name(o), names) + pad_right(buy(o), buys);
            s += pad_left(time(o), times) + pad_left(cost(o), costs) + "  ";
            s +=
                wrap(won ? "chosen: " + describe_mapping(o.candidate.training) : r.lost, rest, why);
            line(won ? bold(s) : s);
        }
    }

    void facts() {
        if (p_.facts.empty()) return;
        line("\n" + bold("The plan"));
        for (const Fact& f : p_.facts) {
            line("  " + pad_right(f.key, 14) + wrap(f.text, kWidth - 16, 16));
        }
    }

    void list(const std::string& title, const std::vector<std::string>& items, std::size_t most) {
        if (items.empty()) return;
        line("\n" + bold(title));
        for (std::size_t i = 0; i < std::min(most, items.size()); ++i) {
            line("  " + std::to_string(i + 1) + ". " + wrap(items[i], kWidth - 5, 5));
        }
    }

    void shortfall() {
        if (!p_.shortfall || p_.shortfall->text.empty()) return;
        line("\n" + bold(p_.chosen ? "What is missing" : "What would make it feasible"));
        for (const std::string& s : p_.shortfall->text) line("  - " + wrap(s, kWidth - 4, 4));
    }

    void diagnosis() {
        if (!p_.diagnosis || p_.diagnosis->checks.empty()) return;
        line("\n" + bold("Check, most likely cause first"));
        int n = 0;
        for (const std::string& s : p_.diagnosis->checks)
            line("  " + std::to_string(++n) + ". " + wrap(s, kWidth - 5, 5));
    }

    void bill_head(const Offer& o) {
        line("\n" + bold("Bill") + " (expected, " + o.region + ", " +
             (o.rate_source.as_of.size() > 4 ? "prices of " : "prices: ") +
             price_date(o.rate_source) + ")");
    }

    void bill_line(const BillItem& i) {
        const std::string detail = wrap(bill_detail(i), 61, 20);
        const std::size_t end = std::min(detail.find('\n'), detail.size());
        line("  " + pad_right(i.name, 18) + pad_right(detail.substr(0, end), 62) +
             pad_left(format_usd_cents(to_usd(i.amount)), 16) + detail.substr(end));
    }

    void bill() {
        if (!p_.chosen) return;
        const Offer& o = p_.chosen->offer;
        if (p_.have) {
            line("\n" + bold("Bill") + " (your own machines: their price to you, nothing else)");
        } else {
            bill_head(o);
        }
        for (const BillItem& i : o.bill.items) bill_line(i);
        line(bold("  " + pad_right("total", 18) + pad_right("", 62) +
                  pad_left(format_usd_cents(to_usd(o.bill.total())), 16)));
        line("  " + wrap("80 % range " + money_range(o.cost) + "; time " + time_range(o.wall) +
                             "; width from " + p_.chosen->candidate.band.basis,
                         kWidth - 2, 2));
    }

    void why_not() {
        for (const WhyNot& w : p_.why_not) {
            line("\n" + bold("Why not " + w.instance + "?"));
            line("  " + wrap(w.answer, kWidth - 2, 2));
        }
    }

    void share(const char* name, Seconds part, Seconds whole) {
        if (part <= Seconds{} || part < 0.0005 * whole) return;
        const double f = part / whole;
        line("  " + pad_right(name, 22) + pad_left(format_duration(part), 10) +
             pad_left(format_percent(f), 9) + "  " +
             std::string(static_cast<std::size_t>(std::lround(f * 50)), '#'));
    }
    void share(const char* name, Bytes part, Bytes whole) {
        if (part <= Bytes{}) return;
        const double f = part / whole;
        line("  " + pad_right(name, 22) + pad_left(format_bytes(part), 10) +
             pad_left(format_percent(f), 9) + "  " +
             std::string(static_cast<std::size_t>(std::lround(f * 50)), '#'));
    }

    void explain() {
        if (!p_.chosen) return;
        step();
        memory();
        scaling();
        front("Pareto front of time against money, guaranteed capacity", p_.firm_front);
        front("Pareto front with spot (price snapshots of other days)", p_.front);
        line("\n" + bold("Searched") + "  " + grouped(p_.stats.mappings) + " mappings, " +
             grouped(p_.stats.cut_by_memory) + " cut by memory, " + grouped(p_.stats.cut_by_bound) +
             " by the bound, " + grouped(p_.stats.predictions) + " predicted");
        line("\n" + bold("Assumptions"));
        for (const std::string& s : p_.assumptions) line("  - " + wrap(s, kWidth - 4, 4));
    }

    void front(const char* title, const std::vector<Option>& options) {
        constexpr std::size_t kMost = 10;
        if (options.empty()) return;
        line("\n" + bold(title));
        for (std::size_t i = 0; i < std::min(kMost, options.size()); ++i) {
            const Option& o = options[i];
            line("  " + pad_right(describe_cluster(o.candidate), 24) +
                 pad_right(purchase_words(o.offer), 24) +
                 pad_left(format_duration(o.offer.wall.expected), 9) +
                 pad_left(money_short(o.offer.cost.expected), 13));
        }
        if (options.size() > kMost)
            line("  and " + std::to_string(options.size() - kMost) + " more (--json)");
    }

    void step() {
        const perf::StepBreakdown& s = p_.chosen->candidate.prediction.step;
        line("\n" + bold("One step, " + format_duration(s.total)));
        share("matrix products", s.gemm, s.total);
        share("attention", s.attention, s.total);
        share("memory-bound", s.memory_bound, s.total);
        share("logits and loss", s.head_loss, s.total);
        share("recomputation", s.recompute, s.total);
        share(p_.chosen->candidate.limit.empty() ? "launch gaps" : "waiting for data", s.launch,
              s.total);
        share("tensor traffic", s.tensor_comm, s.total);
        share("expert traffic", s.expert_comm, s.total);
        share("context traffic", s.context_comm, s.total);
        share("pipeline traffic", s.pipeline_comm, s.total);
        share("pipeline bubble", s.pipeline_bubble, s.total);
        share("gradient traffic", s.data_comm, s.total);
        share("optimizer", s.optimizer, s.total);
        share("stragglers", s.straggler, s.total);
        const workload::Training& t = p_.chosen->candidate.training;
        if (t.parallel.pipeline > 1) {
            line("  pipeline: " + std::to_string(t.parallel.pipeline) + " stages, " +
                 std::to_string(t.micro_batches()) +
                 " micro-batches; simple bubble (p-1)/(m+p-1) = " +
                 format_percent((t.parallel.pipeline - 1.0) /
                                (t.micro_batches() + t.parallel.pipeline - 1.0)));
        }
    }

    void memory() {
        const perf::MemoryBreakdown& m = p_.chosen->candidate.prediction.memory;
        if (m.total <= Bytes{}) return;
        line("\n" + bold("Memory of the heaviest device, " + format_bytes(m.total) + " of " +
                         format_bytes(m.capacity)));
        share("weights", m.weights, m.total);
        share("gradients", m.gradients, m.total);
        share("optimizer", m.optimizer, m.total);
        share("activations", m.activations, m.total);
        share("logits", m.logits, m.total);
        share("gathered", m.gathered, m.total);
        share("workspace", m.workspace, m.total);
        share("fragmentation", m.fragmentation, m.total);
        share("runtime", m.runtime, m.total);
    }

    void scaling() {
        if (!p_.scaling || p_.scaling->points.empty()) return;
        line("\n" + bold("Scaling, the global batch rounded to each size"));
        for (const ScalingPoint& s : p_.scaling->points) {
            const std::string knee = s.devices == p_.scaling->knee_devices ? "  < knee" : "";
            line("  " + pad_left(std::to_string(s.devices), 6) + " devices " +
                 pad_left(format_count(s.tokens_per_second / kTokensPerSecond), 7) + " tokens/s" +
                 pad_left(percent(s.efficiency), 7) + "  comm " +
                 pad_left(percent(s.communication_share), 5) + "  " +
                 pad_right(std::string(static_cast<std::size_t>(
                                           std::lround(std::clamp(s.efficiency, 0.0, 1.1) * 15)),
                                       '#'),
                           17) +
                 clip(s.mapping, knee.empty() ? 24 : 16) + knee);
        }
        line("  " + wrap(p_.scaling->dp_warning, kWidth - 2, 2));
    }

    void warnings() {
        if (p_.warnings.empty()) return;
        line("");
        for (const std::string& w : p_.warnings) line("warning: " + wrap(w, kWidth - 9, 9));
    }

    const Plan& p_;
    const ReportStyle& style_;
    std::string out_;
};

}  // namespace

std::string report_text(const Plan& plan, const ReportStyle& style) {
    return Page(plan, style).build();
}

}  // namespace trainyard::plan
