#include "command_plan_input.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "command_calibrate_input.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/perf/stack.hpp"
#include "trainyard/sys/environment.hpp"

namespace trainyard::cli {

using workload::Job;
using Mistakes = std::vector<Diagnostic>;

bool is_hf_config(const doc::Node& n) {
    return n.find("model_type") != nullptr || n.find("architectures") != nullptr ||
           n.find("hidden_size") != nullptr;
}

namespace {

/// config.json files are small; a job file smaller still.
constexpr std::size_t kMaxInput = std::size_t{16} << 20U;

/// Of one machine; no machine costs a hundredth of it.
constexpr Usd kMostPerHour = 1e6 * kUsd;

bool is_file_name(std::string_view s) {
    return s == "-" || s.ends_with(".json") || s.ends_with(".yaml") || s.ends_with(".yml");
}

bool looks_like_path(std::string_view s) {
    return is_file_name(s) || s.find('/') != std::string_view::npos;
}

/// "Qwen/Qwen2.5-7B", as model hubs write names: known under the whole name or the last part?
Result<workload::Model> model_of_hub_name(const std::string& word, Error no_file) {
    auto whole = workload::find_model(word);
    if (whole) return whole;
    auto last = workload::find_model(word.substr(word.rfind('/') + 1));
    if (last) return last;
    for (Diagnostic& d : no_file.diagnostics) {
        d.why = "nor is it the name of a known model";
        d.fix = "give its config.json, or a name from `trainyard model --list`";
    }
    return no_file;
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

Result<doc::Node> read_node(const std::string& path) {
    auto text = sys::read_file(path, kMaxInput);
    if (!text) return text.error();
    return doc::parse_any(*text, path);
}

Result<Job> job_of_model(Result<workload::Model> model) {
    if (!model) return model.error();
    Job job;
    job.model = std::move(*model);
    return job;
}

/// The folder's name says more than "config.json": examples/llama-3.1-8b/config.json ->
/// llama-3.1-8b.
void name_by_folder(workload::Model& m, const std::string& path) {
    if (!m.name.empty() && m.name != m.family) return;
    std::string folder = folder_of(path);
    if (!folder.empty()) folder.pop_back();
    const std::size_t slash = folder.rfind('/');
    m.name =
        slash == std::string::npos ? (folder.empty() ? path : folder) : folder.substr(slash + 1);
}

Result<Job> read_input(const std::string& word) {
    if (!looks_like_path(word)) {
        auto known = workload::find_model(word);
        const bool file = !known && !word.empty() && sys::read_file(word, kMaxInput).has_value();
        if (!file) return job_of_model(std::move(known));
    }
    auto node = read_node(word);
    if (!node) {
        if (is_file_name(word)) return node.error();
        return job_of_model(model_of_hub_name(word, node.error()));
    }
    if (is_hf_config(*node)) {
        auto model = workload::import_hf_config(*node);
        if (model) name_by_folder(*model, word);
        return job_of_model(std::move(model));
    }
    const std::string base = folder_of(word);
    const auto resolve = [&base](const std::string& path) -> Result<doc::Node> {
        return read_node(path.starts_with("/") ? path : base + path);
    };
    return workload::read_job(*node, resolve);
}

Diagnostic flag_mistake(std::string_view flag, std::string what, std::string fix) {
    Diagnostic d;
    d.where.file = "--" + std::string(flag);
    d.what = std::move(what);
    d.fix = std::move(fix);
    return d;
}

void read_deadline(const Args& args, Job& job, Mistakes& mistakes) {
    if (!args.given("deadline")) return;
    const std::string text = args.text("deadline");
    job.deadline.reset();
    job.deadline_date.reset();
    const bool date = text.size() == 10 && catalog::age_in_days(text, "2026-01-01").has_value();
    if (date) {
        job.deadline_date = workload::DeadlineDate{text, {"--deadline", 0, 0}};
        return;
    }
    const auto t = parse_duration(text);
    if (!t || *t <= Seconds{}) {
        mistakes.push_back(
            flag_mistake("deadline", '"' + text + "\" is neither a duration above zero nor a date",
                         "write 30d, 12h or 2027-03-31"));
        return;
    }
    if (*t > workload::kLongestDeadline) {
        mistakes.push_back(flag_mistake("deadline", '"' + text + "\" is more than a century",
                                        "leave it out for no deadline"));
        return;
    }
    job.deadline = t;
}

void read_budget(const Args& args, Job& job, Mistakes& mistakes) {
    if (!args.given("budget")) return;
    job.budget = args.usd("budget", mistakes);
    if (job.budget && *job.budget <= Usd{}) {
        mistakes.push_back(flag_mistake("budget", "must be more than 0",
                                        "give dollars, or leave it out for no limit"));
    }
    if (job.budget && *job.budget > workload::kMostBudget) {
        mistakes.push_back(
            flag_mistake("budget", "is more than a trillion dollars", "leave it out for no limit"));
    }
}

/// Then --tokens and --samples are those of one pass.
void read_epochs(const Args& args, Job& job, Mistakes& mistakes) {
    const bool work = args.given("tokens") || args.given("samples");
    if (work) job.epochs = 1;
    const auto epochs = args.number("epochs", mistakes);
    if (!epochs) return;
    if (*epochs <= 0 || *epochs > 1e6) {
        mistakes.push_back(flag_mistake("epochs", "must be more than 0 and at most 1,000,000",
                                        "write for example 3"));
    } else if (!work) {
        mistakes.push_back(flag_mistake("epochs", "needs the size of one pass beside it",
                                        "add --tokens or --samples, or write epochs in the job"));
    } else {
        job.epochs = *epochs;
        job.tokens = *epochs * job.tokens;
        if (job.samples) job.samples = *epochs * *job.samples;
    }
}

/// More than 0 and not beyond what anyone ever trained on.
bool is_amount(const char* flag, double value, Mistakes& mistakes) {
    if (value > 0 && value <= workload::kMostAmount) return true;
    mistakes.push_back(flag_mistake(flag, "must be more than 0 and at most 10,000T",
                                    "the largest published training sets have some 40T tokens"));
    return false;
}

/// The amount on the command line replaces the file's, whichever of the two the file has.
void read_amounts(const Args& args, Job& job, Mistakes& mistakes) {
    const auto tokens = args.count("tokens", mistakes);
    if (tokens && is_amount("tokens", *tokens, mistakes)) {
        job.tokens = *tokens * kToken;
        job.samples.reset();
    }
    const auto samples = args.count("samples", mistakes);
    if (samples && is_amount("samples", *samples, mistakes)) {
        job.samples = samples;
        job.tokens = Tokens{};
        const bool text = job.model.vocab > 0 && !job.model.opaque_params;
        if (text && job.sequence > 0) job.tokens = *samples * job.sequence * kToken;
        if (text && job.sequence == 0) {
            mistakes.push_back(flag_mistake("samples",
                                            "a sample of a text model is a sequence, and nothing "
                                            "says how long one is",
                                            "add --seq 2048, or give --tokens"));
        }
    }
    read_epochs(args, job, mistakes);
}

void read_work(const Args& args, Job& job, Mistakes& mistakes) {
    if (const auto seq = args.integer("seq", 1, 100'000'000, mistakes)) job.sequence = *seq;
    read_amounts(args, job, mistakes);
    if (const auto batch = args.count("global-batch", mistakes)) {
        job.global_batch_tokens = batch;
        if (*batch < 1 || *batch > workload::kMostAmount)
            mistakes.push_back(flag_mistake("global-batch", "must lie between 1 and 10,000T tokens",
                                            "write for example 4M"));
    }
    if (const auto copies = args.integer("copies", 1, 1'000'000, mistakes)) job.copies = *copies;
    if (args.given("mfu")) {
        job.mfu = args.number("mfu", mistakes);
        if (job.mfu && (*job.mfu < 0.001 || *job.mfu > 1)) {
            mistakes.push_back(
                flag_mistake("mfu", "must lie between 0.001 and 1", "write for example 0.4"));
        }
    }
}

template <typename T>
void read_word(const Args& args, const char* flag, std::optional<T> (*parse)(std::string_view),
               std::optional<T>& into, const char* known, Mistakes& mistakes) {
    if (!args.given(flag)) return;
    const auto value = parse(args.text(flag));
    if (value) {
        into = value;
    } else {
        mistakes.push_back(flag_mistake(flag, '"' + args.text(flag) + "\" is not known",
                                        std::string("write one of ") + known));
    }
}

void read_training(const Args& args, Job& job, Mistakes& mistakes) {
    std::optional<workload::Method> method;
    read_word(args, "method", workload::parse_method, method, "pretrain, full, lora, qlora",
              mistakes);
    if (method) job.method = *method;
    if (const auto rank = args.integer("rank", 1, 4096, mistakes)) job.lora = workload::Lora{*rank};
    read_word(args, "optimizer", workload::parse_optimizer, job.optimizer,
              "adamw, adamw-bf16, adamw-8bit, adafactor, sgd, muon", mistakes);
    read_word(args, "precision", catalog::parse_precision, job.precision,
              "fp32, tf32, fp16, bf16, fp8, fp4", mistakes);
    if (args.given("stack")) job.stack = args.text("stack");
}

void read_place(const Args& args, Job& job, Mistakes& mistakes) {
    if (args.given("regions")) job.regions = args.list("regions");
    if (args.given("instance")) job.instance = args.text("instance");
    if (const auto nodes = args.integer("nodes", 1, 100'000, mistakes)) job.nodes = nodes;
    if (args.flag("no-spot")) job.spot = workload::SpotPolicy::forbidden;
    if (args.flag("mission-critical")) job.mission_critical = true;
    if (args.flag("trainium")) job.trainium_ok = true;
    if (args.flag("outside-aws")) job.outside_aws_ok = true;
    if (args.flag("public-data")) job.data_public = true;
    if (args.given("resume")) {
        const std::string r = args.text("resume");
        job.resume = r == "none" ? workload::Resume::none
                                 : (r == "elastic" ? workload::Resume::elastic
                                                   : workload::Resume::checkpoint);
    }
}

void read_team(const Args& args, plan::Request& r, Mistakes& mistakes) {
    if (const auto people = args.integer("team", 1, 100'000, mistakes)) r.team.people = *people;
    r.team.kubernetes = args.flag("kubernetes");
    r.team.slurm = args.flag("slurm");
    r.team.managed = args.flag("managed");
}

/// "p4d.24xlarge:8", or the type alone for one machine.
void read_have(const Args& args, plan::Request& r, Mistakes& mistakes) {
    if (!args.given("have")) return;
    const std::string text = args.text("have");
    const std::size_t colon = text.find(':');
    plan::Owned have;
    have.instance = text.substr(0, colon);
    const std::string number = colon == std::string::npos ? "1" : text.substr(colon + 1);
    const auto nodes = parse_number(number);
    if (have.instance.empty() || !nodes || *nodes < 1 || *nodes > 100'000 ||
        *nodes != std::floor(*nodes)) {
        mistakes.push_back(flag_mistake("have", '"' + text + "\" is not a type and a number",
                                        "write for example p4d.24xlarge:8"));
        return;
    }
    have.nodes = static_cast<int>(*nodes);
    if (const auto price = args.usd("have-price", mistakes)) {
        have.rate = *price / kHour;
        if (*price > kMostPerHour)
            mistakes.push_back(flag_mistake("have-price", "is more than a million dollars an hour",
                                            "write what one machine costs you, for example 12"));
    }
    r.have = std::move(have);
}

void read_observed(const Args& args, plan::Request& r, Mistakes& mistakes) {
    if (!args.given("observed-speedup")) return;
    const auto speedup = args.number("observed-speedup", mistakes);
    if (!speedup) return;
    const bool complete = r.job.instance && r.job.nodes && *r.job.nodes > 1;
    if (!complete || *speedup <= 0) {
        mistakes.push_back(
            flag_mistake("observed-speedup",
                         "needs a positive speed-up over one node, the type and the node count",
                         "add --instance p4d.24xlarge --nodes 8"));
        return;
    }
    r.observed = plan::Observed{*speedup, *r.job.instance, *r.job.nodes};
}

}  // namespace

Result<plan::Request> plan_request(const Args& args, const std::string& today,
                                   Seconds since_midnight) {
    auto job = read_input(args.text("job"));
    if (!job) return job.error();
    plan::Request r;
    r.job = std::move(*job);
    r.today = today;
    Mistakes mistakes;
    read_work(args, r.job, mistakes);
    read_training(args, r.job, mistakes);
    if (args.given("method") || args.given("precision")) {
        const Location where{args.given("precision") ? "--precision" : "--method", 0, 0};
        if (auto wrong =
                workload::quantised_precision_mistake(r.job.method, r.job.precision, where))
            mistakes.push_back(std::move(*wrong));
    }
    read_place(args, r.job, mistakes);
    read_deadline(args, r.job, mistakes);
    read_budget(args, r.job, mistakes);
    read_team(args, r, mistakes);
    read_have(args, r, mistakes);
    read_observed(args, r, mistakes);
    r.value_per_day = args.usd("value-per-day", mistakes);
    if (r.value_per_day && *r.value_per_day > workload::kMostBudget) {
        mistakes.push_back(flag_mistake("value-per-day", "is more than a trillion dollars a day",
                                        "write what a day is worth, for example 10k"));
    }
    r.why_not = args.list("why-not");
    if (args.flag("prefer-spot")) r.spot_preference = plan::SpotPreference::always;
    if (args.flag("no-efa")) r.fabric = plan::FabricWish::tcp;
    if (args.flag("explain")) r.detail = plan::Detail::full;
    if (r.job.stack) {
        const std::string where = args.given("stack") ? "--stack" : args.text("job");
        if (auto wrong = stack_mistake(*r.job.stack, {where, 0, 0})) mistakes.push_back(*wrong);
    }
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    auto calibrations = load_calibrations(args);
    if (!calibrations) return calibrations.error();
    r.calibrations = std::move(*calibrations);
    auto resolved = workload::resolve_deadline(std::move(r.job), today, since_midnight);
    if (!resolved) return resolved.error();
    r.job = std::move(*resolved);
    return r;
}

plan::Invocation typed_of(const Args& args, const std::vector<Option>& options) {
    constexpr std::array kShown = {"json", "explain", "fail-on", "why-not"};
    plan::Invocation typed{args.text("job"), {}};
    for (const Option& o : options) {
        const bool shown = std::find(kShown.begin(), kShown.end(), o.name) != kShown.end();
        if (shown || !args.given(o.name)) continue;
        std::string value;
        for (const std::string& v : args.list(o.name)) value += (value.empty() ? "" : ",") + v;
        typed.options.emplace_back(o.name, o.kind == Option::Kind::flag ? "" : value);
    }
    return typed;
}

std::vector<std::string> stack_names() {
    std::vector<std::string> names;
    for (const perf::Stack& s : perf::stacks()) {
        if (!s.name.empty()) names.push_back(s.name);
    }
    return names;
}

std::optional<Diagnostic> stack_mistake(const std::string& name, Location where) {
    if (perf::find_stack(name) != nullptr) return std::nullopt;
    const std::vector<std::string> names = stack_names();
    std::string known;
    for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
    const auto near = nearest(name, names);
    Diagnostic d;
    d.where = std::move(where);
    d.what = "unknown software stack \"" + name + '"';
    d.why = "known: " + known;
    d.fix = near ? "did you mean \"" + *near + "\"?" : "choose one; see docs/model/stacks.md";
    return d;
}

}  // namespace trainyard::cli
