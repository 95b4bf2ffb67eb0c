// bf16 asked of a GPU that cannot calculate in it.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::hw_bf16 {

namespace {

bool asks_for_bf16(const std::string& name, const std::string& value) {
    const bool is_switch = contains(name, "bf16") || contains(name, "bfloat16");
    if (is_switch) return is_one_of(value, {"", "True", "true", "1", "yes"});
    const bool is_choice =
        contains(name, "precision") || contains(name, "dtype") || contains(name, "autocast");
    return is_choice && (contains(value, "bf16") || contains(value, "bfloat16"));
}

void judge(const Case& c, const Said& type, const Said& asked, Found& found) {
    const catalog::Accelerator* a = c.accelerator(type.text);
    if (a == nullptr || a->vendor != "NVIDIA") return;
    if (a->peak_for(catalog::Precision::bf16)) return;
    found
        .at(asked, fmt::format("bf16 on {} ({}), which has no bf16 arithmetic", a->name, type.text))
        .related.push_back({type.where, "the instance type"});
}

/// DeepSpeed and Accelerate configurations and sbatch scripts beside the one type of the case.
void judge_configs(const Case& c, Found& found) {
    const Said type = only_type(c);
    if (!type) return;
    for (const Document* d : c.of_kind(Kind::deepspeed)) {
        const doc::Node* bf16 = get(&d->root, {"bf16", "enabled"});
        if (is_true(bf16)) judge(c, type, key_said(*bf16, "enabled"), found);
    }
    for (const Document* d : c.of_kind(Kind::accelerate)) {
        const Said precision = said(&d->root, {"mixed_precision"});
        if (precision.is("bf16")) judge(c, type, precision, found);
    }
    for (const Document* d : c.of_kind(Kind::sbatch)) {
        const std::vector<Said> words = argument_words(*d);
        for (const std::string_view name : {"bf16", "bfloat16"}) {
            if (const Said flag = option(words, name);
                flag && !is_one_of(flag.text, {"False", "0", "false"})) {
                judge(c, type, Said{"--" + std::string(name), flag.where}, found);
            }
        }
        for (const std::string_view name :
             {"dtype", "precision", "mixed-precision", "torch-dtype"}) {
            const Said choice = option(words, name);
            if (choice && asks_for_bf16(std::string(name), choice.text)) {
                judge(c, type, choice, found);
            }
        }
    }
}

void find(const Case& c, Found& found) {
    judge_configs(c, found);
    for (const Training& t : c.trainings) {
        for (const auto* list : {&t.hyperparameters, &t.env}) {
            for (const EnvVar& v : *list) {
                if (asks_for_bf16(v.name, v.value.text)) judge(c, t.type, v.value, found);
            }
        }
    }
    for (const Job& job : c.jobs) {
        const std::vector<Said> types = c.types_of(job);
        if (types.size() != 1) continue;
        for (std::size_t i = 0; i < job.words.size(); ++i) {
            const std::string& word = job.words[i].text;
            if (!word.starts_with("--")) continue;
            const std::size_t equals = std::min(word.find('='), word.size());
            std::string value = equals < word.size() ? word.substr(equals + 1) : "";
            const bool has_next = i + 1 < job.words.size() && equals == word.size();
            if (has_next && !job.words[i + 1].text.starts_with('-')) value = job.words[i + 1].text;
            if (asks_for_bf16(word.substr(2, equals - 2), value)) {
                judge(c, types.front(), job.words[i], found);
            }
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "HW-BF16",
            .severity = Severity::error,
            .title = "bf16 on a GPU without bf16 arithmetic",
            .applies =
                "SageMaker jobs, Kubernetes pods, launch lines, DeepSpeed and Accelerate "
                "configurations",
            .why =
                "V100 and T4 (compute capability below 8.0) have no bf16 units: "
                "frameworks refuse to start or emulate it many times slower",
            .fix = "use fp16 with loss scaling, or a type with A10G, A100 or newer",
            .source = "data/catalog/accelerators.csv (no bf16 peak); vllm-project/vllm#946",
            .find = find};
}

}  // namespace trainyard::lint::hw_bf16
