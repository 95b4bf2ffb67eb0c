// A job.yaml in: no input may crash; what is accepted has positive, finite wishes.

#include <cmath>

#include "fuzz_text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/workload/job.hpp"

namespace {

/// A nested {config: path} sees the same untrusted kind of text.
trainyard::Result<trainyard::doc::Node> resolve(const std::string& path) {
    return trainyard::doc::parse_any(path, path.empty() ? "config.json" : path);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trainyard;
    const Result<doc::Node> root = doc::parse_yaml(fuzz::as_text(data, size), "job.yaml");
    if (!root) {
        fuzz::expect_explained(root.error());
        return 0;
    }
    const Result<workload::Job> job = workload::read_job(*root, resolve);
    if (!job) {
        fuzz::expect_explained(job.error());
        return 0;
    }
    TRAINYARD_ASSERT(std::isfinite(job->tokens / kToken) && job->tokens >= 0 * kToken,
                     "tokens are finite");
    TRAINYARD_ASSERT(!job->budget || *job->budget > 0 * kUsd, "a budget is positive");
    TRAINYARD_ASSERT(!job->deadline || *job->deadline > 0 * kSecond, "a deadline is positive");
    TRAINYARD_ASSERT(job->copies >= 1 && job->sequence >= 0, "counts are in range");
    const Result<workload::Job> dated = workload::resolve_deadline(*job, "2026-12-01");
    if (!dated) fuzz::expect_explained(dated.error());
    return 0;
}
