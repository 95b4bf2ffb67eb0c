#pragma once
// Private: values that jobs and runs share, written as people write them ("4M tokens", "yes",
// "bf16").

#include <optional>
#include <string>
#include <string_view>

#include "trainyard/doc/reader.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::workload {

/// A positive count with an optional unit word: "300B", "4M tokens", 2048. Zero, negative and
/// "300Q" are errors. `unit` is the word in singular: "token", "image", "sequence".
std::optional<double> read_amount(doc::MapReader& r, const char* key, std::string_view unit);

/// A batch: "4M tokens", or sequences: 512, "512", "512 sequences". Exactly one member is set.
struct BatchSize {
    std::optional<double> tokens;
    std::optional<double> sequences;
};
std::optional<BatchSize> read_batch(doc::MapReader& r, const char* key);

/// true/false, yes/no, ok, allowed/forbidden, on/off.
std::optional<bool> read_yes_no(doc::MapReader& r, const char* key);

/// The first of two spellings that is present; both present is an error at the second.
const char* spelled(doc::MapReader& r, const char* key, const char* other);

/// Where the precision was written, else the map itself.
Location place_of_precision(const doc::Node& map);
std::optional<catalog::Precision> read_precision(doc::MapReader& r);
std::optional<Optimizer> read_optimizer(doc::MapReader& r);

struct MethodChoice {
    Method method = Method::pretrain;
    std::optional<Lora> lora;
};
/// `method` and `lora_rank`. "lora r16" and "lora-16" carry the rank along. A rank without LoRA is
/// an error.
MethodChoice read_method(doc::MapReader& r);

}  // namespace trainyard::workload
