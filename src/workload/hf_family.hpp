#pragma once
// Private to the importer: how one family of Hugging Face configs becomes a Model.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/diagnostic.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/doc/reader.hpp"
#include "trainyard/workload/model.hpp"

namespace trainyard::workload {

/// Upper limits for single sizes. Generous (ten times the largest published model of 2026), so that
/// a slip of the keyboard is caught and a real model never is.
inline constexpr int kMaxLayers = 10'000;
inline constexpr int kMaxWidth = 1'000'000;
inline constexpr int kMaxHeads = 100'000;
inline constexpr int kMaxVocab = 100'000'000;
inline constexpr int kMaxPositions = 1'000'000'000;
inline constexpr int kMaxExperts = 100'000;
inline constexpr double kMaxParameters = 1e15;

/// A config map and the model being filled. Every key may have several spellings (Transformers'
/// attribute_map); the first one present wins. Keys present with null count as absent.
class FamilyConfig {
  public:
    FamilyConfig(const doc::Node& config, std::vector<Diagnostic>& diagnostics)
        : config_(config), reader_(config, diagnostics), diagnostics_(diagnostics) {}

    using Keys = std::initializer_list<const char*>;

    /// Required size of at least 1. Missing or bad: a diagnostic, and 0.
    int size(Keys keys, int max);
    /// Optional size of at least 1; absent: `fallback`.
    int size_or(Keys keys, int max, int fallback);
    /// Optional size of at least 0; absent: `fallback`.
    int count_or(Keys keys, int max, int fallback);
    std::optional<int> optional_size(Keys keys, int max);
    bool flag_or(const char* key, bool fallback);
    std::optional<double> number(const char* key);
    std::string text_or(const char* key, std::string fallback);
    std::string choice_or(const char* key, const std::vector<std::string>& choices,
                          std::string fallback);
    void finish(doc::UnknownKeys policy) { reader_.finish(policy); }
    const doc::Node* node(const char* key) {
        return reader_.has(key) ? reader_.node(key) : nullptr;
    }
    bool has(const char* key) const { return reader_.has(key); }
    /// Written, and written as null: in some configs that differs from absent.
    bool says_null(const char* key) const;
    /// An error at the first of `keys` that is present, else at the config itself.
    void error(Keys keys, std::string what, std::string fix = {});

  private:
    const char* present(Keys keys) const;

    const doc::Node& config_;
    doc::MapReader reader_;
    std::vector<Diagnostic>& diagnostics_;
};

/// Fills everything that the family's config.json says; mistakes go to the reader's diagnostics.
using FamilyReader = void (*)(FamilyConfig& c, Model& m);

struct Family {
    const char* model_type;
    FamilyReader read;
};

/// One list per file, so that adding a family touches one place.
std::vector<Family> llama_families();    // hf_llama.cpp
std::vector<Family> moe_families();      // hf_moe.cpp
std::vector<Family> classic_families();  // hf_classic.cpp
std::vector<Family> encoder_families();  // hf_encoder.cpp

/// Layers, hidden, heads, kv_heads, head_dim, ffn, vocab, positions under the Llama names; gated,
/// RMSNorm, untied.
void read_llama_core(FamilyConfig& c, Model& m);
/// head_dim if given, else hidden/heads; not divisible is an error at the hidden size.
void read_head_dim(FamilyConfig& c, Model& m);
/// How many layers see only a window: from `layer_types` if present, else `otherwise`.
void read_window(FamilyConfig& c, Model& m, std::optional<int> window, int otherwise);
/// Laws between sizes that hold for every family (divisibility, top-k, total).
void check_shape(FamilyConfig& c, const Model& m);

}  // namespace trainyard::workload
