// NCCL_SOCKET_IFNAME that leaves no interface, or the wrong one.

#include <fmt/format.h>

#include <algorithm>

#include "found.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint::nccl_ifname {

namespace {

bool has_start(const std::vector<std::string_view>& names, std::string_view name) {
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view n) { return !n.empty() && name.starts_with(trim(n)); });
}

void judge(const EnvVar& v, bool is_pod, Found& found) {
    if (v.name != "NCCL_SOCKET_IFNAME" || is_open(v.value.text)) return;
    const std::string_view text = v.value.text;
    const Said place{v.name, v.value.where};
    if (text.starts_with('^')) {
        const auto names = split(text.substr(1), ',');
        if (has_start(names, "eth0")) {
            Finding& f = found.at(place, fmt::format("{}={} excludes eth0{}", v.name, text,
                                                     is_pod ? ", the only interface of a pod"
                                                            : " on hosts that call it so"));
            f.fix = "drop eth from the list";
            if (!is_pod) f.severity = Severity::warning;
        } else if (!has_start(names, "lo")) {
            Finding& f = found.at(place, fmt::format("{}={} does not exclude lo: the loopback can "
                                                     "be chosen",
                                                     v.name, text));
            f.severity = Severity::warning;
            f.fix = "write ^lo,docker";
        }
        return;
    }
    const bool is_exact = text.starts_with('=');
    for (const std::string_view name : split(is_exact ? text.substr(1) : text, ',')) {
        if (name == "lo") {
            found.at(place, fmt::format("{}={} uses the loopback", v.name, text));
        } else if (name.starts_with("ib")) {
            found.at(place, fmt::format("{}={}: AWS has no InfiniBand interfaces", v.name, text));
        } else if (is_pod && name.starts_with("en")) {
            found.at(place, fmt::format("{}={}: a pod has eth0 only", v.name, text)).severity =
                Severity::warning;
        }
    }
}

/// Gloo's own variable: on one node the loopback is right.
void judge_gloo(const EnvVar& v, bool is_multi_node, Found& found) {
    if (v.name != "GLOO_SOCKET_IFNAME" || v.value.text != "lo" || !is_multi_node) return;
    found.at(Said{v.name, v.value.where},
             "GLOO_SOCKET_IFNAME=lo on several nodes: each meets itself only");
}

void find(const Case& c, Found& found) {
    for (const Job& job : c.jobs) {
        const bool is_pod = job.form == Job::Form::pod && !is_true(get(job.spec, "hostNetwork"));
        for (const EnvVar& v : job.env) {
            judge(v, is_pod, found);
            judge_gloo(v, job.is_multi_node(), found);
        }
    }
    for (const Training& t : c.trainings) {
        for (const EnvVar& v : t.env) judge(v, false, found);
    }
}

}  // namespace

Rule rule() {
    return {.id = "NCCL-IFNAME",
            .severity = Severity::error,
            .title =
                "NCCL_SOCKET_IFNAME excludes the interface that is needed, or allows "
                "the loopback",
            .applies = "every environment: pods, SageMaker, scripts, Dockerfiles",
            .why =
                "NCCL finds no interface to bootstrap over and the job dies at start, "
                "or ranks connect to 127.0.0.1 of the other nodes and hang",
            .fix = "NCCL_SOCKET_IFNAME=^lo,docker (interfaces that begin so are excluded)",
            .source =
                "awslabs/awsome-distributed-ai#519; horovod/horovod#700; NVIDIA NCCL "
                "documentation",
            .find = find};
}

}  // namespace trainyard::lint::nccl_ifname
