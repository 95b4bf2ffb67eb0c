// A VPC in which training cannot reach S3.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"

namespace trainyard::lint::net_s3_endpoint {

namespace {

bool has_way_out(const Case& c) {
    for (const Resource& r : c.resources) {
        for (const std::string_view type :
             {"aws_vpc_endpoint", "aws_nat_gateway", "aws_internet_gateway", "aws_route",
              "aws_route_table", "aws_ec2_transit_gateway_vpc_attachment", "AWS::EC2::VPCEndpoint",
              "AWS::EC2::NatGateway", "AWS::EC2::InternetGateway", "module"}) {
            if (r.type == type && (type != "module" || contains(r.name, "vpc") ||
                                   contains(said(r.body, {"source"}).text, "vpc"))) {
                return true;
            }
        }
    }
    return false;
}

bool is_for_training(const Document& d) {
    for (const std::string_view word :
         {"sagemaker", "training", "eks", "trn1", "p4d", "p5", "gpu"}) {
        if (contains(d.text, word)) return true;
    }
    return false;
}

void find(const Case& c, Found& found) {
    if (has_way_out(c)) return;
    for (const Resource& r : c.resources) {
        const bool is_vpc = r.type == "aws_vpc" || r.type == "AWS::EC2::VPC";
        if (!is_vpc || !is_for_training(*r.document)) continue;
        const std::string_view subnet = r.type == "aws_vpc" ? "aws_subnet" : "AWS::EC2::Subnet";
        const bool has_subnet = std::any_of(c.resources.begin(), c.resources.end(),
                                            [&](const Resource& o) { return o.type == subnet; });
        if (!has_subnet) continue;
        found.at(Said{r.name, r.where}, fmt::format("VPC {} has neither an S3 endpoint nor a NAT "
                                                    "route",
                                                    r.name));
    }
}

}  // namespace

Rule rule() {
    return {.id = "NET-S3-ENDPOINT",
            .severity = Severity::error,
            .title = "A VPC without a way to S3",
            .applies = "Terraform, CloudFormation",
            .why =
                "jobs in its subnets hang or fail when they fetch data or save "
                "checkpoints, while the nodes are billed",
            .fix = "a gateway endpoint for S3 (free), or a route to a NAT gateway",
            .source =
                "SageMaker documentation, training in a VPC; aws/amazon-sagemaker-"
                "operator-for-k8s#22",
            .find = find};
}

}  // namespace trainyard::lint::net_s3_endpoint
