#pragma once
// Which AWS service runs the cluster, and the fact that decided. Table-driven:
// data/plan/services.csv.

#include <string>

#include "trainyard/plan/assumptions.hpp"
#include "trainyard/plan/request.hpp"

namespace trainyard::plan {

struct ServiceFacts {
    int nodes = 1;
    int devices = 1;
    int copies = 1;
    Team team;
    bool outside_cheaper = false;
    double outside_saving = 0;
    double uplift = 0;  ///< SageMaker's price over EC2 for this type, minus 1
};

struct ServiceChoice {
    std::string
        service;  ///< "SageMaker", "EKS + Karpenter", "ParallelCluster + Slurm", "EC2", "not AWS"
    std::string rule;  ///< id of the rule that decided
    std::string because;
    std::string source;
};
/// The first rule that holds; the table ends with rules that cover every case.
ServiceChoice choose_service(const ServiceFacts& facts, const Assumptions& a);

}  // namespace trainyard::plan
