#include "iam.hpp"

#include <fmt/format.h>

#include <vector>

#include "limits.hpp"
#include "placeholders.hpp"

namespace trainyard::render {
namespace {

using doc::Node;
using Words = std::vector<std::string>;

constexpr std::string_view kPods = "pods.eks.amazonaws.com";
constexpr std::string_view kImageAccount = "763104351884";  // of AWS Deep Learning Containers

Node strings(const Words& words) {
    Node list = Node::list();
    for (const std::string& w : words) list.append(Node::string(w));
    return list;
}

Node allow(const char* sid, const Words& actions, const Words& resources) {
    Node s = Node::map();
    s.set("Sid", sid);
    s.set("Effect", "Allow");
    s.set("Action", strings(actions));
    s.set("Resource", strings(resources));
    return s;
}

Node when(Node statement, const char* test, const char* key, const Words& values) {
    Node inner = Node::map();
    inner.set(key, strings(values));
    Node condition = Node::map();
    condition.set(test, std::move(inner));
    statement.set("Condition", std::move(condition));
    return statement;
}

Node policy(std::vector<Node> statements) {
    Node list = Node::list();
    for (Node& s : statements) list.append(std::move(s));
    Node p = Node::map();
    p.set("Version", "2012-10-17");
    p.set("Statement", std::move(list));
    return p;
}

std::string bucket_arn(const Recipe& r, const S3Address& a) {
    return "arn:" + partition(r.region) + ":s3:::" + a.bucket;
}
/// Everything below the prefix.
std::string objects(const Recipe& r, const S3Address& a) {
    return bucket_arn(r, a) + "/" + (a.prefix.empty() ? "" : iam_literal(a.prefix) + "/") + "*";
}
Words below(const S3Address& a) {
    if (a.prefix.empty()) return {"*"};
    return {iam_literal(a.prefix), iam_literal(a.prefix) + "/*"};
}

Node list_bucket(const Recipe& r, const char* sid, const S3Address& a) {
    return when(allow(sid, {"s3:ListBucket"}, {bucket_arn(r, a)}), "StringLike", "s3:prefix",
                below(a));
}

std::string arn(const Recipe& r, std::string_view service, std::string_view account,
                std::string_view resource) {
    return fmt::format("arn:{}:{}:{}:{}:{}", partition(r.region), service, r.region, account,
                       resource);
}

/// Images of AWS Deep Learning Containers, and one of the user's own, by the names in the job.
void add_image_pull(std::vector<Node>& s, const Recipe& r) {
    s.push_back(allow("EcrLogin", {"ecr:GetAuthorizationToken"}, {"*"}));
    s.push_back(allow(
        "EcrPull",
        {"ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer", "ecr:BatchCheckLayerAvailability"},
        {arn(r, "ecr", kImageAccount, "repository/pytorch-training*"),
         arn(r, "ecr", kAccount.value, "repository/fill-in-image")}));
}

/// What Session Manager's agent needs, and no more
/// (Systems Manager user guide, "Verify or add instance permissions for Session Manager").
Node session() {
    return allow("Session",
                 {"ssm:UpdateInstanceInformation", "ssmmessages:CreateControlChannel",
                  "ssmmessages:CreateDataChannel", "ssmmessages:OpenControlChannel",
                  "ssmmessages:OpenDataChannel"},
                 {"*"});
}

void add_sagemaker_run(std::vector<Node>& s, const Recipe& r) {
    s.push_back(allow("Logs",
                      {"logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams",
                       "logs:PutLogEvents"},
                      {arn(r, "logs", kAccount.value, "log-group:/aws/sagemaker/TrainingJobs"),
                       arn(r, "logs", kAccount.value, "log-group:/aws/sagemaker/TrainingJobs:*")}));
    s.push_back(when(allow("Metrics", {"cloudwatch:PutMetricData"}, {"*"}), "StringEquals",
                     "cloudwatch:namespace",
                     {"/aws/sagemaker/TrainingJobs", "aws/sagemaker/TrainingJobs"}));
    if (r.data_place != DataPlace::lustre) return;
    // SageMaker puts its interfaces into the user's VPC.
    s.push_back(allow(
        "InterfacesInTheVpc",
        {"ec2:CreateNetworkInterface", "ec2:CreateNetworkInterfacePermission",
         "ec2:DeleteNetworkInterface"},
        {arn(r, "ec2", kAccount.value, "network-interface/*"),
         arn(r, "ec2", kAccount.value, "subnet/" + std::string(kPrivateSubnet.value)),
         arn(r, "ec2", kAccount.value, "security-group/" + std::string(kSecurityGroup.value))}));
    s.push_back(allow("LookAtTheVpc",
                      {"ec2:DeleteNetworkInterfacePermission", "ec2:DescribeDhcpOptions",
                       "ec2:DescribeNetworkInterfaces", "ec2:DescribeSecurityGroups",
                       "ec2:DescribeSubnets", "ec2:DescribeVpcs"},
                      {"*"}));
}

/// EKS Pod Identity also tags the session it opens.
Node trust(std::string_view service) {
    Node principal = Node::map();
    principal.set("Service", service);
    Node s = Node::map();
    s.set("Effect", "Allow");
    s.set("Principal", std::move(principal));
    if (service == kPods) {
        s.set("Action", strings({"sts:AssumeRole", "sts:TagSession"}));
    } else {
        s.set("Action", "sts:AssumeRole");
    }
    std::vector<Node> all;
    all.push_back(std::move(s));
    return policy(std::move(all));
}

/// Pods have the role, not the nodes.
bool is_kubernetes(Target t) { return t == Target::eks || t == Target::hyperpod; }
bool is_sagemaker(Target t) { return t == Target::sagemaker; }

}  // namespace

std::string partition(std::string_view region) {
    if (region.starts_with("cn-")) return "aws-cn";
    if (region.starts_with("us-gov-")) return "aws-us-gov";
    return "aws";
}

std::string iam_literal(std::string_view s) {
    std::string out;
    for (char c : s) {
        if (c == '*' || c == '?' || c == '$') {
            out += "${";
            out += c;
            out += '}';
        } else {
            out += c;
        }
    }
    return out;
}

std::string run_role_name(std::string_view job) { return fmt::format("{:.60}-run", job); }

Node run_policy(const Recipe& r, Target target, const Addresses& at) {
    std::vector<Node> s;
    s.push_back(list_bucket(r, "ListData", at.data));
    s.push_back(list_bucket(r, "ListCheckpoints", at.checkpoint));
    Words readable = {objects(r, at.data)};
    if (takes_code(target, r)) {
        s.push_back(list_bucket(r, "ListCode", at.code));
        readable.push_back(objects(r, at.code));
    }
    s.push_back(allow("Read", {"s3:GetObject"}, readable));
    s.push_back(allow("Checkpoints",
                      {"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload",
                       "s3:ListMultipartUploadParts"},
                      {objects(r, at.checkpoint)}));
    if (writes_output(target)) {
        s.push_back(
            allow("Output", {"s3:PutObject", "s3:AbortMultipartUpload"}, {objects(r, at.output)}));
    }
    if (is_sagemaker(target)) {
        add_image_pull(s, r);
        add_sagemaker_run(s, r);
    }
    // The nodes find each other by the run's tag; EC2 knows no narrower resource for it.
    if (target == Target::ec2_fleet)
        s.push_back(allow("FindTheOtherNodes", {"ec2:DescribeInstances"}, {"*"}));
    if (target == Target::ec2_fleet || target == Target::pcs) s.push_back(session());
    return policy(std::move(s));
}

Node read_only_policy(const Recipe& r, Target target, const Addresses& at) {
    std::vector<Node> s;
    s.push_back(list_bucket(r, "ListCheckpoints", at.checkpoint));
    Words readable = {objects(r, at.checkpoint)};
    if (writes_output(target)) {
        s.push_back(list_bucket(r, "ListOutput", at.output));
        readable.push_back(objects(r, at.output));
    }
    s.push_back(allow("Read", {"s3:GetObject"}, readable));
    if (is_sagemaker(target)) {
        s.push_back(allow("Jobs", {"sagemaker:DescribeTrainingJob"},
                          {arn(r, "sagemaker", kAccount.value, "training-job/*")}));
        s.push_back(allow("ListJobs", {"sagemaker:ListTrainingJobs"}, {"*"}));
        s.push_back(
            allow("Logs", {"logs:DescribeLogStreams", "logs:GetLogEvents", "logs:FilterLogEvents"},
                  {arn(r, "logs", kAccount.value, "log-group:/aws/sagemaker/TrainingJobs"),
                   arn(r, "logs", kAccount.value, "log-group:/aws/sagemaker/TrainingJobs:*")}));
    } else if (!is_kubernetes(target)) {
        s.push_back(allow("FleetInstances", {"ec2:DescribeFleetInstances"},
                          {arn(r, "ec2", kAccount.value, "fleet/*")}));
        s.push_back(allow(
            "Machines",
            {"ec2:DescribeCapacityReservations", "ec2:DescribeFleets", "ec2:DescribeInstanceStatus",
             "ec2:DescribeInstances", "ec2:DescribeSpotPriceHistory"},
            {"*"}));
    }
    s.push_back(allow("Metrics", {"cloudwatch:GetMetricData", "cloudwatch:ListMetrics"}, {"*"}));
    if (r.data_place == DataPlace::lustre)
        s.push_back(allow("FileSystems", {"fsx:DescribeFileSystems"}, {"*"}));
    return policy(std::move(s));
}

void add_iam(Directory& out, const Recipe& r, Target target, const Addresses& at,
             std::string_view job) {
    out.add({"iam/policy-run.json", write_json(run_policy(r, target, at))});
    out.add({"iam/policy-read-only.json", write_json(read_only_policy(r, target, at))});
    const std::string_view service = is_sagemaker(target)    ? "sagemaker.amazonaws.com"
                                     : is_kubernetes(target) ? kPods
                                                             : "ec2.amazonaws.com";
    Node role = Node::map();
    role.set("RoleName", run_role_name(job));
    role.set("AssumeRolePolicyDocument", write_json(trust(service)));
    role.set("Tags", aws_tags(r, job));
    out.add({"iam/iam.create-role.json", write_json(role)});
}

void add_instance_profile(Directory& out, const Recipe& r, std::string_view job) {
    Node profile = Node::map();
    profile.set("InstanceProfileName", run_role_name(job));
    profile.set("Tags", aws_tags(r, job));
    out.add({"iam/iam.create-instance-profile.json", write_json(profile)});
    Node member = Node::map();
    member.set("InstanceProfileName", run_role_name(job));
    member.set("RoleName", run_role_name(job));
    out.add({"iam/iam.add-role-to-instance-profile.json", write_json(member)});
}

}  // namespace trainyard::render
