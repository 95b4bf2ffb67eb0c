#include "data_mount.hpp"

#include <fmt/format.h>

#include "trainyard/render/text.hpp"

namespace trainyard::render {

namespace {

/// https://github.com/awslabs/mountpoint-s3/blob/main/doc/INSTALL.md
constexpr std::string_view kMount = R"sh(
# The data is read from S3 as it is: it is larger than a node's disks, or a node has none.
if ! mountpoint -q {0}; then
    case $(uname -m) in aarch64) machine=arm64 ;; *) machine=x86_64 ;; esac
    curl -fsSo /tmp/mount-s3.deb \
        "https://s3.amazonaws.com/mountpoint-s3-release/latest/$machine/mount-s3.deb"
    apt-get install -y -q /tmp/mount-s3.deb
    mkdir -p {0}
    mount-s3 --read-only --allow-other --region {1} --prefix {2} {3} {0}
fi
)sh";

}  // namespace

std::string mount_data(const Recipe& r, const Addresses& at) {
    if (r.data_place != DataPlace::s3) return "";
    return fmt::format(fmt::runtime(kMount), kDataMount, shell_word(r.region),
                       shell_word(at.data.prefix + "/"), shell_word(at.data.bucket));
}

}  // namespace trainyard::render
