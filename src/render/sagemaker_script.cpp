#include <fmt/format.h>

#include "ledger.hpp"
#include "limits.hpp"
#include "placeholders.hpp"
#include "render_target.hpp"
#include "sagemaker_job.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {
namespace {

constexpr std::string_view kImports = R"(
import sys

from sagemaker.core.shapes import Channel, DataSource, FileSystemDataSource, RetryStrategy
from sagemaker.core.shapes import S3DataSource, Tag
from sagemaker.core.training.configs import CheckpointConfig, Compute, Networking, OutputDataConfig
from sagemaker.core.training.configs import SourceCode, StoppingCondition
from sagemaker.train import ModelTrainer

)";

std::string py(std::string_view s) { return python_string(s); }

std::string channel(const Recipe& r, const SageMakerJob& job) {
    if (r.data_place == DataPlace::lustre) {
        return fmt::format(
            "training = Channel(\n"
            "    channel_name=\"training\",\n"
            "    data_source=DataSource(file_system_data_source=FileSystemDataSource(\n"
            "        file_system_id={}, file_system_type=\"FSxLustre\",\n"
            "        directory_path={}, file_system_access_mode=\"ro\")))\n",
            py(kFileSystem.value), py("/" + std::string(kMountName.value) + "/data"));
    }
    return fmt::format(
        "# FastFile streams the data: File would copy all of it to every node "
        "first.\n"
        "training = Channel(\n"
        "    channel_name=\"training\",\n"
        "    input_mode=\"FastFile\",\n"
        "    data_source=DataSource(s3_data_source=S3DataSource(\n"
        "        s3_data_type=\"S3Prefix\",\n"
        "        s3_uri={},\n"
        "        s3_data_distribution_type=\"FullyReplicated\")))\n",
        py(folder(job.at.data)));
}

std::string compute(const Recipe& r, const SageMakerJob& job) {
    std::string s = fmt::format(
        "        instance_type={},\n        instance_count={},\n"
        "        volume_size_in_gb={},\n",
        py(job.instance_type), r.nodes, job.volume_gb);
    if (job.max_wait_s) s += "        enable_managed_spot_training=True,\n";
    if (job.warm_pool_s)
        s += fmt::format("        keep_alive_period_in_seconds={},\n", *job.warm_pool_s);
    if (job.training_plan_arn)
        s += fmt::format("        training_plan_arn={},\n", py(*job.training_plan_arn));
    return "    compute=Compute(\n" + s + "    ),\n";
}

std::string networking(const Recipe& r) {
    std::string s = "        enable_inter_container_traffic_encryption=False,\n";
    if (r.data_place == DataPlace::lustre) {
        s += fmt::format("        security_group_ids=[{}],\n        subnets=[{}],\n",
                         py(kSecurityGroup.value), py(kPrivateSubnet.value));
    }
    return "    networking=Networking(\n" + s + "    ),\n";
}

std::string stopping(const SageMakerJob& job) {
    std::string s = fmt::format("        max_runtime_in_seconds={},\n", job.max_runtime_s);
    if (job.max_wait_s) s += fmt::format("        max_wait_time_in_seconds={},\n", *job.max_wait_s);
    return "    # Without it the SDK stops the job after one hour.\n"
           "    stopping_condition=StoppingCondition(\n" +
           s + "    ),\n";
}

std::string environment(const SageMakerJob& job) {
    std::string s = "    environment={\n";
    for (const auto& [key, value] : job.environment)
        s += fmt::format("        {}: {},\n", py(key), py(value));
    return s + "    },\n";
}

}  // namespace

std::string sdk_script(const Recipe& r, const SageMakerJob& job) {
    std::string s = "#!/usr/bin/env python3\n" + head_comment("#", r, Target::sagemaker);
    s += fmt::format(
        "\"\"\"Starts the training job with the SageMaker Python SDK {} (pip install "
        "sagemaker-train=={}).\n\nusage: launch.py [--no-wait]\n\"\"\"\n",
        version("sagemaker.sdk").value, version("sagemaker.train").value);
    s += kImports;
    s += channel(r, job);
    s += fmt::format(
        "\ntrainer = ModelTrainer(\n    base_job_name={},\n    role={},\n"
        "    training_image={},\n",
        py(job.name), py(job.role_arn), py(job.image));
    s +=
        "    # run.sh starts torchrun itself: distributed=Torchrun() would force NCCL_PROTO=simple "
        "and pass\n"
        "    # arguments as hyperparameters, which cannot be flags without a value.\n"
        "    source_code=SourceCode(source_dir=\"code\", command=\"bash run.sh\"),\n";
    s += compute(r, job) + networking(r) + stopping(job);
    s += fmt::format(
        "    output_data_config=OutputDataConfig(\n        s3_output_path={}, "
        "compression_type=\"NONE\"),\n",
        py(folder(job.at.output)));
    s +=
        fmt::format("    checkpoint_config=CheckpointConfig(\n        s3_uri={}, local_path={}),\n",
                    py(folder(job.at.checkpoint)), py(kSageMakerCheckpoints));
    s += environment(job);
    s += fmt::format(
        "    tags=[\n        Tag(key=\"trainyard-run\", value={}),\n"
        "        Tag(key=\"trainyard-plan\", value={}),\n    ],\n)",
        py(job.name), py(r.plan_hash));
    s += fmt::format(".with_retry_strategy(RetryStrategy(maximum_retry_attempts={:.0f}))\n\n",
                     limit("sagemaker.retries"));
    s += "trainer.train(input_data_config=[training], wait=\"--no-wait\" not in sys.argv[1:])\n";
    return s;
}

std::string container_script(const Recipe& r, const Launch& launch) {
    std::string s = "#!/bin/bash\n" + head_comment("#", r, Target::sagemaker);
    s += "# SageMaker runs this in the container of every instance.\n"
         "set -euo pipefail\n"
         "cd \"$(dirname \"$0\")\"\n\n"
         "# How many instances there are, which one this is, and where the first one is.\n"
         "read -r nodes rank first interface < <(python3 - <<'PYTHON'\n"
         "import json\n\n"
         "with open(\"/opt/ml/input/config/resourceconfig.json\", encoding=\"utf-8\") as file:\n"
         "    config = json.load(file)\n"
         "hosts = sorted(config[\"hosts\"])\n"
         "print(len(hosts), hosts.index(config[\"current_host\"]), hosts[0],\n"
         "      config[\"network_interface_name\"])\n"
         "PYTHON\n"
         ")\n"
         "export NCCL_SOCKET_IFNAME=\"$interface\"\n"
         "if [ -f requirements.txt ]; then python3 -m pip install -q -r requirements.txt; fi\n\n";
    s += fmt::format(
        "exec torchrun --nnodes \"$nodes\" --nproc-per-node {} --node-rank \"$rank\" \\\n"
        "  --master-addr \"$first\" --master-port 29500 \\\n"
        "  {}\n",
        launch.ranks_per_node, shell_words(launch.program));
    return s;
}

}  // namespace trainyard::render
