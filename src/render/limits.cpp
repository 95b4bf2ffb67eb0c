#include "limits.hpp"

#include <algorithm>
#include <map>

#include "embedded.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"

namespace trainyard::render {
namespace {

using doc::CsvTable;

const CsvTable& table(const std::string& name) {
    static const std::map<std::string, CsvTable> all = [] {
        std::map<std::string, CsvTable> read;
        for (const auto& [file, text] : embedded_files()) {
            auto t = doc::parse_csv(text, "data/render/" + file);
            TRAINYARD_ASSERT(t.has_value(), "data/render is well-formed");
            read.emplace(file, *std::move(t));
        }
        return read;
    }();
    const auto found = all.find(name);
    TRAINYARD_ASSERT(found != all.end(), "the table is compiled in");
    return found->second;
}

bool holds_word(std::string_view words, std::string_view word) {
    const auto all = split(words, ' ');
    return std::find(all.begin(), all.end(), word) != all.end();
}

}  // namespace

double limit(std::string_view key) {
    const CsvTable& t = table("limits.csv");
    for (std::size_t row = 0; row < t.size(); ++row) {
        if (t.cell(row, "key") != key) continue;
        const auto value = parse_number(t.cell(row, "value"));
        TRAINYARD_ASSERT(value.has_value(), "limits.csv holds numbers");
        return *value;
    }
    TRAINYARD_ASSERT(false, "limits.csv has the row");
}

bool is_block_length(int days) {
    if (days < 1 || days > limit("block.max")) return false;
    return days <= limit("block.day_steps_up_to") || days % 7 == 0;
}

Image image(std::string_view key, const catalog::Instance& instance, bool trainium,
            std::string_view region) {
    const std::string wanted = std::string(key) + (trainium ? ".neuron" : ".nvidia");
    const CsvTable& t = table("images.csv");
    for (std::size_t row = 0; row < t.size(); ++row) {
        if (t.cell(row, "key") != wanted) continue;
        const std::string_view families = t.cell(row, "families");
        if (!families.empty() && !holds_word(families, instance.family)) continue;
        Image found;
        found.value = t.cell(row, "value");
        constexpr std::string_view kRegion = "{region}";
        const std::size_t at = found.value.find(kRegion);
        if (at != std::string::npos) found.value.replace(at, kRegion.size(), region);
        found.bin = t.cell(row, "bin");
        found.note = t.cell(row, "note");
        const auto status = catalog::parse_status(t.cell(row, "status"));
        TRAINYARD_ASSERT(status.has_value(), "images.csv names a status");
        found.provenance = {std::string(t.cell(row, "source")), std::string(t.cell(row, "as_of")),
                            *status};
        return found;
    }
    TRAINYARD_ASSERT(false, "images.csv has a row for every family");
}

SageMakerType sagemaker_type(std::string_view instance_type) {
    const CsvTable& t = table("sagemaker_instances.csv");
    for (std::size_t row = 0; row < t.size(); ++row) {
        if (t.cell(row, "type") == instance_type) {
            return {t.cell(row, "training_job") == "yes", t.cell(row, "training_plan") == "yes"};
        }
    }
    return {};
}

bool hyperpod_has(std::string_view instance_type) {
    const CsvTable& t = table("hyperpod_instances.csv");
    for (std::size_t row = 0; row < t.size(); ++row) {
        if (t.cell(row, "type") == instance_type) return true;
    }
    return false;
}

}  // namespace trainyard::render
