// A rendezvous where each node waits for itself.

#include <fmt/format.h>

#include "found.hpp"
#include "launch.hpp"

namespace trainyard::lint::launch_rdzv {

namespace {

std::string host_of(std::string_view endpoint) {
    if (endpoint.starts_with("[")) return std::string(endpoint.substr(0, endpoint.find(']') + 1));
    return std::string(endpoint.substr(0, endpoint.find(':')));
}

bool is_own(std::string_view host) {
    return is_one_of(host, {"localhost", "127.0.0.1", "0.0.0.0", "[::1]", "localhost.localdomain"});
}

/// $(hostname) in a text that each node expands for itself.
bool is_every_host(const Launch& l, std::string_view endpoint) {
    if (!l.is_inner || l.srun.empty() || endpoint.find("$(hostname") == std::string_view::npos) {
        return false;
    }
    const std::string_view raw = raw_at(*l.document, l.outer.where);
    return raw.starts_with('\'') ||
           raw.substr(0, l.outer.text.size() + 64).find("\\$(hostname") != std::string_view::npos;
}

void judge(const Launch& l, Found& found) {
    if (!l.is_multi_node() || l.launcher == "mpirun" || l.launcher == "mpiexec") return;
    if (const Said alone = option(l.words, "standalone"); alone && l.launcher == "torchrun") {
        found.at(Said{"--standalone", alone.where},
                 "--standalone on several nodes: each node trains on its own");
        return;
    }
    bool has_any = false;
    for (const std::string_view name : {"rdzv-endpoint", "master-addr", "main-process-ip"}) {
        const Said endpoint = option(l.words, name);
        if (!endpoint) continue;
        has_any = true;
        const std::string host = host_of(resolved(*l.document, endpoint.text));
        if (is_own(host)) {
            found.at(endpoint,
                     fmt::format("the nodes are to meet at {}, which is each node itself", host));
        } else if (is_every_host(l, endpoint.text)) {
            found.at(endpoint, "$(hostname) is expanded on every node: each one names itself");
        }
    }
    const bool is_plain = l.launcher == "torchrun" || l.launcher == "python";
    if (has_any || l.is_open || !is_plain || l.srun.empty()) return;
    if (find_env(l.job->env, "PET_RDZV_ENDPOINT") != nullptr ||
        find_env(l.job->env, "PET_MASTER_ADDR") != nullptr) {
        return;
    }
    found.at(l.at,
             "several nodes without --rdzv-endpoint or --master-addr: the default is localhost");
}

/// MASTER_ADDR of a job on several nodes.
void judge_env(const Job& job, Found& found) {
    const EnvVar* v = find_env(job.env, "MASTER_ADDR");
    if (v == nullptr || !job.is_multi_node() || job.document == nullptr) return;
    if (!is_own(resolved(*job.document, v->value.text))) return;
    found.at(Said{v->name, v->value.where},
             fmt::format("MASTER_ADDR={} on {} nodes: each node waits for itself", v->value.text,
                         job.nodes->value));
}

void find(const Case& c, Found& found) {
    for (const Launch& l : launches(c)) judge(l, found);
    for (const Job& job : c.jobs) judge_env(job, found);
}

}  // namespace

Rule rule() {
    return {.id = "LAUNCH-RDZV",
            .severity = Severity::error,
            .title = "Several nodes meet at localhost",
            .applies = "torchrun, accelerate and deepspeed lines, MASTER_ADDR",
            .why =
                "each node waits for itself: init_process_group hangs until its time-out while all "
                "nodes are paid, or every node trains a model of its own",
            .fix =
                "HEAD=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n1) and "
                "--rdzv-endpoint=$HEAD:29500",
            .source = "pytorch/pytorch#76069; PyTorch documentation, torchrun",
            .find = find};
}

}  // namespace trainyard::lint::launch_rdzv
