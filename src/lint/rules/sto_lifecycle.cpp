// A checkpoint bucket that only grows.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"

namespace trainyard::lint::sto_lifecycle {

namespace {

bool is_checkpoints(const Resource& r) {
    for (const std::string_view word : {"ckpt", "checkpoint"}) {
        if (contains(r.name, word) || contains(said(r.body, {"bucket"}).text, word) ||
            contains(said(r.body, {"BucketName"}).text, word)) {
            return true;
        }
    }
    return false;
}

void find(const Case& c, Found& found) {
    for (const Resource& r : c.resources) {
        const bool is_tf = r.type == "aws_s3_bucket";
        if ((!is_tf && r.type != "AWS::S3::Bucket") || !is_checkpoints(r)) continue;
        if (!is_tf && get(r.body, "LifecycleConfiguration") != nullptr) continue;
        if (is_tf && get(r.body, "lifecycle_rule") != nullptr) continue;
        const bool has_rule =
            std::any_of(c.resources.begin(), c.resources.end(), [&](const Resource& o) {
                return o.type == "aws_s3_bucket_lifecycle_configuration" &&
                       contains(said(o.body, {"bucket"}).text, r.name);
            });
        if (has_rule) continue;
        found.at(Said{r.name, r.where},
                 fmt::format("bucket {} keeps every checkpoint for ever", r.name));
    }
}

}  // namespace

Rule rule() {
    return {.id = "STO-LIFECYCLE",
            .severity = Severity::warning,
            .title = "A bucket for checkpoints without a lifecycle rule",
            .applies = "Terraform, CloudFormation",
            .why =
                "checkpoints of a large model are hundreds of GB each and nobody "
                "deletes them: the bill of S3 overtakes the run's",
            .fix =
                "expire old checkpoints and abort incomplete multipart uploads after a "
                "few days",
            .source = "S3 user guide, lifecycle",
            .find = find};
}

}  // namespace trainyard::lint::sto_lifecycle
