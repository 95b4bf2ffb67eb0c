#include "trainyard/perf/stack.hpp"

#include "embedded.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"

namespace trainyard::perf {

namespace {

class RowReader {
  public:
    RowReader(const doc::CsvTable& table, std::size_t row, std::vector<Diagnostic>& problems)
        : table_(table), row_(row), problems_(problems) {}

    std::string text(std::string_view column) const {
        return std::string(table_.cell(row_, column));
    }

    bool flag(std::string_view column) {
        const std::string v = text(column);
        if (v != "0" && v != "1") complain(column, "0 or 1");
        return v == "1";
    }
    double number(std::string_view column, double least) {
        const auto v = parse_number(text(column));
        if (!v || *v < least) complain(column, "a number");
        return v.value_or(1);
    }
    template <typename E>
    E choice(std::string_view column,
             std::initializer_list<std::pair<std::string_view, E>> choices) {
        const std::string v = text(column);
        for (const auto& [word, value] : choices) {
            if (v == word) return value;
        }
        complain(column, choices.begin()->first);
        return choices.begin()->second;
    }

  private:
    void complain(std::string_view column, std::string_view expected) {
        problems_.push_back({Severity::error,
                             {table_.file(), table_.line(row_), 0},
                             std::string(column) + ": \"" + text(column) + "\" is not valid",
                             "",
                             "write " + std::string(expected)});
    }
    const doc::CsvTable& table_;
    std::size_t row_;
    std::vector<Diagnostic>& problems_;
};

Stack read_stack(RowReader r) {
    Stack s;
    s.name = r.text("name");
    s.framework_prefix = r.text("framework_prefix");
    s.attention = r.choice<workload::AttentionKernel>(
        "attention", {{"flash", workload::AttentionKernel::flash},
                      {"unfused", workload::AttentionKernel::unfused}});
    s.hopper_attention = r.flag("hopper_attention");
    s.selective_gemm = r.number("selective_gemm", 0);
    s.moe_graphs = r.flag("moe_graphs");
    s.fusion = r.choice<Fusion>(
        "fusion",
        {{"fused", Fusion::fused}, {"eager", Fusion::eager}, {"compiled", Fusion::compiled}});
    s.host = r.choice<HostMode>("host", {{"eager", HostMode::eager}, {"graphs", HostMode::graphs}});
    s.data_overlap = r.flag("data_overlap");
    s.expert_once_per_node = r.flag("expert_once_per_node");
    s.expert_overlap = r.choice<Overlap>("expert_overlap", {{"none", Overlap::none},
                                                            {"across_nodes", Overlap::across_nodes},
                                                            {"always", Overlap::always}});
    s.fused_experts = r.flag("fused_experts");
    s.step_overhead_ms = r.number("step_overhead_ms", 0);
    s.tensor_overlap = r.flag("tensor_overlap");
    s.pipeline_overlap = r.flag("pipeline_overlap");
    s.distributed_optimizer = r.flag("distributed_optimizer");
    s.sequence_parallel = r.flag("sequence_parallel");
    s.gradient_bytes = static_cast<int>(r.number("gradient_bytes", 1));
    s.bf16_gradient_extra_bytes = static_cast<int>(r.number("bf16_gradient_extra_bytes", 0));
    s.logit_bytes = r.number("logit_bytes", 1);
    s.optimizer_temporary_bytes = r.number("optimizer_temporary_bytes", 0);
    s.efficiency = r.number("efficiency", 0.01);
    s.source = r.text("source");
    return s;
}

}  // namespace

Result<std::vector<Stack>> parse_stacks(std::string_view csv, std::string_view file) {
    auto table = doc::parse_csv(csv, file);
    if (!table) return table.error();
    std::vector<Diagnostic> problems;
    std::vector<Stack> all;
    for (std::size_t row = 0; row < table->size(); ++row)
        all.push_back(read_stack(RowReader(*table, row, problems)));
    if (!problems.empty()) return bad_input(std::move(problems));
    return all;
}

const std::vector<Stack>& stacks() {
    static const std::vector<Stack> all = [] {
        auto parsed = parse_stacks(embedded_files().at("stacks.csv"), "stacks.csv");
        TRAINYARD_ASSERT(parsed.has_value() && !parsed->empty(),
                         "the embedded stacks parse; a test checks it");
        return *parsed;
    }();
    return all;
}

const Stack& default_stack() {
    static const Stack* stack = find_stack("tuned");
    TRAINYARD_ASSERT(stack != nullptr, "stacks.csv has a row named tuned");
    return *stack;
}

const Stack& default_stack_of(const catalog::Accelerator& accelerator) {
    if (accelerator.vendor != "AWS") return default_stack();
    static const Stack* neuron = find_stack("neuron");
    TRAINYARD_ASSERT(neuron != nullptr, "stacks.csv has a row named neuron");
    return *neuron;
}

const Stack* find_stack(std::string_view name) {
    for (const Stack& s : stacks()) {
        if (s.name == name) return &s;
    }
    return nullptr;
}

bool is_everyday(const Stack& stack) {
    return stack.fusion == Fusion::eager || stack.efficiency != 1;
}

const Stack* stack_of_framework(std::string_view framework) {
    const Stack* best = nullptr;
    for (const Stack& s : stacks()) {
        const std::string_view prefix = s.framework_prefix;
        if (prefix.empty() || framework.substr(0, prefix.size()) != prefix) continue;
        if (best == nullptr || prefix.size() > best->framework_prefix.size()) best = &s;
    }
    return best;
}

}  // namespace trainyard::perf
