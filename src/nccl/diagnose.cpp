#include "trainyard/nccl/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "trainyard/base/text.hpp"

namespace trainyard::nccl {

using catalog::Yes;

namespace {

constexpr std::string_view kPluginSource = "https://github.com/aws/aws-ofi-nccl";
constexpr std::string_view kEfaGuide =
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start-nccl.html";

/// Trouble that NCCL itself reports, and what it usually comes from.
struct Known {
    std::string_view mark;  ///< lower case
    std::string_view id, what, why, fix;
};
constexpr std::array kKnown = {
    Known{"mismatched nccl version", "NCCL-VERSIONS", "ranks run different versions of NCCL",
          "the job stops, or hangs: versions do not talk to each other",
          "use one image on all nodes, and no second libnccl on LD_LIBRARY_PATH"},
    Known{"message truncated", "NCCL-VERSIONS",
          "two ranks disagree on the size of a message of the start-up",
          "usually two versions of NCCL, or two jobs that share one port",
          "use one image on all nodes; give each job its own MASTER_PORT"},
    Known{"no space left on device", "NCCL-SHM", "no room in shared memory",
          "channels inside a node need /dev/shm; a container has 64 MB by default",
          "docker run --shm-size=32g; Kubernetes: an emptyDir of medium Memory on /dev/shm"},
    Known{"/dev/shm", "NCCL-SHM", "shared memory could not be used",
          "channels inside a node need /dev/shm; a container has 64 MB by default",
          "docker run --shm-size=32g; Kubernetes: an emptyDir of medium Memory on /dev/shm"},
    Known{"cannot allocate memory", "NCCL-MEMLOCK", "memory could not be locked or registered",
          "EFA registers its buffers: the limit on locked memory must be off, and huge pages free",
          "docker run --ulimit memlock=-1; limits.conf: * hard memlock unlimited; "
          "FI_EFA_USE_HUGE_PAGE=0 where data loaders fork"},
    Known{"out of memory", "NCCL-MEMORY", "the device had no memory left for NCCL's buffers",
          "NCCL takes 1 to 2 GB a communicator beside the model",
          "a smaller micro-batch, or fewer process groups"},
    Known{"connection refused", "NCCL-CONNECT", "a rank could not reach another one",
          "the port is closed by a security group, or that process has died before",
          "allow all traffic from the group to itself, both ways; look for the first rank that "
          "stopped"},
    Known{"connection timed out", "NCCL-CONNECT", "a rank could not reach another one",
          "the port is closed by a security group or a route is missing",
          "allow all traffic from the group to itself, both ways; one subnet for all nodes"},
    Known{"no route to host", "NCCL-CONNECT", "a rank could not reach another one",
          "NCCL_SOCKET_IFNAME chose an interface that others cannot reach, or subnets differ",
          "NCCL_SOCKET_IFNAME=^lo,docker and one subnet for all nodes"},
    Known{"remote process exited", "NCCL-PEER", "another rank stopped first",
          "this is an echo: the cause is in the log of the rank that stopped",
          "look for the first error by time, and for Xid messages in its dmesg"},
    Known{"cuda driver version is insufficient", "NCCL-DRIVER",
          "the NVIDIA driver is older than the CUDA of the image", "nothing can run",
          "a newer AMI (driver), or an image of an older CUDA"},
};

Location at(const std::string& file, const Seen& s) { return {file, s.line, s.column}; }

std::string names(const Said& said, std::size_t most = 4) {
    std::string out;
    std::size_t n = 0;
    for (const auto& [name, seen] : said) {
        if (n == most) return out + ", …";
        out += (n++ == 0 ? "" : ", ") + name;
    }
    return out;
}

const Seen* with_prefix(const Said& said, std::string_view prefix) {
    for (const auto& [name, seen] : said) {
        if (to_lower(name).starts_with(prefix)) return &seen;
    }
    return nullptr;
}

/// [major, minor, patch] of "2.21.5+cuda12.4" or "1.9.1-aws"; what is missing is 0.
std::array<int, 3> numbers(std::string_view version) {
    std::array<int, 3> out{};
    std::size_t part = 0;
    for (const char c : version) {
        if (c == '.' && part < 2) {
            ++part;
        } else if (c >= '0' && c <= '9' && out.at(part) < 100000) {
            out.at(part) = 10 * out.at(part) + (c - '0');
        } else {
            break;
        }
    }
    return out;
}

/// The value that is said last: the one that differs from the rest of the job.
const Seen& newest(const Said& said) {
    return std::max_element(
               said.begin(), said.end(),
               [](const auto& a, const auto& b) { return a.second.line < b.second.line; })
        ->second;
}

bool older(std::string_view version, std::array<int, 3> than) { return numbers(version) < than; }

std::string gb_per_s(BytesPerSecond rate) {
    return fmt::format("{:.3g} GB/s", rate / kGBPerSecond);
}

class Doctor {
  public:
    Doctor(const Log& log, const Expected& expected, const std::string& file)
        : log_(log), expected_(expected), file_(file), nodes_(nodes_of(log, expected.instance)) {}

    Diagnosis run() {
        out_.verdict = verdict();
        if (log_.nccl_lines == 0) empty();
        sockets();
        mixed();
        interfaces();
        direct();
        versions();
        reported();
        unfinished();
        bandwidth();
        std::stable_sort(
            out_.symptoms.begin(), out_.symptoms.end(),
            [](const Symptom& a, const Symptom& b) { return a.severity < b.severity; });
        const bool worse =
            std::any_of(out_.symptoms.begin(), out_.symptoms.end(), [](const Symptom& s) {
                return s.id == "NCCL-NICS" || s.id == "NCCL-GDR" || s.id == "NCCL-MIXED";
            });
        if (out_.verdict == Verdict::efa && worse) out_.verdict = Verdict::efa_partly;
        out_.summary = summary();
        return std::move(out_);
    }

  private:
    const catalog::Instance* type() const { return expected_.instance; }
    const Seen* socket() const {
        const Seen* s = with_prefix(log_.networks, "socket");
        return s != nullptr ? s : with_prefix(log_.transports, "socket");
    }
    bool libfabric() const {
        const auto is = [](const Said& said) {
            return std::any_of(said.begin(), said.end(), [](const auto& one) {
                return to_lower(one.first).find("libfabric") != std::string::npos;
            });
        };
        return is(log_.networks) || is(log_.transports);
    }
    /// Libfabric over something else than EFA: as slow as sockets.
    const std::pair<const std::string, Seen>* other_provider() const {
        for (const auto& one : log_.providers) {
            if (!one.first.starts_with("efa")) return &one;
        }
        return nullptr;
    }

    Verdict verdict() const {
        if (nodes_ <= 1 && log_.network_channels == 0 && log_.nccl_lines > 0)
            return Verdict::one_node;
        if (libfabric()) return other_provider() != nullptr ? Verdict::tcp : Verdict::efa;
        if (socket() != nullptr) return Verdict::tcp;
        return log_.networks.empty() && log_.transports.empty() ? Verdict::unknown : Verdict::other;
    }

    void add(Severity severity, std::string_view id, const Seen* seen, std::string what,
             std::string why, std::string fix, std::string_view source = kPluginSource) {
        Symptom s;
        s.id = id;
        s.severity = severity;
        s.where = seen == nullptr ? Location{file_, 0, 0} : at(file_, *seen);
        if (seen != nullptr) s.text = seen->text;
        s.what = std::move(what);
        s.why = std::move(why);
        s.fix = std::move(fix);
        s.source = source;
        out_.symptoms.push_back(std::move(s));
    }

    void empty() {
        add(Severity::warning, "NCCL-SILENT", nullptr, "not one line of NCCL's own",
            "without its log nobody can tell which network was used",
            "run once with NCCL_DEBUG=INFO (and NCCL_DEBUG_SUBSYS=INIT,NET) on every rank",
            "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html");
    }

    void sockets() {
        if (nodes_ <= 1) return;
        if (const auto* other = other_provider(); other != nullptr && libfabric()) {
            add(Severity::error, "NCCL-PROVIDER", &other->second,
                fmt::format("libfabric chose the provider {}, not efa", other->first), loss(),
                "FI_PROVIDER=efa makes it an error instead; check the EFA devices (fi_info -p efa) "
                "and that the container sees /dev/infiniband",
                kEfaGuide);
        }
        const Seen* s = socket();
        if (s == nullptr) return;
        if (type() != nullptr && type()->efa == Yes::no) {
            add(Severity::note, "NCCL-TCP", s, "traffic between nodes goes over TCP",
                type()->type + " has no EFA, so this is all it can do",
                "for training on several nodes take a type with EFA: trainyard catalog --sort "
                "efa-per-gpu",
                kEfaGuide);
            return;
        }
        add(Severity::error, "NCCL-TCP", s, "traffic between nodes goes over TCP, not EFA", loss(),
            log_.no_plugin
                ? "NCCL found no network plugin: install aws-ofi-nccl (it comes with the EFA "
                  "installer) and put its folder on LD_LIBRARY_PATH"
                : "interfaces of type efa on the instances, the EFA installer and aws-ofi-nccl in "
                  "the image, /dev/infiniband in the container; then look for: Selected provider "
                  "is efa",
            kEfaGuide);
        if (log_.no_plugin) {
            add(Severity::error, "NCCL-PLUGIN", &*log_.no_plugin,
                "the network plugin was not loaded", "this is why NCCL uses sockets",
                "ldconfig -p | grep libnccl-net on a node; the plugin's folder is "
                "/opt/amazon/ofi-nccl/lib (older installers: /opt/aws-ofi-nccl/lib)",
                kEfaGuide);
        }
    }

    void mixed() {
        if (nodes_ <= 1 || socket() == nullptr || !libfabric()) return;
        add(Severity::error, "NCCL-MIXED", socket(), "some ranks use sockets and some libfabric",
            "they cannot talk to each other: the job hangs in its first collective",
            "the same image and the same EFA interfaces on every node");
    }

    void interfaces() {
        if (out_.verdict != Verdict::efa || type() == nullptr || type()->efa_interfaces < 1) return;
        const int all = type()->efa_interfaces;
        for (const auto& [count, seen] : log_.nic_counts) {
            const auto found = parse_number(count);
            if (!found || *found >= all) continue;
            add(Severity::warning, "NCCL-NICS", &seen,
                fmt::format("{} of {} EFA interfaces found on {}", count, all, type()->type),
                fmt::format("about {:.0f} % of the bandwidth between nodes is left unused and paid",
                            100 * (1 - *found / all)),
                fmt::format("one interface of type efa on each of the {} network cards in the "
                            "launch template",
                            all),
                kEfaGuide);
        }
    }

    void direct() {
        if (out_.verdict != Verdict::efa || type() == nullptr) return;
        if (type()->gpudirect_rdma != Yes::yes) return;
        const Seen* seen = nullptr;
        if (log_.gdr_off) seen = &*log_.gdr_off;
        const bool none = log_.network_channels > 0 && log_.gdr_channels == 0;
        if (none && seen == nullptr) seen = &*log_.channel_without_gdr;
        if (seen == nullptr) return;
        add(Severity::warning, "NCCL-GDR", seen, "GPUDirect RDMA is off",
            "every byte between nodes is copied through host memory, which costs bandwidth and "
            "cores",
            "a plugin and libfabric that were built with CUDA (those of the EFA installer are), a "
            "driver with DMA-BUF or nvidia-peermem, and no FI_EFA_USE_DEVICE_RDMA=0");
    }

    void versions() {
        if (log_.versions.size() > 1) {
            add(Severity::error, "NCCL-VERSIONS", &newest(log_.versions),
                "several versions of NCCL: " + names(log_.versions),
                "ranks of different versions hang or stop when they meet",
                "one image on all nodes; if this file holds several runs, one at a time",
                "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html");
        }
        if (log_.plugin_versions.size() > 1) {
            add(Severity::warning, "NCCL-PLUGIN-VERSIONS", &newest(log_.plugin_versions),
                "several versions of aws-ofi-nccl: " + names(log_.plugin_versions),
                "its protocol may change between versions", "one image on all nodes");
        }
        if (type() == nullptr || !type()->type.starts_with("p5")) return;
        // EC2 user guide, "Get started with EFA and NCCL": what P5 needs at least.
        for (const auto& [version, seen] : log_.plugin_versions) {
            if (older(version, {1, 7, 3})) {
                add(Severity::warning, "NCCL-OLD", &seen,
                    "aws-ofi-nccl " + version + " is older than P5 needs (1.7.3)",
                    "it lacks the RDMA write protocol of P5's network",
                    "a current EFA installer in the image", kEfaGuide);
            }
        }
        for (const auto& [version, seen] : log_.versions) {
            if (older(version, {2, 18, 5})) {
                add(Severity::warning, "NCCL-OLD", &seen,
                    "NCCL " + version + " is older than P5 needs (2.18.5)",
                    "it does not know P5's topology", "a current NCCL in the image", kEfaGuide);
            }
        }
    }

    /// What NCCL itself warned of: the known troubles, and the others as they stand.
    void reported() {
        constexpr std::size_t kMost = 8;
        std::size_t told = 0;
        for (const auto& [text, seen] : log_.warnings) {
            const std::string small = to_lower(seen.text);
            const auto* known = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) {
                return small.find(k.mark) != std::string::npos;
            });
            const std::string times =
                seen.count > 1 ? fmt::format(" ({} times)", seen.count) : std::string();
            if (known != kKnown.end()) {
                add(Severity::error, known->id, &seen, std::string(known->what) + times,
                    std::string(known->why), std::string(known->fix),
                    "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/"
                    "troubleshooting.html");
            } else if (told++ < kMost) {
                add(Severity::note, "NCCL-WARN", &seen, "NCCL warns" + times,
                    "not a trouble that we know", "read it, and the lines around it",
                    "NCCL's own log");
            }
        }
    }

    void unfinished() {
        if (log_.inits_started == 0 || log_.inits_complete >= log_.inits_started) return;
        add(Severity::error, "NCCL-INIT", nullptr,
            fmt::format("{} communicators were begun, {} are complete", log_.inits_started,
                        log_.inits_complete),
            "the others hang in their start: a rank is missing, or the network is closed to them",
            "security group: all traffic from and to itself, both ways; then look for the rank "
            "that says nothing",
            kEfaGuide);
    }

    std::optional<BytesPerSecond> expected_rate() const {
        return out_.verdict == Verdict::tcp ? expected_.tcp : expected_.efa;
    }

    void bandwidth() {
        if (!log_.measured || !expected_.efa || log_.measured->bytes < (1U << 28U)) return;
        const BytesPerSecond measured = log_.measured->bus_gb_per_s * kGBPerSecond;
        if (measured >= 0.7 * *expected_.efa) return;
        const Seen seen{1, log_.measured->line, 1, {}};
        add(Severity::warning, "NCCL-SLOW", &seen,
            fmt::format("measured bus bandwidth is {}, {:.0f} % of what {} should give",
                        gb_per_s(measured), 100 * (measured / *expected_.efa),
                        type() == nullptr ? "the type" : type()->type),
            fmt::format("our model expects {} for a large all-reduce on {} node{}",
                        gb_per_s(*expected_.efa), nodes_, nodes_ == 1 ? "" : "s"),
            "mend what stands above first; then compare pairs of nodes to find a bad one",
            "docs/model/collectives.md");
    }

    std::string loss() const {
        if (!expected_.efa || !expected_.tcp) return "TCP is many times slower than EFA";
        return fmt::format(
            "a large all-reduce gets about {} of bus bandwidth over the one card that TCP uses "
            "instead of {} (our model, {} nodes): every step waits for it",
            gb_per_s(*expected_.tcp), gb_per_s(*expected_.efa), nodes_);
    }

    std::string summary() const {
        std::string s;
        const std::string interfaces =
            log_.nic_counts.empty() ? "" : ", " + names(log_.nic_counts, 2) + " interfaces a node";
        switch (out_.verdict) {
            case Verdict::efa:
                s = "EFA in use" + interfaces + (log_.gdr_channels > 0 ? ", GPUDirect RDMA" : "");
                break;
            case Verdict::efa_partly:
                s = "EFA in use, but not fully" + interfaces;
                break;
            case Verdict::tcp:
                s = "TCP between nodes, no EFA";
                break;
            case Verdict::other:
                s = "another network: " + names(log_.networks);
                break;
            case Verdict::one_node:
                s = "one node: no traffic between nodes";
                break;
            case Verdict::unknown:
                s = "the log does not say which network is used";
                break;
        }
        if (nodes_ > 0) s += fmt::format("; {} node{}", nodes_, nodes_ == 1 ? "" : "s");
        if (log_.ranks > 0) s += fmt::format(", {} ranks", log_.ranks);
        if (type() != nullptr) s += ", " + type()->type;
        if (!log_.versions.empty()) s += ", NCCL " + names(log_.versions, 2);
        if (!log_.plugin_versions.empty()) s += ", aws-ofi-nccl " + names(log_.plugin_versions, 2);
        return s;
    }

    const Log& log_;
    const Expected& expected_;
    const std::string& file_;
    int nodes_;
    Diagnosis out_;
};

}  // namespace

std::string_view to_string(Verdict v) {
    switch (v) {
        case Verdict::efa:
            return "efa";
        case Verdict::efa_partly:
            return "efa_partly";
        case Verdict::tcp:
            return "tcp";
        case Verdict::other:
            return "other";
        case Verdict::one_node:
            return "one_node";
        case Verdict::unknown:
            break;
    }
    return "unknown";
}

Diagnosis diagnose(const Log& log, const Expected& expected, const std::string& file) {
    return Doctor(log, expected, file).run();
}

std::optional<std::string> instance_named(const Log& log) {
    if (log.platforms.size() != 1) return std::nullopt;
    return log.platforms.begin()->first;
}

int nodes_of(const Log& log, const catalog::Instance* instance) {
    const int seen = static_cast<int>(log.hosts.size());
    if (instance == nullptr || instance->accelerators < 1) return seen;
    const auto ranks = static_cast<int>(std::min<std::uint64_t>(log.ranks, 1U << 24U));
    return std::max(seen, (ranks + instance->accelerators - 1) / instance->accelerators);
}

}  // namespace trainyard::nccl
