#include <fmt/format.h>

#include "ec2_requests.hpp"
#include "ledger.hpp"
#include "placeholders.hpp"
#include "render_target.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {
namespace {

/// Who this node is: the nodes of a run find each other by its tag and count by their addresses.
constexpr std::string_view kFindNodes = R"(
imds=http://169.254.169.254/latest
token=$(curl -sS -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' "$imds/api/token")
own=$(curl -sS -H "X-aws-ec2-metadata-token: $token" "$imds/meta-data/local-ipv4")
addresses=()
while ((${#addresses[@]} != nodes)); do
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

std::string fetch(const Recipe& r, const NodePlaces& places) {
    std::string s = fmt::format("mkdir -p {0}\naws s3 sync --only-show-errors \"$code_at\" {0}\n",
                                shell_word(places.code));
    if (r.data_place == DataPlace::lustre) {
        return s + std::string(kLustreClient) +
               fmt::format(
                   "mkdir -p /fsx\nmount -t lustre -o relatime,flock "
                   "{}.fsx.{}.amazonaws.com@tcp:/{} /fsx\n",
                   kFileSystem.value, r.region, kMountName.value);
    }
    s += fmt::format("mkdir -p {0} {1}\naws s3 sync --only-show-errors \"$data_at\" {0}\n",
                     shell_word(places.data), shell_word(places.checkpoint));
    return s + fmt::format(
                   "# resume: what an earlier start of this run has saved\n"
                   "aws s3 sync --only-show-errors \"$checkpoint_at\" {}\n",
                   shell_word(places.checkpoint));
}

std::string save_loop(const Recipe& r, const NodePlaces& places) {
    if (r.data_place == DataPlace::lustre) return "";  // FSx exports them itself
    return fmt::format(
        "\nsave() {{ aws s3 sync --only-show-errors {} \"$checkpoint_at\"; }}\n"
        "while sleep 60; do save || true; done &\nsaver=$!\n",
        shell_word(places.checkpoint));
}

std::string finish(const Recipe& r) {
    std::string s = "\nif [ \"$status\" = 0 ]; then\n";
    if (r.data_place != DataPlace::lustre) s = "\nkill \"$saver\"\nsave" + s;
    return s +
           "  shutdown -h now  # the instance ends and is billed no more\n"
           "fi\n"
           "echo \"the run failed with status $status: this instance stays, and is billed\" >&2\n"
           "exit \"$status\"\n";
}

}  // namespace

NodePlaces node_places(const Recipe& r) {
    NodePlaces p;
    if (r.data_place == DataPlace::lustre) {
        p.data = "/fsx/data";
        p.checkpoint = "/fsx/checkpoints";
    }
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
    s += fetch(r, places);
    s += save_loop(r, places);
    s += fmt::format(
        "\ncd {}\nstatus=0\n"
        "torchrun --nnodes {} --nproc-per-node {} --node-rank \"$rank\" \\\n"
        "  --master-addr \"${{addresses[0]}}\" --master-port 29500 \\\n"
        "  {} || status=$?\n",
        shell_word(places.code), r.nodes, launch.ranks_per_node, shell_words(launch.program));
    return s + finish(r);
}

}  // namespace trainyard::render
