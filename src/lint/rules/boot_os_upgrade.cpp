// A bootstrap script that upgrades the whole system.

#include <algorithm>

#include "found.hpp"

namespace trainyard::lint::boot_os_upgrade {

namespace {

/// "yum -y update" without package names or excludes.
bool is_full_upgrade(const Command& c) {
    const std::string_view program = c.program();
    const bool is_apt = program == "apt" || program == "apt-get";
    const bool is_rpm = program == "yum" || program == "dnf" || program == "zypper";
    if (!is_apt && !is_rpm) return false;
    bool upgrades = false;
    bool is_narrow = false;
    bool behind_program = false;
    for (const Said& w : c.words) {
        if (!behind_program) {
            behind_program = w.text.ends_with(program);
            continue;
        }
        const bool is_verb = is_apt ? is_one_of(w.text, {"upgrade", "dist-upgrade", "full-upgrade"})
                                    : is_one_of(w.text, {"update", "upgrade", "distro-sync"});
        upgrades = upgrades || is_verb;
        is_narrow = is_narrow || contains(w.text, "exclude") || contains(w.text, "--security") ||
                    (upgrades && !is_verb && !w.text.starts_with('-') && !w.text.starts_with('>') &&
                     w.text.find('/') == std::string::npos);
    }
    return upgrades && !is_narrow;
}

bool is_bootstrap(const Document& d) {
    for (const std::string_view mark :
         {"OnNode", "bootstrap", "postinstall", "post_install", "post-install", "user-data",
          "user_data", "userdata", "lifecycle", "setup", "cloud-init", "preinstall"}) {
        if (contains(d.source->path, mark) || contains(d.text.substr(0, 2000), mark)) return true;
    }
    return false;
}

constexpr std::string_view kUserData[] = {"user_data",
                                          "UserData",
                                          "userData",
                                          "user_data_base64",
                                          "preBootstrapCommands",
                                          "overrideBootstrapCommand",
                                          "pre_bootstrap_user_data",
                                          "post_bootstrap_user_data"};

/// The commands that nodes run at their first start, wherever a template carries them.
void check_user_data(const doc::Node& node, bool is_user_data, int depth, Found& found) {
    if (depth > 64) return;
    for (const doc::Node& item : node.items()) {
        check_user_data(item, is_user_data, depth + 1, found);
    }
    for (const auto& [name, value] : node.members()) {
        const bool is_one =
            std::find(std::begin(kUserData), std::end(kUserData), name) != std::end(kUserData);
        check_user_data(value, is_user_data || is_one, depth + 1, found);
    }
    if (!is_user_data || node.text().find(' ') == std::string::npos) return;
    const Script script = read_script(node.text(), node.where);
    for (const Command& command : script.commands) {
        Command bare = command;  // "- yum update" of a cloud-config
        if (bare.words.front().is("-")) bare.words.erase(bare.words.begin());
        if (bare.words.empty() || !is_full_upgrade(bare)) continue;
        found.at(Said{bare.words.front().text, bare.words.front().where},
                 "user data upgrades every package of the node, the kernel included");
        return;
    }
}

void find(const Case& c, Found& found) {
    for (const Document& d : c.documents) {
        const bool is_template = d.kind == Kind::terraform || d.kind == Kind::terraform_plan ||
                                 d.kind == Kind::cloudformation || d.kind == Kind::eksctl ||
                                 d.object_kind == "EC2NodeClass";
        if (is_template) check_user_data(d.root, false, 0, found);
        if (d.kind != Kind::shell && d.kind != Kind::sbatch) continue;
        for (const Command& command : d.script.commands) {
            if (!is_full_upgrade(command)) continue;
            Finding& f = found.at(command.words.front(),
                                  "this upgrades every package of the node, the kernel included");
            if (!is_bootstrap(d)) f.severity = Severity::warning;
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "BOOT-OS-UPGRADE",
            .severity = Severity::error,
            .title = "A full OS upgrade on a node",
            .applies = "shell scripts, user data of templates",
            .why =
                "it pulls a kernel without matching Lustre, EFA and NVIDIA modules: new"
                " nodes fail to mount or have no GPU, some days after the script was "
                "written",
            .fix =
                "install named packages only, or bake an image; at the least exclude "
                "kernel*, lustre*, efa*, nvidia*",
            .source = "aws/aws-parallelcluster#4057",
            .find = find};
}

}  // namespace trainyard::lint::boot_os_upgrade
