#include "trainyard/plan/assumptions.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "embedded.hpp"
#include "trainyard/base/contract.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/csv.hpp"

namespace trainyard::plan {
namespace {

using doc::CsvTable;

Diagnostic bad_cell(const CsvTable& t, std::size_t row, std::string_view column, std::string what) {
    Diagnostic d;
    d.where = t.place(row, column);
    d.what = std::string(column) + ": " + std::move(what);
    return d;
}

std::optional<double> number_cell(const CsvTable& t, std::size_t row, std::string_view column,
                                  std::vector<Diagnostic>& errors) {
    const auto v = parse_number(t.cell(row, column));
    if (!v) {
        errors.push_back(bad_cell(t, row, column,
                                  '"' + std::string(t.cell(row, column)) + "\" is not a number"));
    }
    return v;
}

catalog::Status parse_status(std::string_view s) {
    if (s == "guide_claim") return catalog::Status::guide_claim;
    if (s == "vendor_list") return catalog::Status::vendor_list;
    if (s == "vendor_measured") return catalog::Status::vendor_measured;
    if (s == "third_party_measured") return catalog::Status::third_party_measured;
    if (s == "we_measured") return catalog::Status::we_measured;
    if (s == "modelled") return catalog::Status::modelled;
    return catalog::Status::assumed;
}

catalog::Provenance provenance_of(const CsvTable& t, std::size_t row) {
    return {std::string(t.cell(row, "source")), std::string(t.cell(row, "as_of")),
            t.has("status") ? parse_status(t.cell(row, "status")) : catalog::Status::vendor_list};
}

using Tables = std::map<std::string, std::string>;

/// Parses one table and gives each row to `read`; a missing table or a bad row becomes a
/// diagnostic.
void each_row(const Tables& tables, const std::string& name, std::vector<Diagnostic>& errors,
              const std::function<void(const CsvTable&, std::size_t)>& read) {
    const auto it = tables.find(name);
    if (it == tables.end()) {
        errors.push_back({Severity::error, {name, 0, 0}, "the table is missing", {}, {}});
        return;
    }
    auto parsed = doc::parse_csv(it->second, name);
    if (!parsed) {
        const auto& d = parsed.error().diagnostics;
        errors.insert(errors.end(), d.begin(), d.end());
        return;
    }
    for (std::size_t row = 0; row < parsed->size(); ++row) read(*parsed, row);
}

std::string text_cell(const CsvTable& t, std::size_t row, std::string_view column) {
    return std::string(t.cell(row, column));
}

}  // namespace

Result<Assumptions> Assumptions::load(const Tables& tables) {
    Assumptions a;
    std::vector<Diagnostic> errors;
    each_row(tables, "assumptions.csv", errors, [&](const CsvTable& t, std::size_t r) {
        const auto value = number_cell(t, r, "value", errors);
        if (!value) return;
        a.index_[text_cell(t, r, "key")] = a.rows_.size();
        a.rows_.push_back({text_cell(t, r, "key"), *value, text_cell(t, r, "unit"),
                           text_cell(t, r, "note"), provenance_of(t, r)});
    });
    each_row(tables, "batch.csv", errors, [&](const CsvTable& t, std::size_t r) {
        const auto method = workload::parse_method(t.cell(r, "method"));
        const auto limit = number_cell(t, r, "max_params", errors);
        const auto amount = number_cell(t, r, "amount", errors);
        if (!method) errors.push_back(bad_cell(t, r, "method", "unknown training method"));
        if (!method || !limit || !amount) return;
        a.batches_.push_back(
            {*method, *limit, *amount, t.cell(r, "unit") == "tokens", provenance_of(t, r)});
    });
    each_row(tables, "services.csv", errors, [&](const CsvTable& t, std::size_t r) {
        a.services_.push_back({text_cell(t, r, "id"), text_cell(t, r, "service"),
                               text_cell(t, r, "when"), text_cell(t, r, "because"),
                               text_cell(t, r, "source")});
    });
    each_row(tables, "rules.csv", errors, [&](const CsvTable& t, std::size_t r) {
        a.rules_.push_back({text_cell(t, r, "id"), text_cell(t, r, "kind"),
                            text_cell(t, r, "condition"), text_cell(t, r, "because"),
                            text_cell(t, r, "lifted_by"), text_cell(t, r, "source")});
    });
    each_row(tables, "quotas.csv", errors, [&](const CsvTable& t, std::size_t r) {
        a.quotas_.push_back({text_cell(t, r, "prefix"), text_cell(t, r, "on_demand_name"),
                             text_cell(t, r, "on_demand_code"), text_cell(t, r, "spot_name"),
                             text_cell(t, r, "spot_code")});
    });
    each_row(tables, "devices.csv", errors, [&](const CsvTable& t, std::size_t r) {
        a.devices_.push_back({text_cell(t, r, "architecture"), text_cell(t, r, "rule"),
                              text_cell(t, r, "text"), provenance_of(t, r)});
    });
    each_row(tables, "neuron_models.csv", errors, [&](const CsvTable& t, std::size_t r) {
        a.neuron_[text_cell(t, r, "family")] = text_cell(t, r, "source");
    });
    if (!errors.empty()) return bad_input(std::move(errors));
    return a;
}

const Assumptions& Assumptions::embedded() {
    static const Assumptions loaded = [] {
        auto a = load(embedded_files());
        TRAINYARD_ASSERT(a.has_value(),
                         "the embedded assumption tables parse; assumptions_test loads them");
        return std::move(*a);
    }();
    return loaded;
}

const std::string& Assumptions::because(std::string_view rule) const {
    const auto found =
        std::find_if(rules_.begin(), rules_.end(), [&](const Rule& r) { return r.id == rule; });
    TRAINYARD_ASSERT(found != rules_.end(),
                     "data/plan/rules.csv holds every rule that is asked for");
    return found->because;
}

const Assumption& Assumptions::row(std::string_view key) const {
    const auto it = index_.find(key);
    TRAINYARD_ASSERT(it != index_.end(),
                     "the planner asks only for keys of data/plan/assumptions.csv");
    return rows_[it->second];
}

double Assumptions::number(std::string_view key) const { return row(key).value; }

const BatchRule& Assumptions::batch(workload::Method method, double params) const {
    const auto it = std::find_if(batches_.begin(), batches_.end(), [&](const BatchRule& r) {
        return r.method == method && params <= r.max_params;
    });
    TRAINYARD_ASSERT(it != batches_.end(),
                     "data/plan/batch.csv ends each method with a limit no model reaches");
    return *it;
}

const QuotaRule* Assumptions::quota(std::string_view family) const {
    const QuotaRule* best = nullptr;
    for (const QuotaRule& q : quotas_) {
        const bool matches = family.substr(0, q.prefix.size()) == q.prefix;
        if (matches && (best == nullptr || q.prefix.size() > best->prefix.size())) best = &q;
    }
    return best;
}

std::vector<const DeviceRule*> Assumptions::device_rules(std::string_view architecture) const {
    std::vector<const DeviceRule*> found;
    for (const DeviceRule& d : devices_) {
        if (architecture.find(d.architecture) != std::string_view::npos) found.push_back(&d);
    }
    return found;
}

std::optional<std::string> Assumptions::neuron_support(std::string_view family) const {
    const auto it = neuron_.find(family);
    if (it == neuron_.end()) return std::nullopt;
    return it->second;
}

}  // namespace trainyard::plan
