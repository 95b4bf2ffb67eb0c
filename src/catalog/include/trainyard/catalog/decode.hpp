#pragma once
// What an instance name says. Grammar
// (https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html):
//
//     [service.] letters generation capabilities [-option] . size
//        ml.        p        5          en                    .48xlarge
//
// What AWS documents and what people tell are kept apart; a part nobody explains is said to be
// unknown.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/catalog/catalog.hpp"

namespace trainyard::catalog {

/// One row of naming.csv.
struct NameRule {
    enum class Kind { service, family, letter, option, folklore, confusable };
    Kind kind = Kind::letter;
    std::string key;
    std::string scope;  ///< letters the rule holds for; for a confusable the other family
    std::string text;
    std::string against;  ///< folklore: what contradicts it
    Yes documented = Yes::unknown;
    Provenance provenance;
};

/// One row of timeline.csv.
struct LaunchEvent {
    std::string line;    ///< "P", "Trn", "G", "Inf", "DL"
    std::string family;  ///< "p4de"
    std::string date;    ///< YYYY-MM[-DD]
    std::string accelerator;
    std::string text;
    Provenance provenance;
};

struct Naming {
    std::vector<NameRule> rules;
    std::vector<LaunchEvent> timeline;
    /// From naming.csv and timeline.csv of `tables`, the embedded ones where missing.
    static Result<Naming> load(const Tables& tables);
};

struct NamePart {
    std::string text;     ///< "p", "4", "d", "24xlarge"
    std::string role;     ///< "service", "family", "generation", "letter", "option", "size"
    std::string meaning;  ///< never empty: "unknown: …" if nobody explains it
    Yes documented = Yes::unknown;
    std::string source;
};

struct DecodedName {
    std::string name;    ///< lower case, as decoded
    std::string family;  ///< "p4de"; only letters ("p") if no generation was given
    std::string size;    ///< "24xlarge"; empty if none was given
    std::vector<NamePart> parts;
    std::optional<Instance> instance;  ///< the catalog's row, if it has this type
    std::optional<int> vcpu_by_rule;   ///< 4 per "xlarge": usual, not promised
    std::vector<NameRule> folklore;
    std::vector<NameRule> confusable;
    std::vector<LaunchEvent>
        timeline;  ///< the line of the family, oldest first; empty if it has none
    std::vector<std::string> unknown;    ///< sentences: what could not be told
    std::optional<std::string> nearest;  ///< a type of the catalog, if this one is not in it
};

/// Refuses text that does not fit the grammar, with one diagnostic.
Result<DecodedName> decode(std::string_view name, const Naming& naming, const Catalog& catalog);

}  // namespace trainyard::catalog
