// A public address for an instance with several network cards.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::net_multinic_public_ip {

namespace {

void find(const Case& c, Found& found) {
    for (const Pool& p : c.pools) {
        if (!p.public_ip) continue;
        for (const Said& t : p.types) {
            const catalog::Instance* i = c.instance(t.text);
            const bool is_multi = (i != nullptr && facts::is_multi_card(*i)) || p.nics.size() > 1;
            if (!is_multi) continue;
            found.at(p.public_ip,
                     fmt::format("a public IP cannot be assigned to {}, which has several network "
                                 "interfaces",
                                 t.text));
            break;
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "NET-MULTINIC-PUBLIC-IP",
            .severity = Severity::error,
            .title = "A public IP address on an instance with several network interfaces",
            .applies = "ParallelCluster, Karpenter, EC2 templates, Terraform",
            .why =
                "EC2 gives no automatic public address to an instance with more than "
                "one interface: the launch is refused, or the node never reaches the "
                "internet and the bootstrap times out while it is billed",
            .fix = "use a private subnet with a NAT gateway or VPC endpoints",
            .source = "aws/aws-parallelcluster#3604; aws/karpenter-provider-aws#5666",
            .find = find};
}

}  // namespace trainyard::lint::net_multinic_public_ip
