// The grammar first (split), then each part is looked up (explain). Greedy and left to right; the
// only word with its own form is high memory: u-24tb1 is the family u, 24 TiB, generation 1.

#include "trainyard/catalog/decode.hpp"

#include <algorithm>

#include "trainyard/base/text.hpp"

namespace trainyard::catalog {

namespace {

using Kind = NameRule::Kind;

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool all_digits(std::string_view s) {
    return !s.empty() && std::all_of(s.begin(), s.end(), is_digit);
}

/// The pieces of a name before anyone asks what they mean.
struct Pieces {
    std::string service;
    std::string letters;
    std::string generation;
    std::string capabilities;  ///< letters after the generation
    std::string option;        ///< after the dash
    std::string terabytes;     ///< "24tb" of u-24tb1
    std::string size;
};

std::string_view take(std::string_view& s, bool (*is_wanted)(char)) {
    std::size_t n = 0;
    while (n < s.size() && is_wanted(s[n])) ++n;
    const std::string_view taken = s.substr(0, n);
    s.remove_prefix(n);
    return taken;
}

/// "metal", "metal-24xl", "micro", "xlarge", "48xlarge".
bool is_size(std::string_view s) {
    if (s.starts_with("metal-") && s.ends_with("xl")) return all_digits(s.substr(6, s.size() - 8));
    for (const std::string_view word :
         {"nano", "micro", "small", "medium", "large", "xlarge", "metal"}) {
        if (s == word) return true;
    }
    return s.size() > 6 && s.ends_with("xlarge") && all_digits(s.substr(0, s.size() - 6));
}

bool split_family(std::string_view s, Pieces& out) {
    out.letters = take(s, is_letter);
    if (out.letters.empty()) return false;
    if (out.letters == "u" && s.starts_with('-')) {  // u-24tb1
        s.remove_prefix(1);
        const std::string_view amount = take(s, is_digit);
        if (amount.empty() || !s.starts_with("tb")) return false;
        out.terabytes = std::string(amount) + "tb";
        s.remove_prefix(2);
        out.generation = take(s, is_digit);
        return s.empty() && (out.generation.size() == 1 || out.generation.size() == 2);
    }
    out.generation = take(s, is_digit);
    if (out.generation.size() > 2) return false;
    out.capabilities = take(s, is_letter);
    if (s.empty()) return true;
    if (s.front() != '-' || out.generation.empty() || s.size() < 2) return false;
    out.option = s.substr(1);
    return std::all_of(out.option.begin(), out.option.end(),
                       [](char c) { return is_letter(c) || is_digit(c); });
}

const NameRule* find_rule(const Naming& naming, Kind kind, std::string_view key,
                          std::string_view letters = {}) {
    const NameRule* general = nullptr;
    for (const NameRule& rule : naming.rules) {
        if (rule.kind != kind || rule.key != key) continue;
        if (!rule.scope.empty() && rule.scope == letters) return &rule;
        if (rule.scope.empty()) general = &rule;
    }
    return general;
}

std::optional<Pieces> split(std::string_view name, const Naming& naming) {
    Pieces out;
    std::vector<std::string_view> words = trainyard::split(name, '.');
    if (words.size() > 1 && find_rule(naming, Kind::service, words.front()) != nullptr) {
        out.service = words.front();
        words.erase(words.begin());
    } else if (words.size() > 2 && find_rule(naming, Kind::service, words.back()) != nullptr) {
        out.service = words.back();
        words.pop_back();
    }
    if (words.empty() || words.size() > 2) return std::nullopt;
    if (words.size() == 2) {
        if (!is_size(words[1])) return std::nullopt;
        out.size = words[1];
    }
    if (!split_family(words[0], out)) return std::nullopt;
    if (words.size() == 2 && out.generation.empty()) return std::nullopt;
    return out;
}

class Decoder {
  public:
    Decoder(const Pieces& pieces, const Naming& naming, const Catalog& catalog, DecodedName& out)
        : p_(pieces), naming_(naming), catalog_(catalog), out_(out) {}

    void explain() {
        out_.family = p_.letters + (p_.terabytes.empty() ? "" : "-" + p_.terabytes) +
                      p_.generation + p_.capabilities + (p_.option.empty() ? "" : "-" + p_.option);
        out_.size = p_.size;
        service();
        family();
        generation();
        capabilities();
        size();
        find_instance();
        find_neighbours();
    }

  private:
    void add(const std::string& text, const char* role, const NameRule* rule,
             const std::string& otherwise) {
        if (rule != nullptr) {
            out_.parts.push_back(
                {text, role, rule->text, rule->documented, rule->provenance.source});
        } else {
            out_.parts.push_back({text, role, "unknown: " + otherwise, Yes::unknown, ""});
            out_.unknown.push_back("\"" + text + "\": " + otherwise);
        }
    }

    void service() {
        if (!p_.service.empty())
            add(p_.service, "service", find_rule(naming_, Kind::service, p_.service), "");
    }

    void family() {
        add(p_.letters, "family", find_rule(naming_, Kind::family, p_.letters),
            "no EC2 family has these letters in our table");
    }

    void generation() {
        if (!p_.terabytes.empty()) {
            out_.parts.push_back(
                {p_.terabytes, "letter",
                 p_.terabytes.substr(0, p_.terabytes.size() - 2) + " TiB of memory", Yes::yes, ""});
        }
        if (p_.generation.empty()) return;
        std::string meaning = "generation " + p_.generation + " of this family, counted by AWS";
        const int newest = newest_generation();
        const int own = std::stoi(p_.generation);
        if (newest > 0 && own > newest) {
            meaning = "unknown: the newest generation in our table is " + std::to_string(newest);
            out_.unknown.push_back("generation " + p_.generation +
                                   ": the newest that our table knows is " +
                                   std::to_string(newest));
        }
        out_.parts.push_back({p_.generation, "generation", meaning,
                              own > newest && newest > 0 ? Yes::unknown : Yes::yes, ""});
    }

    /// 0 if the catalog and the timeline know none.
    int newest_generation() const {
        int newest = 0;
        const auto look = [&](std::string_view family) {
            if (!family.starts_with(p_.letters)) return;
            std::string_view rest = family.substr(p_.letters.size());
            const std::string_view digits = take(rest, is_digit);
            if (!digits.empty() && digits.size() < 3)
                newest = std::max(newest, std::stoi(std::string(digits)));
        };
        for (const Instance& i : catalog_.instances()) look(i.family);
        for (const LaunchEvent& e : naming_.timeline) look(e.family);
        return newest;
    }

    void capabilities() {
        for (const char c : p_.capabilities) {
            const std::string letter(1, c);
            add(letter, "letter", find_rule(naming_, Kind::letter, letter, p_.letters),
                "AWS documents no such letter");
        }
        if (p_.option.empty()) return;
        if (p_.letters == "u" && p_.option.ends_with("tb")) {
            const std::string amount = p_.option.substr(0, p_.option.size() - 2);
            out_.parts.push_back({p_.option, "option", amount + " TiB of memory", Yes::yes, ""});
            return;
        }
        add(p_.option, "option", find_rule(naming_, Kind::option, p_.option, p_.letters),
            "not in our table; since P6 the option names the accelerator");
    }

    void size() {
        if (p_.size.empty()) return;
        std::string meaning;
        const std::string_view s = p_.size;
        if (s == "xlarge") {
            out_.vcpu_by_rule = 4;
        } else if (s == "large" || s == "medium") {
            out_.vcpu_by_rule = s == "large" ? 2 : 1;
        } else if (s.ends_with("xlarge") && s.size() <= 9) {
            out_.vcpu_by_rule = 4 * std::stoi(std::string(s.substr(0, s.size() - 6)));
        }
        if (s.starts_with("metal")) {
            meaning = "the whole server without a hypervisor";
        } else if (out_.vcpu_by_rule) {
            meaning =
                std::to_string(*out_.vcpu_by_rule) + " vCPU by the usual rule of 4 per xlarge";
        } else {
            meaning = "AWS gives no number of vCPU for it";
        }
        if (const Instance* i = catalog_.instance(out_.family + "." + p_.size)) {
            meaning += i->vcpu == out_.vcpu_by_rule ? ", and it has them"
                                                    : "; it has " + std::to_string(i->vcpu);
        }
        out_.parts.push_back({p_.size, "size", meaning, Yes::no, "instances.csv"});
    }

    void find_instance() {
        if (p_.size.empty()) return;
        const std::string type = out_.family + "." + p_.size;
        if (const Instance* i = catalog_.instance(type)) {
            out_.instance = *i;
            return;
        }
        out_.unknown.push_back(
            "\"" + type + "\" is not in our instance table: the parts above are all we can tell");
        std::vector<std::string> same_letters;  // a near name of another family would help nobody
        for (const Instance& i : catalog_.instances()) {
            if (i.type.size() > p_.letters.size() && i.type.starts_with(p_.letters) &&
                is_digit(i.type[p_.letters.size()])) {
                same_letters.push_back(i.type);
            }
        }
        out_.nearest = trainyard::nearest(type, same_letters);
    }

    void find_neighbours() {
        for (const NameRule& rule : naming_.rules) {
            if (rule.kind == Kind::folklore &&
                (rule.key == p_.letters || rule.key == out_.family)) {
                out_.folklore.push_back(rule);
            }
            if (rule.kind == Kind::confusable && rule.key == out_.family)
                out_.confusable.push_back(rule);
        }
        const std::string letters = p_.letters == "gr" ? "g" : p_.letters;
        for (const LaunchEvent& e : naming_.timeline) {
            if (to_lower(e.line) == letters) out_.timeline.push_back(e);
        }
        std::stable_sort(
            out_.timeline.begin(), out_.timeline.end(),
            [](const LaunchEvent& a, const LaunchEvent& b) { return a.date < b.date; });
    }

    const Pieces& p_;
    const Naming& naming_;
    const Catalog& catalog_;
    DecodedName& out_;
};

}  // namespace

Result<DecodedName> decode(std::string_view name, const Naming& naming, const Catalog& catalog) {
    constexpr std::size_t kLongest = 64;  // the longest published name has 24 characters
    const std::string lower = to_lower(trim(name));
    const std::string shown =
        is_valid_utf8(name) ? std::string(name.substr(0, kLongest)) : "(not UTF-8)";
    std::optional<Pieces> pieces;
    if (!lower.empty() && lower.size() <= kLongest) pieces = split(lower, naming);
    if (!pieces || (pieces->generation.empty() &&
                    find_rule(naming, Kind::family, pieces->letters) == nullptr)) {
        const auto near = is_valid_utf8(lower) ? catalog.nearest_instance(lower) : std::nullopt;
        return bad_input(
            {Severity::error,
             {},
             "\"" + shown + "\" is not an instance name",
             "a name is letters, a generation, more letters, a dot and a size, like p4de.24xlarge",
             near ? "did you mean \"" + *near + "\"?" : "`trainyard catalog` lists the instances"});
    }
    DecodedName out;
    out.name = lower;
    Decoder(*pieces, naming, catalog, out).explain();
    return out;
}

}  // namespace trainyard::catalog
