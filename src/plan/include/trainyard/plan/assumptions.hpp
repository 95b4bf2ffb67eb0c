#pragma once
// The numbers the planner needs besides the catalog and the performance model: start-up times, spot
// and checkpoint assumptions, default batches, quota names, service rules. They live in
// data/plan/*.csv with source, date and status.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/base/result.hpp"
#include "trainyard/base/units.hpp"
#include "trainyard/catalog/catalog.hpp"
#include "trainyard/workload/training.hpp"

namespace trainyard::plan {

/// One number of the ledger. `value` is in `unit` as written in the file.
struct Assumption {
    std::string key;
    double value = 0;
    std::string unit;
    std::string note;
    catalog::Provenance provenance;
};

/// "A pre-training run of a model up to max_params takes this global batch."
struct BatchRule {
    workload::Method method = workload::Method::pretrain;
    double max_params = 0;
    double amount = 0;
    bool in_tokens = false;  ///< else sequences
    catalog::Provenance provenance;
};

/// One row of data/plan/services.csv; `when` is kept as text and read by service.cpp.
struct ServiceRule {
    std::string id;
    std::string service;
    std::string when;
    std::string because;
    std::string source;
};

/// Which vCPU quota an instance family counts against.
struct QuotaRule {
    std::string prefix;
    std::string on_demand_name;
    std::string on_demand_code;
    std::string spot_name;
    std::string spot_code;
};

/// What an accelerator architecture forbids or costs ("no-bf16", "end-of-life", "friction").
struct DeviceRule {
    std::string architecture;  ///< substring of catalog::Accelerator::architecture
    std::string rule;
    std::string text;
    catalog::Provenance provenance;
};

/// One row of data/plan/rules.csv: what keeps a type, a size or a purchase out of a verdict.
struct Rule {
    std::string id;
    std::string kind;
    std::string condition;
    std::string because;
    std::string lifted_by;
    std::string source;
};

class Assumptions {
  public:
    /// Parses the tables (basename -> CSV text); a malformed row is a diagnostic with file and
    /// line.
    static Result<Assumptions> load(const std::map<std::string, std::string>& tables);
    /// The tables compiled into the binary, already parsed.
    static const Assumptions& embedded();

    /// Value of a key that the program relies on; an unknown key is a programmer error.
    double number(std::string_view key) const;
    Seconds seconds(std::string_view key) const { return number(key) * kSecond; }
    const Assumption& row(std::string_view key) const;
    const std::vector<Assumption>& rows() const { return rows_; }

    const BatchRule& batch(workload::Method method, double params) const;
    const std::vector<ServiceRule>& services() const { return services_; }
    const std::vector<DeviceRule>& devices() const { return devices_; }
    const std::vector<Rule>& rules() const { return rules_; }
    /// Why a rule holds; an unknown id is a programmer error.
    const std::string& because(std::string_view rule) const;
    const QuotaRule* quota(std::string_view family) const;
    std::vector<const DeviceRule*> device_rules(std::string_view architecture) const;
    /// Source of the Trainium training support of a model family; nullopt = not listed.
    std::optional<std::string> neuron_support(std::string_view family) const;

  private:
    std::vector<Assumption> rows_;
    std::map<std::string, std::size_t, std::less<>> index_;
    std::vector<BatchRule> batches_;
    std::vector<ServiceRule> services_;
    std::vector<Rule> rules_;
    std::vector<QuotaRule> quotas_;
    std::vector<DeviceRule> devices_;
    std::map<std::string, std::string, std::less<>> neuron_;
};

}  // namespace trainyard::plan
