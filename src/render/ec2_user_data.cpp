#include <fmt/format.h>

#include "data_mount.hpp"
#include "ec2_requests.hpp"
#include "kubernetes_scripts.hpp"
#include "ledger.hpp"
#include "placeholders.hpp"
#include "render_target.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {
namespace {

/// However the script ends, its log goes to S3 and the instance ends: nobody pays for a node that
/// has stopped. Nothing is lost with it, for checkpoints are in S3.
constexpr std::string_view kFinish = R"sh(
finish() {
  status=$?
  trap - EXIT
  echo "$(date -u +%FT%TZ) ended with status $status"
  aws s3 cp --only-show-errors /var/log/trainyard-run.log \
    "${checkpoint_at}logs/$(date -u +%Y%m%dT%H%M%SZ)-node-${rank:-unknown}.log" || true
  [ "$status" != 0 ] || keep_failed=no
  if [ "$keep_failed" = no ]; then shutdown -h now; fi
  exit "$status"
}
trap finish EXIT
)sh";

/// Who this node is: the nodes of a run find each other by its tag and count by their addresses.
constexpr std::string_view kFindNodes = R"(
imds=http://169.254.169.254/latest
token=$(curl -sS -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' "$imds/api/token")
own=$(curl -sS -H "X-aws-ec2-metadata-token: $token" "$imds/meta-data/local-ipv4")
addresses=()
while ((${#addresses[@]} != nodes)); do
  if ((SECONDS > 1800)); then
    echo "${#addresses[@]} nodes of $nodes run: end what is left of an earlier start" >&2
    exit 1
  fi
  sleep 5
  mapfile -t addresses < <(aws ec2 describe-instances --region "$region" \
    --filters "Name=tag:trainyard-run,Values=$run" Name=instance-state-name,Values=running \
    --query 'Reservations[].Instances[].[PrivateIpAddress]' --output text | sort -V)
done
for rank in "${!addresses[@]}"; do
  if [ "${addresses[rank]}" = "$own" ]; then break; fi
done
)";

/// Images for NVIDIA mount their local disks there already; others get the same by hand.
constexpr std::string_view kScratch = R"(
scratch=/opt/dlami/nvme
if ! mountpoint -q "$scratch"; then
  mkdir -p "$scratch"
  mapfile -t disks < <(lsblk -dpno NAME,MODEL | awk '/Instance Storage/ {print $1}')
  if ((${#disks[@]})); then
    mdadm --create /dev/md0 --level=0 --force --run --raid-devices="${#disks[@]}" "${disks[@]}"
    mkfs.ext4 -q /dev/md0
    mount /dev/md0 "$scratch"
  fi
fi
)";

/// The Lustre client of the FSx user guide, "Installing the Lustre client" (Ubuntu).
constexpr std::string_view kLustreClient = R"sh(
lustre=https://fsx-lustre-client-repo.s3.amazonaws.com
key=/usr/share/keyrings/fsx-ubuntu-public-key.gpg
curl -fsS https://fsx-lustre-client-repo-public-keys.s3.amazonaws.com/fsx-ubuntu-public-key.asc |
  gpg --dearmor -o "$key"
echo "deb [signed-by=$key] $lustre/ubuntu $(lsb_release -cs) main" >/etc/apt/sources.list.d/fsx.list
apt-get update -q
apt-get install -y -q "lustre-client-modules-$(uname -r)"
)sh";

std::string variable(std::string_view name, std::string_view value) {
    return fmt::format("{}={}\n", name, shell_word(value));
}

std::string fetch(const Recipe& r, const Ec2Run& run, const NodePlaces& places) {
    std::string s = fmt::format("mkdir -p {0}\naws s3 sync --only-show-errors \"$code_at\" {0}\n",
                                shell_word(places.code));
    if (r.data_place == DataPlace::s3) return s + mount_data(r, run.at);
    if (r.data_place != DataPlace::lustre) return s;
    return s + std::string(kLustreClient) +
           fmt::format(
               "mkdir -p /fsx\nmount -t lustre -o relatime,flock "
               "{}.fsx.{}.amazonaws.com@tcp:/{} /fsx\n",
               kFileSystem.value, r.region, kMountName.value);
}

/// EC2 announces a spot interruption two minutes ahead; run.sh takes it as SIGTERM.
constexpr std::string_view kWatchSpot = R"sh(
watch_spot() {
  while sleep 5; do
    token=$(curl -sf -m 2 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' \
      "$imds/api/token") || continue
    curl -sf -m 2 -o /dev/null -H "X-aws-ec2-metadata-token: $token" \
      "$imds/meta-data/spot/instance-action" || continue
    echo "EC2 takes this spot instance"
    kill -TERM "$runner"
    return
  done
}
watch_spot &
)sh";

constexpr std::string_view kWait = R"sh(
wait "$runner" || exit
)sh";

}  // namespace

NodePlaces node_places(const Recipe& r) {
    NodePlaces p;
    if (r.data_place == DataPlace::lustre) {
        p.data = "/fsx/data";
        p.checkpoint = "/fsx/checkpoints";
    }
    if (r.data_place == DataPlace::s3) p.data = kDataMount;
    return p;
}

std::string start_script(const Recipe& r, const Ec2Run& run, const Launch& launch,
                         Framework framework) {
    const NodePlaces places = node_places(r);
    std::string s = "#!/bin/bash\n" + head_comment("#", r, Target::ec2_fleet);
    s += "set -euo pipefail\nexec >>/var/log/trainyard-run.log 2>&1\n\n";
    s += variable("run", run.name) + variable("region", r.region);
    s += fmt::format("nodes={}\n", r.nodes);
    s += variable("code_at", folder(run.at.code));
    s += variable("data_at", folder(run.at.data));
    s += variable("checkpoint_at", folder(run.at.checkpoint));
    s += "keep_failed=no  # yes: a node whose run failed stays for you to look, and is billed\n";
    s += kFinish;
    if (!run.bin.empty()) s += fmt::format("export PATH={}:\"$PATH\"\n", shell_word(run.bin));
    for (const EnvVariable& v : environment(r, framework)) {
        s += comment("#", v.why + " (" + v.needs + ")");
        s += fmt::format("export {}={}\n", v.name, shell_word(v.value));
    }
    s += kFindNodes;
    s += kScratch;
    if (run.openzfs) {
        s += fmt::format(
            "\n# home directories and code that all nodes share\nmkdir -p {0}\n"
            "mount -t nfs -o nfsvers=4.2 {1}.fsx.{2}.amazonaws.com:/fsx {0}\n",
            kNodeHome, kHomeFileSystem.value, r.region);
    }
    s += fetch(r, run, places);
    s += fmt::format("\ncd {}\n", shell_word(places.code));
    s += fmt::format("export DATA_DIR={} CHECKPOINT_DIR={}\n", shell_word(places.data),
                     shell_word(places.checkpoint));
    s += "export DATA_S3=\"${data_at%/}\" CHECKPOINT_S3=\"${checkpoint_at%/}\"\n";
    s += fmt::format(
        "export PET_NNODES=\"$nodes\" PET_NODE_RANK=\"$rank\" PET_NPROC_PER_NODE={}\n"
        "export PET_MASTER_ADDR=\"${{addresses[0]}}\" PET_MASTER_PORT=29500\n"
        "bash run.sh {} &\nrunner=$!\n",
        launch.ranks_per_node, shell_words(launch.program));
    if (r.purchase == Purchase::spot || r.purchase == Purchase::mixed) s += kWatchSpot;
    return s + std::string(kWait);
}

std::string run_script(const Recipe& r, const Launch& launch) {
    return "#!/bin/bash\n" + head_comment("#", r, Target::ec2_fleet) +
           pod_script({.stages_data = r.data_place == DataPlace::local_nvme,
                       .shares_files = r.data_place == DataPlace::lustre,
                       .resumes = r.resume != workload::Resume::none,
                       .framework = launch.framework,
                       .notice = launch.notice});
}

}  // namespace trainyard::render
