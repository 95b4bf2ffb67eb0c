#pragma once
// Answers to follow-up questions: how does it scale, why not that type, what was wrong with my run.

#include <string>

#include "trainyard/plan/plan.hpp"

namespace trainyard::plan {

/// The chosen type at growing node counts and a fixed global batch. The knee is the largest size
/// that keeps `choice.knee_efficiency` against the smallest size that fits.
Scaling scaling_of(const Request& request, const catalog::Catalog& catalog, const Assumptions& a,
                   const Candidate& chosen);

/// The best this type can do, whatever kept it out of the search, and the number that lost it.
/// Billed like the rows of the table: with the service that this size would get.
WhyNot why_not(const std::string& type, const Request& request, const Work& work,
               const catalog::Catalog& catalog, const Assumptions& a,
               const std::optional<Option>& chosen);

/// Speed-up over one node that the model expects with the type's fabric and with plain TCP, against
/// the observed one.
std::optional<Diagnosis> diagnose(const Request& request, const catalog::Catalog& catalog,
                                  const Assumptions& a);

/// What the money and the time would buy, and what the job would need.
Shortfall shortfall_of(const std::vector<Option>& options, const Request& request, const Work& work,
                       const catalog::Catalog& catalog, const Assumptions& a);

/// Nothing the user allows can run the job: the reason in one clause (too long a sequence, the type
/// the user named and what it needs and has, else the memory).
std::string cannot_run(const Request& request, const Work& work,
                       const std::vector<Rejection>& rejections, const std::vector<Option>& others);

}  // namespace trainyard::plan
