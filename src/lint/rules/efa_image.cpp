// An image that is to use EFA but does not contain its libraries.

#include <fmt/format.h>

#include "found.hpp"

namespace trainyard::lint::efa_image {

namespace {

/// Public images of which we know that they hold neither.
bool is_bare(std::string_view image) {
    for (const std::string_view start :
         {"pytorch/pytorch", "nvidia/cuda", "nvcr.io/nvidia/cuda", "ubuntu", "debian",
          "python:", "tensorflow/tensorflow", "huggingface/", "public.ecr.aws/docker/library/"}) {
        if (image.starts_with(start)) return true;
    }
    return false;
}

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        if (job.form != Job::Form::image || !is_bare(job.image.text)) continue;
        const EnvVar* asks = find_env(job.env, "FI_PROVIDER");
        if (asks == nullptr || !asks->value.is("efa")) continue;
        const std::string_view text = job.document->text;
        if (contains(text, "aws-efa-installer") || contains(text, "efa_installer") ||
            contains(text, "ofi-nccl")) {
            continue;
        }
        found.at(
            Said{"FI_PROVIDER=efa", asks->value.where},
            fmt::format("the image asks for EFA, but neither {} nor a step of this file brings "
                        "libfabric and aws-ofi-nccl",
                        job.image.text));
    }
}

}  // namespace

Rule rule() {
    return {.id = "EFA-IMAGE",
            .severity = Severity::error,
            .title = "FI_PROVIDER=efa in an image without libfabric and aws-ofi-nccl",
            .applies = "Dockerfiles",
            .why =
                "NCCL finds no network plugin and talks over TCP sockets, at a small "
                "fraction of the fabric's speed",
            .fix =
                "install the EFA installer (user space, it brings aws-ofi-nccl) in the "
                "image, or start from an AWS Deep Learning Container",
            .source = "NVIDIA/nccl#229; awslabs/awsome-distributed-ai nccl-tests Dockerfile",
            .find = find};
}

}  // namespace trainyard::lint::efa_image
