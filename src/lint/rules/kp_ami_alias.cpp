// An image family that AWS no longer publishes.

#include "found.hpp"

namespace trainyard::lint::kp_ami_alias {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.objects("EC2NodeClass")) {
        for (const doc::Node* term : each(get(&d->root, {"spec", "amiSelectorTerms"}))) {
            const Said alias = said(term, {"alias"});
            if (alias.text.starts_with("al2@")) {
                Finding& f = found.at(alias, "alias " + alias.text +
                                                 ": there are no AL2 images any "
                                                 "more");
                f.edits.push_back({alias.where, "al2@", "al2023@"});
            }
        }
        const Said family = said(&d->root, {"spec", "amiFamily"});
        if (family.is("AL2")) {
            found.at(family, "amiFamily AL2: there are no AL2 images any more").fix =
                "amiFamily: AL2023, or an alias al2023@VERSION";
        }
    }
    for (const Pool& p : c.pools) {
        if (p.form != Pool::Form::eksctl) continue;
        const Said family = said(p.node, {"amiFamily"});
        if (family.is("AmazonLinux2")) {
            found.at(family, "amiFamily AmazonLinux2: there are no AL2 images any more").fix =
                "amiFamily: AmazonLinux2023";
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "KP-AMI-ALIAS",
            .severity = Severity::error,
            .title = "Amazon Linux 2 images in an EC2NodeClass",
            .applies = "Karpenter EC2NodeClass, eksctl",
            .why =
                "EKS publishes no AL2 image for Kubernetes 1.33 and later, and none at "
                "all since 26 November 2025: the class never becomes ready, or nodes "
                "run unpatched",
            .fix = "amiSelectorTerms: [{alias: al2023@VERSION}] or bottlerocket@VERSION",
            .source = "EKS AMI deprecation; awslabs/cdk-eks-blueprints#1161",
            .find = find};
}

}  // namespace trainyard::lint::kp_ami_alias
