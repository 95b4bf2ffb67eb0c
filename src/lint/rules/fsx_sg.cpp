// A security group that keeps Lustre clients out.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"

namespace trainyard::lint::fsx_sg {

namespace {

bool covers(const SecurityGroup& g, int from, int to) {
    return std::any_of(g.rules.begin(), g.rules.end(), [&](const GroupRule& r) {
        if (!r.is_ingress) return false;
        return r.protocol == "-1" ||
               (is_one_of(r.protocol, {"tcp", "6"}) && r.from <= from && r.to >= to);
    });
}

void find(const Case& c, Found& found) {
    for (const Resource& r : c.resources) {
        const bool is_tf = r.type == "aws_fsx_lustre_file_system";
        if (!is_tf && r.type != "AWS::FSx::FileSystem") continue;
        if (!is_tf && !said(r.body, {"FileSystemType"}).is("LUSTRE")) continue;
        const doc::Node* groups = get(r.body, is_tf ? "security_group_ids" : "SecurityGroupIds");
        for (const doc::Node* used : each(groups)) {
            std::string name = said(used).text;
            if (const Said ref = said(used, {"Ref"})) name = ref.text;
            for (const SecurityGroup& g : c.groups) {
                const bool is_it = name == g.name || name.starts_with(g.name + ".");
                if (!is_it || !g.is_whole) continue;
                const bool main = covers(g, 988, 988);
                if (main && covers(g, 1018, 1023)) continue;
                Finding& f =
                    found.at(g.where, fmt::format("{} belongs to a Lustre file system but "
                                                  "does not let {} in",
                                                  g.name, main ? "TCP 1018-1023" : "TCP 988"));
                f.related.push_back({r.where, "the file system"});
            }
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "FSX-SG",
            .severity = Severity::error,
            .title = "The security group of FSx for Lustre lacks TCP 988 and 1018-1023",
            .applies = "Terraform, CloudFormation",
            .why =
                "creating the file system is refused, or clients hang at mount while "
                "their nodes are billed (2049 is NFS, not Lustre)",
            .fix = "allow TCP 988 and 1018-1023 from the clients and from the group itself",
            .source =
                "FSx for Lustre user guide, limit access with VPC; kubernetes-sigs/aws-"
                "fsx-csi-driver#32",
            .find = find};
}

}  // namespace trainyard::lint::fsx_sg
