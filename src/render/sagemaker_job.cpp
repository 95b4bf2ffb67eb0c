#include "sagemaker_job.hpp"

#include "limits.hpp"
#include "placeholders.hpp"

namespace trainyard::render {
namespace {

using doc::Node;

Node list_of(std::initializer_list<std::string_view> words) {
    Node l = Node::list();
    for (std::string_view w : words) l.append(Node::string(std::string(w)));
    return l;
}

Node map_of(std::string key, Node value) {
    Node m = Node::map();
    m.set(std::move(key), std::move(value));
    return m;
}

Node s3_channel(const char* name, const S3Address& at, const char* mode) {
    Node source = Node::map();
    source.set("S3DataType", "S3Prefix");
    source.set("S3Uri", folder(at));
    source.set("S3DataDistributionType", "FullyReplicated");
    Node channel = Node::map();
    channel.set("ChannelName", name);
    channel.set("DataSource", map_of("S3DataSource", std::move(source)));
    channel.set("InputMode", mode);
    return channel;
}

Node lustre_channel(const char* name) {
    Node source = Node::map();
    source.set("FileSystemId", kFileSystem.value);
    source.set("FileSystemType", "FSxLustre");
    source.set("DirectoryPath", "/" + std::string(kMountName.value) + "/data");
    source.set("FileSystemAccessMode", "ro");
    Node channel = Node::map();
    channel.set("ChannelName", name);
    channel.set("DataSource", map_of("FileSystemDataSource", std::move(source)));
    return channel;
}

Node resources(const Recipe& r, const SageMakerJob& job) {
    Node n = Node::map();
    n.set("InstanceType", job.instance_type);
    n.set("InstanceCount", r.nodes);
    n.set("VolumeSizeInGB", job.volume_gb);
    if (job.warm_pool_s) n.set("KeepAlivePeriodInSeconds", *job.warm_pool_s);
    if (job.training_plan_arn) n.set("TrainingPlanArn", *job.training_plan_arn);
    return n;
}

}  // namespace

std::string part_name(const SageMakerJob& job, int part) {
    return job.parts == 1 ? job.name : job.name + "-part-" + std::to_string(part);
}

Node training_job_request(const Recipe& r, const SageMakerJob& job, int part) {
    Node algorithm = Node::map();
    algorithm.set("TrainingImage", job.image);
    algorithm.set("TrainingInputMode", "File");
    algorithm.set("ContainerEntrypoint", list_of({"/bin/bash"}));
    algorithm.set("ContainerArguments", list_of({std::string(kSageMakerCode) + "/run.sh"}));

    Node channels = Node::list();
    // FastFile streams: a download of the whole set to every node would come before step 1.
    channels.append(r.data_place == DataPlace::lustre
                        ? lustre_channel("training")
                        : s3_channel("training", job.at.data, "FastFile"));
    channels.append(s3_channel("code", job.at.code, "File"));

    Node output = Node::map();
    output.set("S3OutputPath", folder(job.at.output));
    output.set("CompressionType", "NONE");
    Node checkpoint = Node::map();
    checkpoint.set("S3Uri", folder(job.at.checkpoint));
    checkpoint.set("LocalPath", kSageMakerCheckpoints);
    Node stopping = Node::map();
    stopping.set("MaxRuntimeInSeconds", job.max_runtime_s);
    if (job.max_wait_s) stopping.set("MaxWaitTimeInSeconds", *job.max_wait_s);
    Node environment = Node::map();
    for (const auto& [key, value] : job.environment) environment.set(key, std::string_view(value));

    Node body = Node::map();
    body.set("TrainingJobName", part_name(job, part));
    body.set("RoleArn", job.role_arn);
    body.set("AlgorithmSpecification", std::move(algorithm));
    body.set("ResourceConfig", resources(r, job));
    body.set("InputDataConfig", std::move(channels));
    body.set("OutputDataConfig", std::move(output));
    body.set("CheckpointConfig", std::move(checkpoint));
    body.set("StoppingCondition", std::move(stopping));
    body.set("EnableManagedSpotTraining", job.max_wait_s.has_value());
    body.set("EnableInterContainerTrafficEncryption", false);
    if (r.data_place == DataPlace::lustre) {
        Node vpc = Node::map();
        vpc.set("SecurityGroupIds", list_of({kSecurityGroup.value}));
        vpc.set("Subnets", list_of({kPrivateSubnet.value}));
        body.set("VpcConfig", std::move(vpc));
    }
    body.set("RetryStrategy",
             map_of("MaximumRetryAttempts",
                    Node::integer(static_cast<std::int64_t>(limit("sagemaker.retries")))));
    body.set("Environment", std::move(environment));
    body.set("Tags", aws_tags(r, job.name));
    return body;
}

}  // namespace trainyard::render
