// Training data through a NAT gateway.

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"
#include "planned.hpp"

namespace trainyard::lint::net_nat_s3 {

namespace {

/// What the plan's checkpoints and data cost on their way through the gateway.
std::optional<UsdPerSecond> traffic(const Case& c) {
    const auto price = c.catalog->service("nat.gb", "us-east-1");
    if (c.plan == nullptr || !price) return std::nullopt;
    const auto number = [&](std::initializer_list<std::string_view> path) {
        const doc::Node* n = get(get(&c.plan->root, {"chosen", "offer"}), path);
        return n != nullptr && n->is_numeric() ? n->as_number() : 0.0;
    };
    const double interval = number({"risk", "interval_s"});
    const double run = number({"time", "expected_s"});
    double bytes_per_second = interval > 0 ? number({"checkpoint_bytes"}) / interval : 0;
    bytes_per_second += run > 0 ? number({"dataset_bytes"}) / run : 0;
    if (bytes_per_second <= 0) return std::nullopt;
    return bytes_per_second / 1e9 * price->value * kUsd / kSecond;
}

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
            found.at(Said{r.name, r.where}, "traffic to S3 goes through this NAT gateway").waste =
                traffic(c);
        } else if (is_true(by_module)) {
            found.at(said(by_module), "traffic to S3 goes through this module's NAT gateway")
                .waste = traffic(c);
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
