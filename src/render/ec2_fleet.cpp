// EC2 alone: a fleet request with its launch template, the network that EFA needs, and the Capacity
// Block where the plan buys one.

#include <fmt/format.h>

#include "ec2_requests.hpp"
#include "iam.hpp"
#include "launch.hpp"
#include "ledger.hpp"
#include "limits.hpp"
#include "placeholders.hpp"
#include "readme.hpp"
#include "render_target.hpp"
#include "trainyard/render/names.hpp"
#include "trainyard/render/text.hpp"

namespace trainyard::render {
namespace {

using doc::Node;

constexpr NameRule kRunName = {
    "the name of an EC2 run", 60, true,
    "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateLaunchTemplate.html, and 64 "
    "characters of the IAM role"};

constexpr std::string_view kEncode =
    R"py("""Puts user-data.sh into the launch templates: they carry it in base64."""

import base64
import json
import pathlib

script = base64.b64encode(pathlib.Path("user-data.sh").read_bytes()).decode()
for path in sorted(pathlib.Path(".").glob("ec2.create-launch-template*.json")):
    request = json.loads(path.read_text(encoding="utf-8"))
    request["LaunchTemplateData"]["UserData"] = script
    path.write_text(json.dumps(request, indent=2) + "\n", encoding="utf-8")
)py";

bool has_block(const Recipe& r) {
    return r.purchase == Purchase::capacity_block ||
           (r.purchase == Purchase::mixed && r.block_days.has_value());
}

std::optional<Error> refuse_plan(const Recipe& r) {
    if (r.instance.intra_link == catalog::LinkKind::nvl72 ||
        r.instance.type.find('.') == std::string::npos) {
        return refuse(r, r.instance.type + " cannot be launched by a fleet",
                      "it is sold as part of an UltraServer only, whole and through AWS",
                      "no --target of today can: plan with another --instance");
    }
    if (r.copies > 1) {
        return refuse(r, fmt::format("{} independent runs are not one fleet", r.copies),
                      "an array of jobs with retry belongs to a scheduler",
                      "--target parallelcluster");
    }
    const double most = limit("ec2.fleet_minimum");
    if (r.nodes > most) {
        return refuse(r, fmt::format("{} nodes are too many for one fleet", r.nodes),
                      fmt::format("an all-or-nothing fleet holds at most {:.0f}", most),
                      "--target parallelcluster");
    }
    if (!has_block(r)) return std::nullopt;
    const int days = r.block_days.value_or(0);
    if (!is_block_length(days)) {
        return refuse(r, fmt::format("no Capacity Block has {} days", days),
                      "they are sold by the day up to 14 days and by the week up to 182",
                      "plan again: block_days in the plan was changed by hand");
    }
    return std::nullopt;
}

std::string labelled(std::string_view stem, const Fleet& f) {
    return std::string(stem) + (f.label.empty() ? "" : "." + f.label) + ".json";
}

void add_requests(Directory& out, const Recipe& r, const Ec2Run& run) {
    const auto add = [&out](std::string name, const Node& body) {
        out.add({std::move(name), write_json(body)});
    };
    add("ec2.create-security-group.json", security_group(r, run));
    if (r.nodes > 1 || r.data_place == DataPlace::lustre || run.openzfs) {
        add("ec2.authorize-security-group-ingress.json", self_rule());
        add("ec2.authorize-security-group-egress.json", self_rule());
    }
    if (run.own_placement) add("ec2.create-placement-group.json", placement_group(r, run));
    for (const Fleet& f : fleets_of(r)) {
        if (f.pay == FleetPay::capacity_block) add_block_purchase(out, r, run.name, f.nodes);
        add(labelled("ec2.create-launch-template", f), launch_template(r, run, f));
        add(labelled("ec2.create-fleet", f), create_fleet(r, run, f));
    }
    out.add({"user-data.sh", run.user_data, true});
    out.add({"encode.py",
             "#!/usr/bin/env python3\n" + head_comment("#", r, Target::ec2_fleet) +
                 std::string(kEncode),
             true});
    add_instance_profile(out, r, run.name);
}

std::vector<std::string> start_commands(const Directory& out, const Recipe& r, const Ec2Run& run) {
    std::vector<std::string> c;
    const auto send = [&](const std::string& name) {
        if (const File* f = out.find(name)) c.push_back(send_request(r, *f));
    };
    send("ec2.create-security-group.json");
    c.push_back("# put the new group's id into the files, then");
    send("ec2.authorize-security-group-ingress.json");
    send("ec2.authorize-security-group-egress.json");
    const auto storage = storage_commands(out, r, run.name);  // a file system is in the group
    c.insert(c.end(), storage.begin(), storage.end());
    send("iam/iam.create-instance-profile.json");
    send("iam/iam.add-role-to-instance-profile.json");
    send("ec2.create-placement-group.json");
    c.push_back("# put your program into code/, then");
    c.push_back("aws s3 cp --recursive code/ " + shell_word(folder(run.at.code)));
    if (has_block(r)) {
        for (std::string& line : block_commands(out, r)) c.push_back(std::move(line));
        c.push_back("# when the block has begun:");
    }
    c.push_back("python3 encode.py   # user-data.sh with your values, into the launch template");
    for (const Fleet& f : fleets_of(r)) {
        send(labelled("ec2.create-launch-template", f));
        send(labelled("ec2.create-fleet", f));
    }
    return c;
}

std::vector<std::string> tear_down_commands(const Directory& out, const Recipe& r,
                                            const Ec2Run& run) {
    const std::string region = " --region " + shell_word(r.region);
    std::vector<std::string> c = {
        "ids=$(aws ec2 describe-instances" + region + " --filters Name=tag:trainyard-run,Values=" +
            run.name + " Name=instance-state-name,Values=pending,running,stopping,stopped" +
            " --query 'Reservations[].Instances[].InstanceId' --output text)",
        "[ -z \"$ids\" ] || aws ec2 terminate-instances" + region + " --instance-ids $ids",
        "[ -z \"$ids\" ] || aws ec2 wait instance-terminated" + region + " --instance-ids $ids"};
    for (const Fleet& f : fleets_of(r)) {
        c.push_back("aws ec2 delete-launch-template" + region + " --launch-template-name " +
                    template_name(run, f));
    }
    if (run.own_placement)
        c.push_back("aws ec2 delete-placement-group" + region + " --group-name " +
                    placement_name(run));
    c.push_back(
        fmt::format("aws ec2 delete-security-group{} --group-id {}", region, kSecurityGroup.value));
    const std::string role = run_role_name(run.name);
    c.push_back("aws iam remove-role-from-instance-profile --instance-profile-name " + role +
                " --role-name " + role);
    c.push_back("aws iam delete-instance-profile --instance-profile-name " + role);
    const auto rest = storage_tear_down(out, r, run.at, run.name, Target::ec2_fleet);
    c.insert(c.end(), rest.begin(), rest.end());
    return c;
}

std::vector<std::string> notes(const Recipe& r, const Launch& launch, const Image& machine) {
    std::vector<std::string> n = {
        "`user-data.sh` is what the launch template carries in base64: `python3 encode.py` puts it "
        "there again after a change.",
        "A node ends itself when its run ends, well or not (`keep_failed` in `user-data.sh`), and "
        "so does one that waits half an hour for the others. Its log, "
        "`/var/log/trainyard-run.log`, goes to `logs/` beside the checkpoints."};
    if (!machine.note.empty())
        n.push_back("Image: " + machine.note + " (as of " + machine.provenance.as_of + ").");
    if (r.nodes > 1) {
        n.push_back(std::string(has_block(r) ? "A fleet in a Capacity Block takes no minimum: "
                                               "nodes that wait in vain for the others end. "
                                             : "All nodes start together or none does: "
                                               "`MinTargetCapacity` is the whole gang. ") +
                    "EC2 replaces no node: after a loss, end the rest and send the fleet request "
                    "again; the run resumes from S3.");
    }
    if (has_block(r)) {
        n.push_back(
            "Subnet and Capacity Block must be in the same zone. EC2 takes the nodes back "
            "30 minutes before the block ends.");
    }
    if (r.nodes > 1 && r.instance.efa == catalog::Yes::yes && !has_block(r))
        n.push_back(
            "The placement group keeps the nodes close; it can make capacity harder to get.");
    n.push_back(kReachNodes);
    for (std::string& note : storage_notes(r, Target::ec2_fleet)) n.push_back(std::move(note));
    n.insert(n.end(), launch.expects.begin(), launch.expects.end());
    return n;
}

}  // namespace

Result<Directory> render_ec2_fleet(const Recipe& r, const Options& options) {
    if (auto no = refuse_plan(r)) return *no;
    auto name = job_name(kRunName, r, options);
    if (!name) return name.error();
    auto at = run_addresses(options, *name);
    if (!at) return at.error();
    const NodePlaces places = node_places(r);
    const Framework framework = options.framework.value_or(default_framework(r));
    auto launch = training_command(
        r, framework,
        {.data = places.data, .checkpoint = places.checkpoint, .config = places.code});
    if (!launch) return launch.error();

    const Image machine = image("ami", r.instance, r.is_trainium(), r.region);
    Ec2Run run;
    run.name = *name;
    run.at = *at;
    run.image = machine.value.empty() ? std::string(kImage.value) : machine.value;
    run.bin = machine.bin;
    run.openzfs = options.openzfs;
    run.own_placement = r.nodes > 1 && !has_block(r);
    run.user_data = start_script(r, run, *launch, framework);
    if (static_cast<double>(run.user_data.size()) > limit("ec2.user_data")) {
        return refuse(
            r, "the start script is longer than EC2 takes as user data",
            fmt::format("{} bytes, at most {:.0f}", run.user_data.size(), limit("ec2.user_data")),
            "--target parallelcluster, or a shorter --checkpoint");
    }
    Directory out;
    add_requests(out, r, run);
    out.add({"code/run.sh", run_script(r, *launch), true});
    for (File& file : launch->files) {
        file.path = "code/" + file.path;
        out.add(std::move(file));
    }
    add_storage(out, r, run.at, run.name, {.openzfs = options.openzfs});
    add_iam(out, r, Target::ec2_fleet, run.at, run.name);
    ReadmeParts readme;
    readme.target = Target::ec2_fleet;
    readme.tool = "EC2 Fleet";
    readme.start = start_commands(out, r, run);
    readme.tear_down = tear_down_commands(out, r, run);
    readme.notes = notes(r, *launch, machine);
    add_readme(out, r, readme);
    return out;
}

}  // namespace trainyard::render
