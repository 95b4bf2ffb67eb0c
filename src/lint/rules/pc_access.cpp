// Nobody can log in.

#include "found.hpp"

namespace trainyard::lint::pc_access {

namespace {

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::parallelcluster)) {
        const doc::Node* head = get(&d->root, "HeadNode");
        if (head == nullptr || get(head, {"Ssh", "KeyName"}) != nullptr) continue;
        const bool has_manager = contains(d->text, "SSMManagedInstanceCore") ||
                                 get(head, {"Iam", "InstanceRole"}) != nullptr ||
                                 get(head, {"Iam", "InstanceProfile"}) != nullptr;
        const bool has_login = get(&d->root, "LoginNodes") != nullptr;
        if (has_manager || has_login) continue;
        found.at(key_said(*head, "HeadNode"), "no SSH key and no Session Manager");
    }
}

}  // namespace

Rule rule() {
    return {.id = "PC-ACCESS",
            .severity = Severity::note,
            .title = "The head node has neither an SSH key nor Session Manager",
            .applies = "ParallelCluster",
            .why =
                "there is no way in when a job hangs, and the cluster is billed "
                "meanwhile",
            .fix =
                "HeadNode.Ssh.KeyName, or Iam.AdditionalIamPolicies with "
                "AmazonSSMManagedInstanceCore",
            .source = "ParallelCluster documentation, HeadNode Ssh",
            .find = find};
}

}  // namespace trainyard::lint::pc_access
