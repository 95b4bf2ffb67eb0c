#pragma once
// What only the user knows: ids of the account. Each is well-formed, so that every validator takes
// the file, and visibly no real id. The README of a directory lists those that its files use.

#include <array>
#include <string_view>

namespace trainyard::render {

struct Placeholder {
    std::string_view value;
    std::string_view meaning;
    std::string_view how;  ///< the command that shows the real one
};

inline constexpr Placeholder kPublicSubnet = {"subnet-0000000000000000a",
                                              "subnet of the head node, reachable by you",
                                              "aws ec2 describe-subnets"};
inline constexpr Placeholder kPrivateSubnet = {
    "subnet-0000000000000000b",
    "private subnet of the nodes, in the availability zone that has the capacity",
    "aws ec2 describe-subnets --filters Name=availability-zone,Values=ZONE"};
inline constexpr Placeholder kKeyName = {
    "fill-in-key-name", "your EC2 key pair (ED25519 on Ubuntu)", "aws ec2 describe-key-pairs"};
inline constexpr Placeholder kReservation = {
    "cr-0000000000000000c", "the Capacity Block or Capacity Reservation that you bought",
    "aws ec2 describe-capacity-reservations"};
inline constexpr Placeholder kSecurityGroup = {
    "sg-0000000000000000d", "security group that allows all traffic from and to itself",
    "aws ec2 describe-security-groups"};
inline constexpr Placeholder kCheckpointBucket = {
    "fill-in-checkpoint-bucket", "S3 bucket of the checkpoints (or render with --checkpoint)",
    "aws s3api list-buckets"};
inline constexpr Placeholder kDataBucket = {"fill-in-data-bucket", "S3 bucket of the training data",
                                            "aws s3api list-buckets"};
inline constexpr Placeholder kAccount = {"123456789012", "your AWS account id",
                                         "aws sts get-caller-identity"};
inline constexpr Placeholder kImageTag = {"fill-in-tag", "tag of your image in that repository",
                                          "aws ecr list-images"};
inline constexpr Placeholder kOwnImage = {"fill-in-image", "repository of your image",
                                          "aws ecr describe-repositories"};
inline constexpr Placeholder kModelConfig = {
    "fill-in/config.json", "the model's config.json, where the nodes see it", "ls"};
inline constexpr Placeholder kVpc = {"vpc-0000000000000000e", "VPC of the subnets",
                                     "aws ec2 describe-vpcs"};
inline constexpr Placeholder kRouteTable = {
    "rtb-0000000000000000e", "route table of the private subnet", "aws ec2 describe-route-tables"};
inline constexpr Placeholder kFileSystem = {"fs-0000000000000000f",
                                            "the FSx for Lustre file system that you made",
                                            "aws fsx describe-file-systems"};
inline constexpr Placeholder kHomeFileSystem = {"fs-0000000000000000e",
                                                "the OpenZFS file system that you made",
                                                "aws fsx describe-file-systems"};
inline constexpr Placeholder kMountName = {"fillinmn", "mount name of the file system",
                                           "aws fsx describe-file-systems"};
inline constexpr Placeholder kImage = {
    "ami-0000000000000000a", "an image with a driver for this type", "aws ec2 describe-images"};
inline constexpr Placeholder kOffering = {"cb-0000000000000000a",
                                          "the Capacity Block offering that you chose",
                                          "aws ec2 describe-capacity-block-offerings"};
inline constexpr Placeholder kTrainingPlan = {"training-plan/fill-in-training-plan",
                                              "the training plan that you bought",
                                              "aws sagemaker list-training-plans"};
inline constexpr Placeholder kPlanOffering = {"fill-in-plan-offering",
                                              "the training plan offering that you chose",
                                              "aws sagemaker search-training-plan-offerings"};

inline constexpr Placeholder kCluster = {"fill-in-cluster", "your EKS cluster",
                                         "aws eks list-clusters"};
inline constexpr Placeholder kNodeRole = {"KarpenterNodeRole-fill-in",
                                          "IAM role of Karpenter's nodes", "aws iam list-roles"};

inline constexpr Placeholder kLaunchTemplate = {"lt-0000000000000000b",
                                                "the launch template that you made",
                                                "aws ec2 describe-launch-templates"};
inline constexpr Placeholder kComputeNodeGroup = {"pcs_fillinnode",
                                                  "the group of compute nodes that you made",
                                                  "aws pcs list-compute-node-groups"};

inline constexpr Placeholder kHyperPodRole = {
    "SageMakerHyperPodRole-fill-in", "IAM role of HyperPod's instances", "aws iam list-roles"};
inline constexpr Placeholder kLifecycle = {"s3://sagemaker-fill-in-lifecycle",
                                           "S3 bucket of HyperPod's lifecycle scripts",
                                           "aws s3api list-buckets"};

inline constexpr std::array kPlaceholders = {
    &kLaunchTemplate, &kComputeNodeGroup, &kPublicSubnet,     &kPrivateSubnet, &kKeyName,
    &kReservation,    &kSecurityGroup,    &kCheckpointBucket, &kDataBucket,    &kAccount,
    &kImageTag,       &kOwnImage,         &kModelConfig,      &kVpc,           &kRouteTable,
    &kFileSystem,     &kMountName,        &kHomeFileSystem,   &kImage,         &kOffering,
    &kTrainingPlan,   &kPlanOffering,     &kCluster,          &kNodeRole,      &kHyperPodRole,
    &kLifecycle};

}  // namespace trainyard::render
