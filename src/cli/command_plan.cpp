// trainyard plan: from a job to the cluster that should run it.

#include <algorithm>
#include <iterator>
#include <utility>

#include "command.hpp"
#include "command_calibrate_input.hpp"
#include "command_catalog_input.hpp"
#include "command_plan_conflicts.hpp"
#include "command_plan_input.hpp"
#include "command_plan_place.hpp"
#include "trainyard/doc/node.hpp"
#include "trainyard/plan/onprem.hpp"
#include "trainyard/plan/plan.hpp"
#include "trainyard/plan/report.hpp"

namespace trainyard::cli {
namespace {

const std::vector<std::string> kFailOn = {"tight",      "over-budget",  "too-slow",
                                          "infeasible", "does-not-fit", "any"};

/// The answer counts as "no" if the user listed its outcome; "any" means everything but a
/// comfortable plan.
bool is_no(const std::vector<std::string>& fail_on, plan::Outcome outcome) {
    if (outcome == plan::Outcome::feasible) return false;
    const auto has = [&](std::string_view word) {
        return std::find(fail_on.begin(), fail_on.end(), word) != fail_on.end();
    };
    // An infeasible job is also over budget or too slow: whoever fails on those fails on it.
    const bool worse =
        outcome == plan::Outcome::infeasible || outcome == plan::Outcome::does_not_fit;
    const bool implied = worse && (has("over-budget") || has("too-slow"));
    const bool real = outcome != plan::Outcome::tight;
    return has(plan::to_string(outcome)) || implied || (real && has("any"));
}

/// What is trained, and by when.
std::vector<Option> job_options() {
    using Kind = Option::Kind;
    return {
        {"tokens", Kind::text, "N", "tokens seen in all, epochs included: 300B, 40M", "", {}},
        {"samples", Kind::text, "N", "samples seen in all, for models without tokens", "", {}},
        {"epochs",
         Kind::text,
         "N",
         "passes over the data: multiplies --tokens or --samples",
         "",
         {}},
        {"deadline",
         Kind::text,
         "TIME",
         "how long it may take (30d, 12h) or the day it must be done (2027-03-31)",
         "",
         {}},
        {"budget", Kind::text, "USD", "what it may cost: 150k", "", {}},
        {"seq", Kind::text, "N", "tokens per sequence", "", {}},
        {"global-batch", Kind::text, "N", "tokens per optimizer step, must not grow: 4M", "", {}},
        {"method", Kind::text, "NAME", "pretrain, full, lora or qlora", "", {}},
        {"rank", Kind::text, "N", "LoRA rank", "", {}},
        {"optimizer",
         Kind::text,
         "NAME",
         "adamw, adamw-bf16, adamw-8bit, adafactor, sgd or muon",
         "",
         {}},
        {"precision", Kind::text, "NAME", "bf16, fp16, fp8, fp4, tf32 or fp32", "", {}},
        {"stack",
         Kind::text,
         "NAME",
         "software stack, docs/model/stacks.md",
         "",
         {},
         stack_names()},
        {"mfu", Kind::text, "F", "your own MFU in place of the model's compute time: 0.4", "", {}},
        {"copies", Kind::text, "N", "independent runs of this job", "", {}},
    };
}

/// Where it may run.
std::vector<Option> place_options() {
    using Kind = Option::Kind;
    return {
        {"instance", Kind::text, "TYPE", "plan on this type", "", {}, {}, "instance"},
        {"accelerator",
         Kind::text,
         "NAME",
         "only types with this accelerator: H100, A100-80",
         "",
         {},
         {},
         "accelerator"},
        {"nodes", Kind::text, "N", "plan on this many nodes, or fewer if they don't scale", "", {}},
        {"regions",
         Kind::list,
         "LIST",
         "allowed regions; default us-east-1, us-east-2, us-west-2",
         "",
         {},
         {},
         "region"},
        {"have",
         Kind::text,
         "TYPE:N",
         "machines you have (owned, reserved): plan on up to N of them, renting beside it",
         "",
         {},
         {},
         "instance"},
        {"have-price", Kind::text, "USD", "what one of them costs you per hour; default 0", "", {}},
        {"no-spot", Kind::flag, "", "never spot", "", {}},
        {"prefer-spot",
         Kind::flag,
         "",
         "let the verdict rest on spot, whatever the gang and the age of the price",
         "",
         {}},
        {"no-efa",
         Kind::flag,
         "",
         "suppose EFA doesn't work: nodes talk TCP over one card",
         "",
         {}},
        {"resume",
         Kind::text,
         "HOW",
         "what your code can do after an interruption",
         "",
         {"none", "checkpoint", "elastic"}},
        {"mission-critical", Kind::flag, "", "no spot, no Trainium", "", {}},
        {"trainium", Kind::flag, "", "Trainium is welcome: its friction is accepted", "", {}},
        {"outside-aws", Kind::flag, "", "a provider outside AWS is welcome", "", {}},
        {"public-data", Kind::flag, "", "the data may leave AWS", "", {}},
    };
}

/// Who runs it, and how the answer looks.
std::vector<Option> answer_options() {
    using Kind = Option::Kind;
    return {
        {"team", Kind::text, "N", "people who run this: decides the service", "", {}},
        {"kubernetes", Kind::flag, "", "the team runs Kubernetes", "", {}},
        {"slurm", Kind::flag, "", "the team knows Slurm", "", {}},
        {"managed", Kind::flag, "", "the team wants a managed service", "", {}},
        {"value-per-day", Kind::text, "USD", "what finishing one day earlier is worth", "", {}},
        {"observed-speedup",
         Kind::text,
         "X",
         "your measured speed-up over one node, with --instance and --nodes",
         "",
         {}},
        {"why-not",
         Kind::list,
         "TYPE",
         "show the number that lost this type",
         "",
         {},
         {},
         "instance"},
        {"explain",
         Kind::flag,
         "",
         "step time, memory, scaling curve, Pareto front, assumptions",
         "",
         {}},
        {"fail-on", Kind::list, "LIST", "exit 1 on these outcomes", "", kFailOn},
        calibration_option(),
        {"catalog", Kind::text, "DIR", "catalog tables that replace the built-in ones", "", {}},
        {"prices", Kind::text, "FILE", "prices that replace or add to the catalog's", "", {}},
        {"json", Kind::flag, "", "print JSON (docs/reference/plan-json.md)", "", {}},
    };
}

std::vector<Option> plan_options() {
    std::vector<Option> all = job_options();
    for (std::vector<Option>& more :
         std::vector<std::vector<Option>>{place_options(), answer_options()}) {
        std::move(more.begin(), more.end(), std::back_inserter(all));
    }
    return all;
}

Result<Outcome> run_onprem(const Args& args, const plan::Request& request,
                           const catalog::Catalog& catalog, Io& io) {
    auto answer =
        plan::compare_onprem(*request.job.on_prem, plan::regions_of(request.job), catalog);
    if (!answer) return answer.error();
    io.out << (args.flag("json") ? doc::write_json(plan::onprem_json(*answer))
                                 : plan::onprem_text(*answer));
    return Outcome::done;
}

Result<Outcome> run_plan(const Args& args, Io& io) {
    if (auto wrong = plan_options_mistake(args)) return *std::move(wrong);
    auto request = plan_request(args, io.today, io.time_of_day);
    if (!request) return request.error();
    request->typed = typed_of(args, plan_options());
    auto catalog = load_catalog(args, io.today);
    if (!catalog) return catalog.error();
    if (args.given("accelerator")) {
        auto ids = accelerator_ids(args.text("accelerator"), *catalog);
        if (!ids) return ids.error();
        request->job.trainium_ok |= ids->front().starts_with("Trn");
        request->accelerators = std::move(*ids);
    }
    if (auto wrong = plan_job_mistake(args, *request)) return *std::move(wrong);
    if (auto wrong = place_mistake(*request, *catalog)) return bad_input(std::move(*wrong));
    const bool work = request->job.tokens > Tokens{} || request->job.samples ||
                      request->job.accelerator_hours_each;
    if (request->job.on_prem && !work) return run_onprem(args, *request, *catalog, io);
    auto answer = plan::make_plan(*request, *catalog, plan::Assumptions::embedded());
    if (!answer) return answer.error();
    if (args.flag("json")) {
        io.out << doc::write_json(plan::report_json(*answer));
    } else {
        io.out << plan::report_text(*answer, {io.color_out, args.flag("explain")});
    }
    return is_no(args.list("fail-on"), answer->outcome) ? Outcome::answered_no : Outcome::done;
}

}  // namespace

Command plan_command() {
    return {.name = "plan",
            .summary = "Say which cluster should run a job, what it costs and why",
            .description =
                "Searches instance type, node count, mapping and purchase together and answers "
                "with one plan: verdict, "
                "alternatives with the number that lost them, reasons, risks, the whole bill and "
                "the next command. "
                "JOB is a job.yaml, a Hugging Face config.json, or the name of a known model.",
            .examples =
                {{"trainyard plan examples/llama-3.1-8b/config.json --tokens 300B --deadline 30d "
                  "--budget 150k",
                  "What should train this model?"},
                 {"trainyard plan llama-3.1-8b --tokens 40M --method lora --why-not p5.48xlarge",
                  "Is one GPU enough, and why not the big one?"},
                 {"trainyard plan llama-3.1-8b --tokens 300B --have p4d.24xlarge:8 --deadline 30d",
                  "What do the machines I have bring, and would renting be better?"},
                 {"trainyard plan job.yaml --explain --json", "Everything, for a program"}},
            .options = plan_options(),
            .positionals = {{.name = "job",
                             .help = "job.yaml, config.json or a model name",
                             .names = "model"}},
            .run = run_plan,
            .is_hidden = false};
}

}  // namespace trainyard::cli
