#pragma once
// Rows of a runs CSV written as maps from column to text, for the unit tests.

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "trainyard/catalog/catalog.hpp"
#include "trainyard/doc/csv.hpp"
#include "trainyard/validate/runs.hpp"

namespace trainyard::validate::test {

using Cells = std::map<std::string, std::string>;

/// A complete row: a 24-layer GPT on one node of A100, everything stated, 2.0 s a step.
inline Cells complete() {
    return {{"id", "row-1"},
            {"source_title", "a source"},
            {"model_name", "GPT 1.3B"},
            {"layers", "24"},
            {"hidden", "2048"},
            {"heads", "16"},
            {"kv_heads", "16"},
            {"ffn_hidden", "8192"},
            {"vocab", "51200"},
            {"moe_experts", ""},
            {"moe_topk", ""},
            {"seq_len", "2048"},
            {"global_batch_seqs", "64"},
            {"micro_batch", "4"},
            {"accelerator", "A100-80"},
            {"n_accel", "8"},
            {"accel_per_node", "8"},
            {"inter_node_gbps_per_node", ""},
            {"intra_node", "nvlink"},
            {"tp", "1"},
            {"pp", "1"},
            {"vp", ""},
            {"dp", "8"},
            {"cp", ""},
            {"ep", ""},
            {"zero_stage_or_fsdp", ""},
            {"sequence_parallel", ""},
            {"recompute", "none"},
            {"precision", "bf16"},
            {"framework", "Megatron-LM"},
            {"measured_tokens_per_s_per_accel", ""},
            {"measured_tflops_per_accel", ""},
            {"measured_mfu", ""},
            {"measured_step_s", "2.0"},
            {"measured_peak_mem_gb", ""},
            {"notes", ""},
            {"tier", "1"},
            {"stack", "tuned"}};
}

/// The complete row with some cells replaced.
inline Cells with(std::initializer_list<std::pair<const char*, const char*>> changes) {
    Cells cells = complete();
    for (const auto& [column, text] : changes) cells[column] = text;
    return cells;
}

inline doc::CsvTable table_of(const std::vector<Cells>& rows) {
    std::string text, separator;
    for (const auto& [column, cell] : rows.front()) {
        text += separator + column;
        separator = ",";
    }
    for (const Cells& row : rows) {
        separator = "\n";
        for (const auto& [column, cell] : row) {
            text += separator + "\"" + cell + "\"";
            separator = ",";
        }
    }
    return *doc::parse_csv(text + "\n", "runs.csv");
}

inline const catalog::Catalog& embedded_catalog() {
    static const catalog::Catalog c = *catalog::Catalog::load(catalog::Catalog::embedded_tables());
    return c;
}

inline Observation observed(const Cells& cells) {
    return read_runs(table_of({cells}), embedded_catalog())->front();
}

}  // namespace trainyard::validate::test
