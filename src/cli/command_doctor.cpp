// trainyard doctor: what a job's NCCL log says about its network.

#include <fmt/format.h>

#include <algorithm>

#include "command_catalog_input.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/nccl/diagnose.hpp"
#include "trainyard/perf/bus_bandwidth.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::cli {
namespace {

using doc::Node;

/// nccl-tests' usual largest size, and about a bucket of gradients.
constexpr Bytes kSize = 1 * kGiB;

const std::vector<std::string> kFailOn = {"error", "warning"};

Node text_or_null(const std::string& s) { return s.empty() ? Node() : Node::string(s); }

Node rate_or_null(const std::optional<BytesPerSecond>& rate) {
    return rate ? Node::number(*rate / (kByte / kSecond)) : Node();
}

Node symptom_node(const nccl::Symptom& s) {
    Node n = Node::map();
    n.set("rule", s.id).set("severity", std::string(to_string(s.severity)));
    n.set("file", s.where.file);
    n.set("line", s.where.line > 0 ? Node::integer(s.where.line) : Node());
    n.set("column", s.where.column > 0 ? Node::integer(s.where.column) : Node());
    n.set("text", text_or_null(printable(s.text))).set("what", printable(s.what));
    return n.set("why", s.why).set("fix", s.fix).set("source", s.source);
}

struct Answer {
    nccl::Log log;
    nccl::Expected expected;
    nccl::Diagnosis diagnosis;
    std::optional<perf::Cluster> cluster;
    int nodes = 0;
};

Node answer_node(const Answer& a) {
    Node root = Node::map();
    root.set("schema", "trainyard.doctor").set("schema_version", 1);
    root.set("verdict", std::string(nccl::to_string(a.diagnosis.verdict)));
    root.set("summary", printable(a.diagnosis.summary));
    root.set("lines", static_cast<std::int64_t>(a.log.lines));
    root.set("nccl_lines", static_cast<std::int64_t>(a.log.nccl_lines));
    root.set("nodes", a.nodes).set("ranks", static_cast<std::int64_t>(a.log.ranks));
    root.set("instance",
             a.expected.instance == nullptr ? Node() : Node::string(a.expected.instance->type));
    Node expected = Node::map();
    expected.set("all_reduce_bytes", a.expected.size / kByte);
    expected.set("bus_bandwidth_bytes_per_s", rate_or_null(a.expected.efa));
    expected.set("bus_bandwidth_tcp_bytes_per_s", rate_or_null(a.expected.tcp));
    root.set("expected", std::move(expected.set("source", "docs/model/collectives.md")));
    Node measured;
    if (a.log.measured) {
        measured = Node::map();
        measured.set("bytes", static_cast<std::int64_t>(a.log.measured->bytes));
        measured.set("bus_bandwidth_bytes_per_s", a.log.measured->bus_gb_per_s * 1e9);
    }
    root.set("measured", std::move(measured));
    Node findings = Node::list();
    for (const nccl::Symptom& s : a.diagnosis.symptoms) findings.append(symptom_node(s));
    return root.set("findings", std::move(findings));
}

std::string rates_text(const Answer& a) {
    const auto gb = [](BytesPerSecond r) { return fmt::format("{:.3g} GB/s", r / kGBPerSecond); };
    std::string s;
    if (a.expected.efa) {
        s += fmt::format("expected   {} bus bandwidth for a 1 GiB all-reduce on {} node{}",
                         gb(*a.expected.efa), a.nodes, a.nodes == 1 ? "" : "s");
        if (a.expected.tcp) s += "; " + gb(*a.expected.tcp) + " over TCP on one card";
        s += " (our model, docs/model/collectives.md)\n";
    }
    if (a.log.measured) {
        s += fmt::format("measured   {:.4g} GB/s bus bandwidth at {} (nccl-tests, line {})\n",
                         a.log.measured->bus_gb_per_s,
                         format_bytes(static_cast<double>(a.log.measured->bytes) * kByte),
                         a.log.measured->line);
    }
    return s;
}

std::string symptom_text(const nccl::Symptom& s, const Io& io) {
    const Tone tone = s.severity == Severity::error     ? Tone::bad
                      : s.severity == Severity::warning ? Tone::warn
                                                        : Tone::dim;
    std::string out = s.where.file;
    if (s.where.line > 0) out += fmt::format(":{}:{}", s.where.line, s.where.column);
    out += ": " + io.paint(tone, to_string(s.severity)) + ": " + printable(s.what) + " [" + s.id +
           "]\n";
    if (!s.text.empty()) out += "  says: " + printable(s.text) + "\n";
    return out + "  why: " + s.why + "\n  fix: " + s.fix + "\n  source: " + s.source + "\n";
}

void print(const Answer& a, Io& io) {
    using nccl::Verdict;
    const Verdict v = a.diagnosis.verdict;
    const Tone tone = v == Verdict::tcp          ? Tone::bad
                      : v == Verdict::efa        ? Tone::good
                      : v == Verdict::efa_partly ? Tone::warn
                                                 : Tone::bold;
    io.out << io.paint(tone, printable(a.diagnosis.summary)) << "\n" << rates_text(a);
    for (const nccl::Symptom& s : a.diagnosis.symptoms) io.out << "\n" << symptom_text(s, io);
    if (a.diagnosis.symptoms.empty()) io.out << "nothing to mend\n";
    if (a.expected.instance == nullptr && a.log.nccl_lines > 0) {
        io.err << "note: the log does not name the instance type: with --instance TYPE the number "
                  "of interfaces and the bandwidth are checked, too\n";
    }
}

Result<Answer> examine(const Args& args, const catalog::Catalog& catalog) {
    const std::string path = args.list("log").front();
    nccl::LogReader reader;
    const auto read = sys::read_chunks(path, [&](std::string_view chunk) {
        reader.feed(chunk);
        return true;
    });
    if (!read) return read.error();
    Answer a;
    a.log = reader.finish();
    const auto named =
        args.given("instance") ? args.optional("instance") : nccl::instance_named(a.log);
    if (named) a.expected.instance = catalog.instance(*named);
    if (args.given("instance") && a.expected.instance == nullptr) {
        const auto near = catalog.nearest_instance(*named);
        return bad_input(
            Diagnostic{Severity::error,
                       {},
                       "--instance: unknown instance type \"" + printable(*named, 60) + '"',
                       "",
                       near ? "did you mean " + *near + "?" : "see trainyard catalog"});
    }
    a.nodes = nccl::nodes_of(a.log, a.expected.instance);
    a.expected.size = kSize;
    if (a.expected.instance != nullptr && a.expected.instance->accelerators > 0 && a.nodes > 0) {
        auto cluster = perf::cluster_of(catalog, *a.expected.instance, a.nodes);
        if (cluster) {
            a.expected.efa = perf::all_reduce_bus_bandwidth(*cluster, kSize);
            if (a.nodes > 1) {
                cluster->inter = perf::first_card_tcp(*cluster, *a.expected.instance);
                a.expected.tcp = perf::all_reduce_bus_bandwidth(*cluster, kSize);
            }
        }
    }
    a.diagnosis = nccl::diagnose(a.log, a.expected, path == "-" ? "standard input" : path);
    return a;
}

Result<Outcome> run_doctor(const Args& args, Io& io) {
    auto catalog = load_catalog(args, io.today);
    if (!catalog) return catalog.error();
    const Result<Answer> answer = examine(args, *catalog);
    if (!answer) return answer.error();
    if (args.flag("json")) {
        io.out << doc::write_json(answer_node(*answer));
    } else {
        print(*answer, io);
    }
    for (const std::string& word : args.list("fail-on")) {
        const Severity worst = word == "error" ? Severity::error : Severity::warning;
        const auto& all = answer->diagnosis.symptoms;
        if (std::any_of(all.begin(), all.end(),
                        [&](const nccl::Symptom& s) { return s.severity <= worst; })) {
            return Outcome::answered_no;
        }
    }
    return Outcome::done;
}

}  // namespace

Command doctor_command() {
    using Kind = Option::Kind;
    std::vector<Option> options = {
        {.name = "instance",
         .value_name = "TYPE",
         .help = "instance type of the nodes, if the log does not name it",
         .names = "instance"},
        {.name = "fail-on",
         .kind = Kind::list,
         .value_name = "LIST",
         .help = "exit 1 on findings of this severity or worse",
         .choices = kFailOn},
        {.name = "json", .kind = Kind::flag, .help = "print JSON (docs/reference/doctor.md)"}};
    for (Option& o : catalog_options()) options.push_back(std::move(o));
    return {.name = "doctor",
            .summary = "Tell from an NCCL log whether EFA is used, and why not",
            .description =
                "LOG is the output of a job that ran with NCCL_DEBUG=INFO, or of nccl-tests; - is "
                "standard input. Says which network is used, how many interfaces, GPUDirect RDMA, "
                "versions and known troubles, and what bus bandwidth the type should give.",
            .examples = {{"trainyard doctor slurm-42.out", "Does this job use EFA?"},
                         {"trainyard doctor nccl.log --instance p5.48xlarge --fail-on warning",
                          "Exit 1 unless all is well, for a script"},
                         {"kubectl logs job/train | trainyard doctor -", "From a pod"}},
            .options = std::move(options),
            .positionals = {{.name = "log", .help = "file, or -", .min = 1, .max = 1}},
            .run = run_doctor};
}

}  // namespace trainyard::cli
