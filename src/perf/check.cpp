// The public one-shot prediction: laws first, then the model.

#include "trainyard/perf/predict.hpp"

namespace trainyard::perf {

Result<Prediction> predict(const workload::Model& model, const workload::Training& t,
                           const Cluster& cluster, const Constants& constants) {
    std::vector<Diagnostic> problems;
    for (const workload::Violation& v : workload::check_mapping(model, t)) {
        problems.push_back({Severity::error, {}, v.what, v.rule, v.fix});
    }
    if (!cluster.accelerator->peak_for(t.precision)) {
        const std::string precision(catalog::to_string(t.precision));
        problems.push_back({Severity::error,
                            {},
                            cluster.accelerator->name + " has no published " + precision + " rate",
                            "tensor cores of that generation lack " + precision +
                                ", or the vendor publishes no figure",
                            "choose another precision, or another accelerator"});
    }
    if (t.parallel.devices() != cluster.accelerators) {
        problems.push_back(
            {Severity::error,
             {},
             "data x tensor x pipeline x context = " + std::to_string(t.parallel.devices()) +
                 ", but the cluster has " + std::to_string(cluster.accelerators) + " accelerators",
             "every accelerator has exactly one place in the mapping",
             "change a degree so that the product matches"});
    }
    if (!problems.empty()) return bad_input(std::move(problems));
    Predictor p(model, cluster, constants);
    return p.predict(t);
}

}  // namespace trainyard::perf
