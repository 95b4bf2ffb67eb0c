// trainyard preflight: is this machine fit to begin?

#include <fmt/format.h>

#include <cmath>

#include "command_catalog_input.hpp"
#include "command_run_input.hpp"
#include "command_store_parts.hpp"
#include "preflight_all_reduce.hpp"
#include "trainyard/agent/preflight.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/perf/bus_bandwidth.hpp"
#include "trainyard/sys/machine.hpp"
#include "trainyard/sys/process.hpp"

namespace trainyard::cli {

namespace {

using Level = agent::Finding::Level;

std::optional<Bytes> bytes_of(std::optional<std::uint64_t> value) {
    if (!value) return std::nullopt;
    const bool is_endless = *value == std::numeric_limits<std::uint64_t>::max();
    return is_endless ? Bytes::from_base(INFINITY) : static_cast<double>(*value) * kByte;
}

/// NVIDIA's driver, else that of Trainium and Inferentia.
void ask_driver(agent::MachineFacts& facts) {
    const auto said =
        sys::run_process({"nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"},
                         std::chrono::seconds(30));
    if (said && said->status == 0) {
        facts.accelerators = 0;
        for (const std::string_view line : split(said->out, '\n')) {
            const auto fields = split(line, ',');
            if (fields.size() != 2) continue;
            facts.accelerators = *facts.accelerators + 1;
            facts.accelerator_names.push_back(printable(trim(fields[0]), 60));
            facts.driver = printable(trim(fields[1]), 30);
        }
        return;
    }
    if (said) facts.driver_problem = printable(trim(split(said->out, '\n').front()), 100);
    const sys::NeuronDevices neuron = sys::neuron_devices();
    if (neuron.count == 0) return;
    facts.accelerators = neuron.count;
    facts.driver = neuron.driver.empty() ? "" : "neuron " + printable(neuron.driver, 30);
}

/// The nearest directory that is there: the checkpoint directory may yet have to be made.
std::optional<std::uint64_t> disk_of(std::string path) {
    while (path.size() > 1 && !sys::real_env().status(path)) path = sys::parent_of(path);
    return sys::free_bytes(path);
}

agent::MachineFacts facts_of(const Args& args, const std::vector<int>& ports) {
    agent::MachineFacts f;
    ask_driver(f);
    f.efa_devices = sys::efa_devices();
    f.shared_memory = bytes_of(sys::total_bytes("/dev/shm"));
    f.disk_free = bytes_of(disk_of(absolute_path(args.text("checkpoint-dir"))));
    if (const auto files = sys::open_files_limit()) f.open_files = static_cast<double>(*files);
    f.locked_memory = bytes_of(sys::locked_memory_limit());
    f.huge_pages = sys::huge_pages();
    f.clock_kept = sys::is_clock_kept();
    for (const int port : ports) {
        if (!sys::is_port_free(port)) f.busy_ports.push_back(port);
    }
    return f;
}

Result<agent::MachineWants> wants_of(const Args& args, Io& io) {
    Args::Mistakes mistakes;
    agent::MachineWants w;
    w.disk = args.bytes("disk", mistakes);
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    w.has_store = args.given("store");
    const auto told = sys::ec2_instance_type();
    if (!args.given("instance") && !told) return w;
    const auto catalog = load_catalog(args, io.today);
    if (!catalog) return catalog.error();
    w.type = args.given("instance") ? args.text("instance") : printable(*told, 60);
    const catalog::Instance* instance = catalog->instance(w.type);
    if (instance == nullptr && !args.given("instance")) return w;
    if (instance == nullptr) {
        const auto near = catalog->nearest_instance(w.type);
        return bad_input(Diagnostic{
            .where = {"--instance", 0, 0},
            .what = "\"" + printable(w.type, 60) + "\" is not in the catalog",
            .why = {},
            .fix = near ? "did you mean " + *near + "?" : "trainyard catalog lists the types"});
    }
    w.accelerators = instance->accelerators;
    w.accelerator = instance->accelerator;
    w.efa_interfaces = instance->efa_interfaces;
    if (instance->accelerators < 2) return w;
    const auto cluster = perf::cluster_of(*catalog, *instance, 1);
    if (cluster) w.bus_bandwidth = perf::all_reduce_bus_bandwidth(*cluster, kAllReduceSize);
    return w;
}

agent::AllReduce all_reduce_of(const agent::MachineFacts& facts, const Args& args) {
    if (facts.accelerators && facts.accelerator_names.empty() && *facts.accelerators > 0)
        return agent::AllReduce::not_made("on Neuron devices nccom-test makes one");
    return measure_all_reduce(facts.accelerators.value_or(0), args.text("python"));
}

Result<Outcome> run_preflight(const Args& args, Io& io) {
    Args::Mistakes mistakes;
    const auto port = args.integer("port", 1, 65535, mistakes);
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    const auto wants = wants_of(args, io);
    if (!wants) return wants.error();
    agent::MachineFacts facts = facts_of(args, {*port});
    if (wants->has_store) {
        auto open = open_store(args, args.text("store"), io);
        if (!open) return open.error();
        const auto inventory = (*open)->repository->inventory();
        if (!inventory) facts.store_problem = inventory.error().diagnostics.front().what;
    }
    if (!args.flag("no-all-reduce")) facts.all_reduce = all_reduce_of(facts, args);
    const auto findings = agent::preflight(facts, *wants);
    static constexpr const char* kLevels[] = {"skipped", "ok", "warning", "failed"};
    Level worst = Level::good;
    doc::Node list = doc::Node::list();
    for (const agent::Finding& f : findings) {
        worst = std::max(worst, f.level);
        const char* level = kLevels[static_cast<std::size_t>(f.level)];
        doc::Node one = doc::Node::map();
        one.set("check", f.what);
        one.set("level", level);
        one.set("text", f.text);
        if (!f.fix.empty()) one.set("fix", f.fix);
        list.append(std::move(one));
        if (args.flag("json")) continue;
        io.out << fmt::format("{:<8} {:<14} {}\n", level, f.what, f.text);
        if (!f.fix.empty()) io.out << fmt::format("{:<23} fix: {}\n", "", f.fix);
    }
    if (args.flag("json")) {
        doc::Node root = doc::Node::map();
        root.set("schema", "trainyard.preflight");
        root.set("schema_version", 1);
        root.set("worst", kLevels[static_cast<std::size_t>(worst)]);
        root.set("checks", std::move(list));
        io.out << doc::write_json(root);
    }
    const std::string fail_on = args.text("fail-on");
    const bool is_no = (fail_on == "failed" && worst == Level::failed) ||
                       (fail_on == "warning" && worst != Level::good);
    return is_no ? Outcome::answered_no : Outcome::done;
}

}  // namespace

Command preflight_command() {
    Command command;
    command.name = "preflight";
    command.summary = "Is this machine fit to begin, against what its type should have";
    command.examples = {
        {"trainyard preflight --instance p5.48xlarge --disk 500GB --fail-on failed",
         "before the job, on each node"},
        {"trainyard preflight --store s3://my-bucket/run-7", "can the store be read from here?"}};
    const auto option = [&](const char* name, const char* value, const char* help,
                            const char* fallback = "") {
        Option made;
        made.name = name;
        made.value_name = value;
        made.help = help;
        made.fallback = fallback;
        if (made.value_name.empty()) made.kind = Option::Kind::flag;
        return made;
    };
    Option instance =
        option("instance", "TYPE", "what this machine is, if it does not say so itself");
    instance.names = "instance";
    Option fail_on = option("fail-on", "WORD", "exit 1 if a check is that bad", "never");
    fail_on.choices = {"never", "failed", "warning"};
    command.options = {
        option("json", "", "print JSON, schema trainyard.preflight"),
        std::move(instance),
        option("checkpoint-dir", "DIR", "whose disk is measured", "."),
        option("disk", "SIZE", "that must be free there"),
        option("port", "PORT", "that must be free: MASTER_PORT", "29500"),
        option("python", "PROGRAM", "whose PyTorch makes the all-reduce", "python3"),
        option("no-all-reduce", "", "leave out the all-reduce, which takes seconds"),
        option("store", "STORE", "a directory or s3://BUCKET/PREFIX that must be readable"),
        std::move(fail_on),
        option("jobs", "N", "transfers at a time", "8"),
        option("part-size", "SIZE", "of large files in the store", "16MiB"),
        option("endpoint-url", "URL", "an S3-compatible server; AWS_ENDPOINT_URL_S3"),
        option("region", "NAME", "of the bucket; AWS_REGION or the profile's"),
        option("profile", "NAME", "of the AWS configuration; absent: the usual chain")};
    for (Option& one : catalog_options()) command.options.push_back(std::move(one));
    command.run = run_preflight;
    return command;
}

}  // namespace trainyard::cli
