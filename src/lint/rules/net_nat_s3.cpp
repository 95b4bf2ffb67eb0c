// Training data through a NAT gateway.

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::net_nat_s3 {

namespace {

void find(const Case& c, Found& found) {
    const auto has = [&](std::string_view a, std::string_view b) {
        return std::any_of(c.resources.begin(), c.resources.end(),
                           [&](const Resource& r) { return r.type == a || r.type == b; });
    };
    if (has("aws_vpc_endpoint", "AWS::EC2::VPCEndpoint")) return;
    const bool is_module =
        std::any_of(c.resources.begin(), c.resources.end(), [](const Resource& r) {
            return r.type == "module" && contains(said(r.body, {"source"}).text, "endpoint");
        });
    if (is_module) return;
    const bool trains = std::any_of(c.pools.begin(), c.pools.end(), [&](const Pool& p) {
        return static_cast<bool>(facts::accelerated(c, p.types));
    });
    if (!trains) return;
    for (const Resource& r : c.resources) {
        const bool is_nat = r.type == "aws_nat_gateway" || r.type == "AWS::EC2::NatGateway";
        const doc::Node* by_module =
            r.type == "module" ? get(r.body, "enable_nat_gateway") : nullptr;
        if (is_nat) {
            found.at(Said{r.name, r.where}, "traffic to S3 goes through this NAT gateway");
        } else if (is_true(by_module)) {
            found.at(said(by_module), "traffic to S3 goes through this module's NAT gateway");
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "NET-NAT-S3",
            .severity = Severity::warning,
            .title = "A NAT gateway and no S3 endpoint: all data is billed by the gigabyte",
            .applies = "Terraform, CloudFormation",
            .why =
                "data, images and checkpoints to S3 pass the NAT gateway at $0.045 a GB"
                " each way; the gateway endpoint for S3 is free",
            .fix = "add an aws_vpc_endpoint of type Gateway for S3",
            .source = "AWS VPC pricing, NAT gateway; data/catalog/services.csv",
            .find = find};
}

}  // namespace trainyard::lint::net_nat_s3
