#include "trainyard/perf/constants.hpp"

#include <cmath>
#include <iterator>

#include "embedded.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"
#include "trainyard/perf/predict.hpp"

namespace trainyard::perf {

namespace {

struct GlobalName {
    std::string_view name;
    double GlobalConstants::* member;
};
#define FIELD(x) {#x, &GlobalConstants::x}
constexpr GlobalName kGlobals[] = {FIELD(tile_128),
                                   FIELD(tile_64),
                                   FIELD(tile_32),
                                   FIELD(wave_quantisation),
                                   FIELD(kernel_gap_us),
                                   FIELD(eager_traffic),
                                   FIELD(fused_traffic),
                                   FIELD(compiled_traffic),
                                   FIELD(eager_kernels),
                                   FIELD(compiled_kernels),
                                   FIELD(fp8_cast_traffic),
                                   FIELD(flash_half_sequence),
                                   FIELD(host_us_per_kernel),
                                   FIELD(checkpoint_host_us),
                                   FIELD(collective_host_us),
                                   FIELD(cross_socket_us),
                                   FIELD(graph_us_per_kernel),
                                   FIELD(step_overhead_ms),
                                   FIELD(microbatch_overhead_ms),
                                   FIELD(intra_latency_us),
                                   FIELD(inter_latency_us),
                                   FIELD(collective_base_us),
                                   FIELD(inter_fraction),
                                   FIELD(inter_fraction_large),
                                   FIELD(tcp_fraction),
                                   FIELD(omni_path_fraction),
                                   FIELD(half_message_mb),
                                   FIELD(half_message_intra_mb),
                                   FIELD(p2p_fraction),
                                   FIELD(host_link_gb_per_s),
                                   FIELD(bucket_overlap),
                                   FIELD(shard_overlap),
                                   FIELD(tensor_overlap),
                                   FIELD(expert_overlap),
                                   FIELD(context_overlap),
                                   FIELD(pipeline_overlap),
                                   FIELD(overlap_slowdown),
                                   FIELD(optimizer_passes),
                                   FIELD(expert_kernels),
                                   FIELD(expert_imbalance),
                                   FIELD(straggler),
                                   FIELD(fragmentation),
                                   FIELD(runtime_gb),
                                   FIELD(nccl_gb_per_group)};
#undef FIELD

struct ArchitectureName {
    std::string_view name;
    double ArchitectureConstants::* member;
};
#define FIELD(x) {#x, &ArchitectureConstants::x}
constexpr ArchitectureName kArchitectures[] = {
    FIELD(gemm_fraction),        FIELD(gemm_fraction_fp8),     FIELD(gemm_fraction_fp4),
    FIELD(k_prologue),           FIELD(memory_fraction),       FIELD(flash_forward),
    FIELD(flash_backward_ratio), FIELD(modern_attention_gain), FIELD(unfused_attention_traffic),
    FIELD(link_fraction)};
#undef FIELD

bool set_constant(Constants& c, std::string_view name, std::string_view architecture,
                  double value) {
    if (architecture.empty()) {
        for (const GlobalName& g : kGlobals) {
            if (g.name == name) {
                c.global.*g.member = value;
                return true;
            }
        }
        return false;
    }
    for (const ArchitectureName& a : kArchitectures) {
        if (a.name == name) {
            const auto base = c.architectures.find("default");
            const ArchitectureConstants first =
                base == c.architectures.end() ? ArchitectureConstants{} : base->second;
            const auto [entry, added] =
                c.architectures.try_emplace(std::string(architecture), first);
            entry->second.*a.member = value;
            return true;
        }
    }
    return false;
}

}  // namespace

const ArchitectureConstants& Constants::of(std::string_view architecture) const {
    static const ArchitectureConstants fallback;
    // "NeuronCore-v2 (2 cores)" and "Blackwell Ultra" use the entry of their first word unless they
    // have their own.
    const auto exact = architectures.find(architecture);
    if (exact != architectures.end()) return exact->second;
    const auto first = architectures.find(architecture.substr(0, architecture.find(' ')));
    if (first != architectures.end()) return first->second;
    const auto any = architectures.find("default");
    return any != architectures.end() ? any->second : fallback;
}

Result<Constants> parse_constants(std::string_view csv, std::string_view file) {
    auto table = doc::parse_csv(csv, file);
    if (!table) return table.error();
    Constants c;
    std::vector<Diagnostic> problems;
    // The default architecture first: the others start from it.
    std::vector<std::size_t> order;
    for (const bool first : {true, false}) {
        for (std::size_t row = 0; row < table->size(); ++row) {
            if ((table->cell(row, "architecture") == "default") == first) order.push_back(row);
        }
    }
    for (const std::size_t row : order) {
        const std::string name(table->cell(row, "name"));
        const std::string architecture(table->cell(row, "architecture"));
        const auto value = parse_number(table->cell(row, "value"));
        const Location where{std::string(file), table->line(row), 0};
        if (!value || *value < 0) {
            problems.push_back({Severity::error, where,
                                name + ": the value is not a finite number >= 0", "",
                                "write a plain decimal number"});
        } else if (!set_constant(c, name, architecture, *value)) {
            problems.push_back({Severity::error, where, "unknown constant \"" + name + "\"", "",
                                "see docs/model/constants.md for the names"});
        }
    }
    if (!problems.empty()) return bad_input(std::move(problems));
    return c;
}

std::vector<std::string> constant_names() {
    std::vector<std::string> names;
    for (const GlobalName& g : kGlobals) names.emplace_back(g.name);
    for (const ArchitectureName& a : kArchitectures)
        names.push_back(std::string(a.name) + ".<architecture>");
    return names;
}

const Constants& default_constants() {
    static const Constants constants = [] {
        auto parsed = parse_constants(embedded_files().at("constants.csv"), "constants.csv");
        TRAINYARD_ASSERT(parsed.has_value(), "the embedded constants parse; a test checks it");
        return *parsed;
    }();
    return constants;
}

}  // namespace trainyard::perf
