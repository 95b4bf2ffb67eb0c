// SageMaker training jobs: CreateTrainingJob and the same on the Python SDK.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "iam.hpp"
#include "launch.hpp"
#include "ledger.hpp"
#include "limits.hpp"
#include "placeholders.hpp"
#include "readme.hpp"
#include "render_target.hpp"
#include "sagemaker_job.hpp"
#include "trainyard/render/names.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {
namespace {

using doc::Node;

/// Room above the slow end of the plan's range before the service kills the run.
constexpr double kRuntimeMargin = 1.25;
/// More parts than this are no longer a training job but a cluster.
constexpr int kMostParts = 6;

constexpr const char* kSearchPlan = "sagemaker.search-training-plan-offerings.json";
constexpr const char* kBuyPlan = "sagemaker.create-training-plan.json";

constexpr NameRule kJobName = {
    "a SageMaker training job name", 63 - 7, true,  // room for "-part-6"
    "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html"};

std::int64_t whole_hours(Seconds t) {
    return static_cast<std::int64_t>(std::ceil(t / kHour)) * 3600;
}

std::optional<Error> refuse_purchase(const Recipe& r, const Options& options) {
    switch (r.purchase) {
        case Purchase::on_demand:
        case Purchase::spot:
            break;
        case Purchase::capacity_block:
            if (options.training_plan && is_block_length(r.block_days.value_or(0)))
                return std::nullopt;
            if (options.training_plan) {
                return refuse(
                    r, fmt::format("no Capacity Block has {} days", r.block_days.value_or(0)),
                    "they are sold by the day up to 14 days and by the week up to 182",
                    "plan again: block_days in the plan was changed by hand");
            }
            return refuse(
                r, "SageMaker training jobs cannot use a Capacity Block",
                "EC2 Capacity Blocks belong to EC2; SageMaker sells the same capacity as a "
                "training plan",
                "--target ec2-fleet or parallelcluster, or --training-plan to buy the "
                "capacity from SageMaker instead");
        case Purchase::mixed:
            return refuse(r, "a SageMaker training job cannot mix spot and guaranteed instances",
                          "EnableManagedSpotTraining holds for all instances of the job",
                          "--target ec2-fleet or parallelcluster");
        case Purchase::commitment:
            return refuse(
                r, "an EC2 commitment does not pay for SageMaker training jobs",
                "Compute Savings Plans and Reserved Instances cover EC2; SageMaker has "
                "Savings Plans of its own",
                "--target ec2-fleet or parallelcluster, or plan with --purchase on-demand");
    }
    if (options.training_plan) {
        return refuse(r,
                      "--training-plan does not go with a plan that buys " +
                          std::string(to_string(r.purchase)),
                      "a training plan takes the place of a Capacity Block",
                      "leave out --training-plan");
    }
    return std::nullopt;
}

std::optional<Error> refuse_machine(const Recipe& r, const Options& options) {
    const SageMakerType type = sagemaker_type(r.instance.type);
    if (!type.training_job) {
        return refuse(r, "SageMaker runs no training jobs on " + r.instance.type,
                      "the type is not among ml.* instance types of CreateTrainingJob "
                      "(data/render/sagemaker_instances.csv)",
                      "--target ec2-fleet or parallelcluster");
    }
    if (options.training_plan && !type.training_plan) {
        return refuse(r, "SageMaker sells no training plan for " + r.instance.type,
                      "the type is not among those of SearchTrainingPlanOfferings "
                      "(data/render/sagemaker_instances.csv)",
                      "--target ec2-fleet");
    }
    if (options.openzfs) {
        return refuse(r, "a SageMaker training job cannot mount OpenZFS",
                      "its channels are S3, EFS and FSx for Lustre", "--target ec2-fleet");
    }
    if (r.copies > 1) {
        return refuse(
            r, fmt::format("{} independent runs are not one SageMaker training job", r.copies),
            "a training job holds its instances for one run; an array of jobs with retry "
            "belongs to a scheduler",
            "--target parallelcluster");
    }
    return std::nullopt;
}

/// How long the service lets a part run, and how many parts there are.
std::optional<Error> set_times(const Recipe& r, SageMakerJob& job) {
    const Seconds most = limit("sagemaker.max_runtime") * kSecond;
    const Seconds wanted = std::max(kRuntimeMargin * r.wall.high, 1.0 * kHour);
    const double parts = std::ceil(wanted / most);
    if (parts > 1 && r.resume == workload::Resume::none) {
        return refuse(r, "the run may take longer than a SageMaker training job may last",
                      "a job ends after 28 days over all attempts, and this code cannot resume",
                      "--target parallelcluster, or plan with --resume checkpoint");
    }
    if (parts > kMostParts) {
        return refuse(r,
                      fmt::format("the run would need {} SageMaker training jobs in a row", parts),
                      "a job ends after 28 days over all attempts", "--target parallelcluster");
    }
    job.parts = static_cast<int>(parts);
    job.max_runtime_s = whole_hours(std::min(wanted, most));
    if (r.purchase == Purchase::spot) {
        // Waiting for capacity counts too: up to the deadline, else as long again.
        const Seconds wait = std::max(r.deadline.value_or(2 * wanted), wanted);
        job.max_wait_s = std::max(whole_hours(std::min(wait, most)), job.max_runtime_s);
    } else if (job.parts > 1 && r.purchase == Purchase::on_demand) {
        job.warm_pool_s = static_cast<std::int64_t>(limit("sagemaker.warm_pool"));
    }
    return std::nullopt;
}

/// Types with local NVMe get no volume, whatever is asked: then the SDK's default stands here.
std::int64_t volume_gb(const Recipe& r) {
    const double least = limit("sagemaker.default_volume");
    if (r.instance.local_nvme) return static_cast<std::int64_t>(least);
    const double wanted = limit("ec2.root_volume") + 2 * (r.checkpoint / kGB);
    return static_cast<std::int64_t>(std::ceil(std::min(wanted, limit("ebs.volume"))));
}

Result<SageMakerJob> describe(const Recipe& r, const Options& options, Framework framework) {
    SageMakerJob job;
    auto name = job_name(kJobName, r, options);
    if (!name) return name.error();
    job.name = *std::move(name);
    auto at = run_addresses(options, job.name);
    if (!at) return at.error();
    job.at = *std::move(at);
    job.instance_type = "ml." + r.instance.type;
    job.image = image("container", r.instance, r.is_trainium(), r.region).value;
    if (job.image.empty())
        job.image = fmt::format("{}.dkr.ecr.{}.amazonaws.com/fill-in-image:latest", kAccount.value,
                                r.region);
    job.role_arn = fmt::format("arn:{}:iam::{}:role/{}", partition(r.region), kAccount.value,
                               run_role_name(job.name));
    if (auto late = set_times(r, job)) return *late;
    job.volume_gb = volume_gb(r);
    if (r.purchase == Purchase::capacity_block) {
        job.training_plan_arn = fmt::format("arn:{}:sagemaker:{}:{}:{}", partition(r.region),
                                            r.region, kAccount.value, kTrainingPlan.value);
    }
    for (const EnvVariable& v : environment(r, framework))
        job.environment.emplace_back(v.name, v.value);
    job.environment.emplace_back("TRAINYARD_PLAN_SHA256", r.plan_hash);
    return job;
}

void add_training_plan(Directory& out, const Recipe& r, const SageMakerJob& job) {
    Node resources = Node::list();
    resources.append(Node::string("training-job"));
    Node search = Node::map();
    search.set("InstanceType", job.instance_type);
    search.set("InstanceCount", r.nodes);
    search.set("DurationHours", r.block_days.value_or(1) * 24);
    search.set("TargetResources", std::move(resources));
    out.add({kSearchPlan, write_json(search)});
    Node buy = Node::map();
    buy.set("TrainingPlanName", job.name);
    buy.set("TrainingPlanOfferingId", kPlanOffering.value);
    buy.set("Tags", aws_tags(r, job.name));
    out.add({kBuyPlan, write_json(buy)});
}

std::string request_file(const SageMakerJob& job, int part) {
    return "sagemaker.create-training-job" +
           (job.parts == 1 ? "" : ".part-" + std::to_string(part)) + ".json";
}

std::vector<std::string> notes(const Recipe& r, const SageMakerJob& job, const Launch& launch) {
    std::vector<std::string> n = {
        "`launch.py` and `" + request_file(job, 1) +
            "` ask for the same job; the first uploads `code/` itself. A job name is used once: "
            "change it for the next run, but keep the checkpoint prefix only to resume this one.",
        "SageMaker has its own price for `" + job.instance_type +
            "`, usually above EC2's; the figure above is EC2's."};
    const double quota = limit("sagemaker.default_runtime_quota");
    if (static_cast<double>(job.max_runtime_s) > quota) {
        n.push_back(
            fmt::format("`MaxRuntimeInSeconds` {} is above the default quota of {:.0f} "
                        "(\"Longest run time for a training job\"): ask for an increase.",
                        job.max_runtime_s, quota));
    }
    if (job.parts > 1) {
        n.push_back(
            fmt::format("A training job ends after 28 days over all attempts, and this run "
                        "may take longer: {} jobs, each resuming from the checkpoint of the "
                        "one before. Start a part when the part before was stopped.",
                        job.parts));
    }
    if (job.warm_pool_s)
        n.push_back(
            "The warm pool keeps the instances for the next part; its idle time is billed.");
    if (job.max_wait_s) {
        n.push_back(
            "Managed spot: the job ends when `MaxWaitTimeInSeconds` is over, waiting for "
            "capacity included. After an interruption SageMaker starts the job again; the "
            "program must load the newest complete checkpoint of `/opt/ml/checkpoints`.");
    }
    if (r.instance.local_nvme)
        n.push_back("`VolumeSizeInGB` does not count on this type: it has local NVMe.");
    n.push_back(
        "SageMaker copies `/opt/ml/checkpoints` to S3 file by file, without order: a "
        "checkpoint counts when its last file is there.");
    for (std::string& note : storage_notes(r, Target::sagemaker)) n.push_back(std::move(note));
    n.insert(n.end(), launch.expects.begin(), launch.expects.end());
    return n;
}

std::vector<std::string> start_commands(const Directory& out, const Recipe& r,
                                        const SageMakerJob& job) {
    std::vector<std::string> c = storage_commands(out, r, job.name);
    if (job.training_plan_arn) {
        for (const char* name : {kSearchPlan, kBuyPlan})
            c.push_back(send_request(r, *out.find(name)));
    }
    c.push_back("# put your program into code/, then");
    c.push_back("pip install sagemaker-train==" + version("sagemaker.train").value);
    c.push_back("python3 launch.py");
    c.push_back("# or without the SDK");
    c.push_back("aws s3 cp --recursive code/ " + shell_word(folder(job.at.code)));
    for (int part = 1; part <= job.parts; ++part) {
        if (part > 1) c.push_back(fmt::format("# when part {} was stopped:", part - 1));
        c.push_back(send_request(r, *out.find(request_file(job, part))));
    }
    return c;
}

std::vector<std::string> tear_down_commands(const Directory& out, const Recipe& r,
                                            const SageMakerJob& job) {
    std::vector<std::string> c;
    for (int part = 1; part <= job.parts; ++part) {
        c.push_back("aws sagemaker stop-training-job --region " + shell_word(r.region) +
                    " --training-job-name " + shell_word(part_name(job, part)));
    }
    const auto rest = storage_tear_down(out, r, job.at, job.name, Target::sagemaker);
    c.insert(c.end(), rest.begin(), rest.end());
    return c;
}

}  // namespace

Result<Directory> render_sagemaker(const Recipe& r, const Options& options) {
    if (auto no = refuse_purchase(r, options)) return *no;
    if (auto no = refuse_machine(r, options)) return *no;
    const Framework framework = options.framework.value_or(default_framework(r));
    auto job = describe(r, options, framework);
    if (!job) return job.error();
    auto launch = training_command(
        r, framework,
        {.data = kSageMakerData, .checkpoint = kSageMakerCheckpoints, .config = kSageMakerCode});
    if (!launch) return launch.error();

    Directory out;
    for (int part = 1; part <= job->parts; ++part)
        out.add({request_file(*job, part), write_json(training_job_request(r, *job, part))});
    if (job->training_plan_arn) add_training_plan(out, r, *job);
    out.add({"launch.py", sdk_script(r, *job), true});
    out.add({"code/run.sh", container_script(r, *launch), true});
    for (File& file : launch->files) {
        file.path = "code/" + file.path;
        out.add(std::move(file));
    }
    add_storage(out, r, job->at, job->name, {.in_vpc = r.data_place == DataPlace::lustre});
    add_iam(out, r, Target::sagemaker, job->at, job->name);
    ReadmeParts readme;
    readme.target = Target::sagemaker;
    readme.tool = "SageMaker training job, Python SDK " + version("sagemaker.sdk").value;
    readme.start = start_commands(out, r, *job);
    readme.tear_down = tear_down_commands(out, r, *job);
    readme.notes = notes(r, *job, *launch);
    add_readme(out, r, readme);
    return out;
}

}  // namespace trainyard::render
