#include "values.hpp"

#include <cmath>

#include "trainyard/base/text.hpp"
#include "trainyard/workload/job.hpp"

namespace trainyard::workload {
namespace {

constexpr int kMaxRank = 65536;

/// Drops a trailing unit word ("tokens", "token"); tells whether it was there.
bool drop_unit(std::string_view& text, std::string_view unit) {
    const std::string lower = to_lower(text);
    for (const std::string& word : {std::string(unit) + "s", std::string(unit)}) {
        if (lower.size() > word.size() && lower.ends_with(word)) {
            text = trim(text.substr(0, text.size() - word.size()));
            return true;
        }
    }
    return false;
}

std::optional<double> amount_of(const doc::Node& n, std::string_view text) {
    if (n.is_numeric()) return n.as_number();
    if (n.is(doc::Node::Kind::string)) return parse_count(text);
    return std::nullopt;
}

/// Positive, finite and at most kMostAmount, or an error at the key.
std::optional<double> checked(doc::MapReader& r, const char* key, std::string_view unit,
                              const std::string& written, std::optional<double> value) {
    const std::string units = std::string(unit) + "s";
    if (!value || !std::isfinite(*value)) {
        r.error(key, std::string(key) + ": \"" + written + "\" is not a number of " + units,
                "write a count such as 300B, 1.5T, 40M or 2048 (powers of 1,000)");
        return std::nullopt;
    }
    if (*value <= 0 || *value > kMostAmount) {
        r.error(key, std::string(key) + ": " + written + " is out of range",
                "give a number of " + units + " above 0 and at most 10,000T");
        return std::nullopt;
    }
    return value;
}

/// "lora r16", "lora-16" -> 16; the text left over is the method.
std::optional<int> rank_in(std::string& text) {
    const std::size_t digit = text.find_first_of("0123456789");
    if (digit == std::string::npos || digit == 0) return std::nullopt;
    const std::optional<double> rank = parse_number(std::string_view(text).substr(digit));
    if (!rank || *rank < 1 || *rank > kMaxRank || *rank != std::floor(*rank)) return std::nullopt;
    std::string head = to_lower(trim(std::string_view(text).substr(0, digit)));
    if (head.ends_with("r-") || head.ends_with("r -")) return std::nullopt;  // "lora r-3"
    while (!head.empty() &&
           (head.back() == 'r' || head.back() == '-' || head.back() == ' ' || head.back() == '=')) {
        head.pop_back();
    }
    if (head != "lora" && head != "qlora") return std::nullopt;
    text = head;
    return static_cast<int>(*rank);
}

}  // namespace

std::optional<double> read_amount(doc::MapReader& r, const char* key, std::string_view unit) {
    const doc::Node* n = r.node(key);
    if (n == nullptr || n->is(doc::Node::Kind::null)) return std::nullopt;
    std::string_view text = trim(n->text());
    drop_unit(text, unit);
    return checked(r, key, unit, n->text(), amount_of(*n, text));
}

std::optional<BatchSize> read_batch(doc::MapReader& r, const char* key) {
    const doc::Node* n = r.node(key);
    if (n == nullptr || n->is(doc::Node::Kind::null)) return std::nullopt;
    std::string_view text = trim(n->text());
    const bool tokens = drop_unit(text, "token");
    if (!tokens) drop_unit(text, "sequence");
    const char* unit = tokens ? "token" : "sequence";
    const std::optional<double> value = checked(r, key, unit, n->text(), amount_of(*n, text));
    if (!value) return std::nullopt;
    BatchSize b;
    (tokens ? b.tokens : b.sequences) = value;
    return b;
}

std::optional<bool> read_yes_no(doc::MapReader& r, const char* key) {
    const doc::Node* n = r.node(key);
    if (n == nullptr || n->is(doc::Node::Kind::null)) return std::nullopt;
    if (n->is(doc::Node::Kind::boolean)) return n->as_bool();
    const std::string word = to_lower(trim(n->text()));
    for (const char* yes : {"yes", "ok", "allowed", "on", "true"}) {
        if (word == yes) return true;
    }
    for (const char* no : {"no", "forbidden", "off", "false", "never"}) {
        if (word == no) return false;
    }
    r.error(key, std::string(key) + ": \"" + n->text() + "\" is neither yes nor no",
            "write yes or no");
    return std::nullopt;
}

const char* spelled(doc::MapReader& r, const char* key, const char* other) {
    if (!r.has(other)) return key;
    if (r.has(key)) {
        r.node(other);
        r.error(other, std::string(other) + " and " + key + " are the same setting",
                "keep one of them");
        return key;
    }
    return other;
}

Location place_of_precision(const doc::Node& map) {
    for (const char* key : {"precision", "dtype"}) {
        if (const doc::Node* n = map.find(key)) return n->where;
    }
    return map.where;
}

std::optional<catalog::Precision> read_precision(doc::MapReader& r) {
    const char* key = spelled(r, "precision", "dtype");
    const std::optional<std::string> text =
        r.optional_choice(key, {"fp32", "tf32", "fp16", "bf16", "fp8", "fp4"});
    return text ? catalog::parse_precision(*text) : std::nullopt;
}

std::optional<Optimizer> read_optimizer(doc::MapReader& r) {
    const std::optional<std::string> text = r.optional_string("optimizer");
    if (!text) return std::nullopt;
    const std::optional<Optimizer> o = parse_optimizer(*text);
    if (!o) {
        r.error("optimizer", "unknown optimizer \"" + *text + "\"",
                "one of adamw, adamw-bf16, adamw-8bit, adafactor, sgd, muon");
    }
    return o;
}

MethodChoice read_method(doc::MapReader& r) {
    MethodChoice choice;
    std::optional<int> rank;
    if (std::optional<std::string> text = r.optional_string("method")) {
        const std::string written = *text;
        rank = rank_in(*text);
        const std::optional<Method> m = parse_method(*text);
        if (m) {
            choice.method = *m;
        } else {
            r.error("method", "unknown method \"" + written + "\"",
                    "one of pretrain, full, lora, qlora");
        }
    }
    if (const auto given = r.optional_integer("lora_rank", {.min = 1, .max = kMaxRank})) {
        rank = static_cast<int>(*given);
        if (choice.method != Method::lora && choice.method != Method::qlora) {
            r.error(
                "lora_rank",
                "lora_rank is given, but the method is " + std::string(to_string(choice.method)),
                "write method: lora, or drop lora_rank");
        }
    }
    if (choice.method == Method::lora || choice.method == Method::qlora)
        choice.lora = Lora{.rank = rank.value_or(16)};
    return choice;
}

}  // namespace trainyard::workload
