// Pods that need the node's credentials but cannot reach them.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::kp_imds_hop {

namespace {

bool talks_to_aws(const Job& job) {
    for (std::size_t i = 0; i < job.words.size(); ++i) {
        const std::string& w = job.words[i].text;
        if (w == "aws" || w == "s5cmd" || w.starts_with("s3://") || contains(w, "=s3://")) {
            return true;
        }
    }
    return false;
}

bool has_identity(const Job& job) {
    const std::string account = said(job.spec, {"serviceAccountName"}).text;
    return (!account.empty() && account != "default") ||
           find_env(job.env, "AWS_ACCESS_KEY_ID") != nullptr ||
           find_env(job.env, "AWS_ROLE_ARN") != nullptr || is_true(get(job.spec, "hostNetwork"));
}

void find(const Case& c, Found& found) {
    for (const Document* d : c.objects("EC2NodeClass")) {
        const doc::Node* options = get(&d->root, {"spec", "metadataOptions"});
        const auto limit = count(options, {"httpPutResponseHopLimit"});
        if (limit && limit->value >= 2) continue;
        for (const Job& job : c.jobs) {
            if (job.form != Job::Form::pod || !talks_to_aws(job) || has_identity(job)) continue;
            const Location at = limit ? limit->where : get(&d->root, "kind")->where;
            Finding& f = found.at(at, fmt::format("the hop limit of this class is 1, but the {} {} "
                                                  "uses the node's credentials",
                                                  job.object_kind, job.name));
            f.related.push_back({job.where, "no service account with a role"});
            break;
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-IMDS-HOP",
            .severity = Severity::warning,
            .title = "Pods use node credentials, but the metadata hop limit is 1",
            .applies = "Karpenter EC2NodeClass beside pods",
            .why =
                "containers sit one hop behind the node: they get no credentials and no"
                " region, and uploading checkpoints to S3 fails at the end of the first"
                " interval",
            .fix =
                "metadataOptions: {httpPutResponseHopLimit: 2}, or better, EKS Pod "
                "Identity",
            .source = "aws/karpenter-provider-aws#7548",
            .holds_for = "Karpenter 1.0 and later (the default became 1)",
            .find = find};
}

}  // namespace trainyard::lint::kp_imds_hop
